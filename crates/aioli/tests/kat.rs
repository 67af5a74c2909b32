//! The official known answers (docs/mayo.md, Known answers) on every backend of this machine.

use aioli::Algorithm;
use aioli::backend::BackendKind;

#[test]
fn every_set_reproduces_its_official_file_on_the_portable_backend() {
    reproduces(BackendKind::Portable);
}

#[test]
fn every_set_reproduces_its_official_file_on_every_other_backend() {
    BackendKind::available().filter(|&kind| kind != BackendKind::Portable).for_each(reproduces);
}

fn reproduces(kind: BackendKind) {
    std::thread::scope(|scope| {
        for algorithm in Algorithm::ALL {
            scope.spawn(move || {
                let digests = aioli_kat::regenerate::<aioli::Error>(algorithm, kind, |_| Ok(())).unwrap();
                assert_eq!(digests, aioli_kat::official(algorithm), "{algorithm} on {kind}");
            });
        }
    });
}
