//! `kat`, `speed`, `demo`.

use crate::Place;
use aioli::Algorithm;
use aioli::backend::BackendKind;
use sha2::Digest;

#[test]
fn known_answers_are_regenerated() {
    let place = Place::new();
    let official = aioli_kat::official(Algorithm::Mayo2).file;
    let run = place.run(&["kat", "mayo2", "--write", "a/b"]).expect(0);
    assert_eq!(run.out().split_whitespace().collect::<Vec<_>>(), [&official, "mayo2", "ok"]);
    let file = place.read(&format!("a/b/{}", aioli_kat::file_name(Algorithm::Mayo2)));
    assert_eq!(hex::encode(sha2::Sha256::digest(&file)), official);
    let run = place.run(&["kat", "mayo2-round2", "mayo2", "--backend", "portable"]).expect(0);
    let sets: Vec<_> = run.out().lines().map(|line| line.split_whitespace().nth(1).unwrap().to_owned()).collect();
    assert_eq!(sets, ["mayo2-round2", "mayo2"]);
}

#[test]
fn backends_and_sets_must_be_there() {
    let place = Place::new();
    for command in ["kat", "speed"] {
        place.run(&[command, "--backend", "abacus"]).expect(2).saying("abacus");
        match BackendKind::ALL.iter().find(|kind| kind.detect().is_err()) {
            Some(kind) => drop(place.run(&[command, "--backend", kind.name()]).expect(2).saying("cannot run")),
            None => eprintln!("skipped: a backend that this machine cannot run, for it runs them all"),
        }
    }
    place.run(&["kat", "mayo4"]).expect(2).saying("mayo4");
    place.run(&["speed", "--set", "mayo4"]).expect(2).saying("mayo4");
    place.write("f", b"");
    place.run(&["kat", "mayo2", "--write", "f"]).expect(3).saying("f");
}

#[test]
fn a_gpu_that_cannot_be_measured_is_explained() {
    let place = Place::new();
    place.run(&["speed", "--gpu", "--threads", "2"]).expect(2).saying("--threads");
    if cfg!(feature = "gpu") {
        eprintln!("skipped: what --gpu says in a build without the feature gpu");
    } else {
        place.run(&["speed", "--gpu"]).expect(2).saying("feature gpu");
    }
}

const OPERATIONS: [&str; 9] = [
    "keygen",
    "expand_sk",
    "expand_pk",
    "sign",
    "verify",
    "sign_expanded",
    "verify_expanded",
    "sign_checked",
    "sign_expanded_checked",
];

#[test]
fn speed_is_measured_and_recorded() {
    let place = Place::new();
    let speed = ["speed", "--set", "mayo2", "--set", "mayo1-round2", "--backend", "portable", "--time", "0.001"];
    let table = place.run(&[&speed[..], &["--json", "s.json"]].concat()).expect(0).out();
    assert!(table.contains("portable") && OPERATIONS.iter().all(|operation| table.contains(operation)), "{table}");
    let bare = place.run(&[&speed[..], &["--json", "-", "--threads", "2"]].concat()).expect(0).stdout;
    for (json, threads) in [(place.read("s.json"), 1), (bare, 2)] {
        let json: serde_json::Value = serde_json::from_slice(&json).unwrap();
        assert!(json["machine"]["backends"].as_array().unwrap().contains(&"portable".into()));
        let results = json["results"].as_array().unwrap();
        assert_eq!(results.len(), 2 * OPERATIONS.len());
        for (i, result) in results.iter().enumerate() {
            let keys: Vec<_> = result.as_object().unwrap().keys().map(String::as_str).collect();
            for key in FIELDS {
                assert!(keys.contains(&key), "{key} in {keys:?}");
            }
            let (set, round) = if i < OPERATIONS.len() { ("MAYO_2", 3) } else { ("MAYO_1", 2) };
            assert_eq!((&result["set"], &result["round"]), (&set.into(), &round.into()));
            assert_eq!(result["operation"], OPERATIONS[i % OPERATIONS.len()]);
            assert_eq!((&result["implementation"], &result["backend"]), (&"aioli".into(), &"portable".into()));
            assert_eq!(result["threads"], threads);
            assert!(result["samples"].as_u64().unwrap() >= 11);
            let [q1, median, q3] = ["q1_ns", "median_ns", "q3_ns"].map(|name| result[name].as_f64().unwrap());
            assert!(0.0 < q1 && q1 <= median && median <= q3, "{result}");
            match cfg!(target_arch = "x86_64") {
                true => assert!(result["median_cycles"].as_f64().unwrap() > 0.0),
                false => assert!(result["median_cycles"].is_null()),
            }
        }
    }
    place.run(&["speed", "--set", "mayo2", "--time", "0"]).expect(2);
    place.run(&["speed", "--set", "mayo2", "--threads", "0"]).expect(2);
    place.run(&[&speed[..], &["--json", "absent/s.json"]].concat()).expect(3).saying("absent/s.json");
}

const FIELDS: [&str; 11] = [
    "implementation",
    "version",
    "backend",
    "set",
    "round",
    "operation",
    "median_ns",
    "q1_ns",
    "q3_ns",
    "median_cycles",
    "samples",
];

#[test]
fn the_demo_shows_everything_and_cleans_up() {
    let place = Place::new();
    let run = place.run(&["demo"]).expect(0);
    assert!(run.out().contains("Cargo.toml"), "{}", run.out());
    place.write("README.md", b"a real file");
    place.write("other", b"x");
    place.write("empty", b"");
    let text = place.run(&["demo"]).expect(0).out();
    for says in ["README.md (11 bytes)", "SHA256:", "README.md: valid", "README.md: NOT VALID", "MAYO_5", "verify"] {
        assert!(text.contains(says), "expected {says:?} in {text}");
    }
    assert!(place.run(&["demo", "other"]).expect(0).out().contains("other: NOT VALID"));
    place.run(&["demo", "empty"]).expect(2).saying("empty");
    place.run(&["demo", "absent"]).expect(3).saying("absent");
    assert_eq!(place.names(), ["README.md", "empty", "other"]);
}
