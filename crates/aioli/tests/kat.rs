//! The official known answers (docs/mayo.md, Known answers) on every backend of this machine.

use aioli::Algorithm;
use aioli::backend::{BackendKind, DetectedBackend};

#[test]
fn every_set_reproduces_its_official_file_on_the_portable_backend() {
    reproduces(BackendKind::Portable.detect().unwrap());
}

#[test]
fn every_set_reproduces_its_official_file_on_every_other_backend() {
    DetectedBackend::all().filter(|backend| backend.kind() != BackendKind::Portable).for_each(reproduces);
}

fn reproduces(backend: DetectedBackend) {
    let reproduces = move |algorithm| {
        let digests = aioli_kat::regenerate::<aioli::Error>(algorithm, backend, |_| Ok(())).unwrap();
        assert_eq!(digests, aioli_kat::official(algorithm), "{algorithm} on {backend}");
    };
    // WebAssembly has no threads.
    if cfg!(target_family = "wasm") {
        return Algorithm::ALL.into_iter().for_each(reproduces);
    }
    std::thread::scope(|scope| {
        for algorithm in Algorithm::ALL {
            scope.spawn(move || reproduces(algorithm));
        }
    });
}
