//! The official known answers, on every backend that this machine can run.

use aioli::Algorithm;
use aioli::backend::Kind;

#[test]
fn every_set_reproduces_its_official_file_on_the_portable_backend() {
    reproduces(Kind::Portable);
}

#[test]
fn every_set_reproduces_its_official_file_on_every_other_backend() {
    std::thread::scope(|scope| {
        for kind in Kind::available().filter(|&kind| kind != Kind::Portable) {
            scope.spawn(move || reproduces(kind));
        }
    });
}

fn reproduces(kind: Kind) {
    for algorithm in Algorithm::ALL {
        let digests = aioli_kat::regenerate::<aioli::Error>(algorithm, kind, |_| Ok(())).unwrap();
        assert_eq!(digests, aioli_kat::official(algorithm), "{algorithm} on {kind}");
    }
}
