//! The command `aioli-lab peers` from outside.

use assert_cmd::Command;
use serde_json::Value;

fn peers() -> Command {
    let mut command = Command::cargo_bin("aioli-lab").expect("the binary");
    command.arg("peers");
    command
}

#[test]
fn a_record_has_the_documented_schema_and_every_cell() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("record.json");
    let options = ["--set", "mayo1", "--backend", "portable", "--rounds", "1", "--json"];
    let output = peers().args(options).arg(&path).assert().success().get_output().stdout.clone();
    let table = String::from_utf8(output).unwrap();
    for expected in ["Round 3, MAYO_1", "Round 2, MAYO_1", "pq-mayo default / portable", "its expand_p"] {
        assert!(table.contains(expected), "no {expected:?} in\n{table}");
    }

    let record: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    assert_eq!(keys(&record), ["machine", "results"]);
    for field in ["cpu", "flags", "kernel", "clock_source", "commit", "rustc", "crates"] {
        assert!(!record["machine"][field].is_null(), "no {field}");
    }
    let results = record["results"].as_array().unwrap();
    for result in results {
        let mut expected = [
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
        expected.sort_unstable();
        assert_eq!(keys(result), expected);
        assert_eq!(result["samples"], 1);
        assert!(result["median_ns"].as_f64().unwrap() > 0.0, "{result}");
        assert_ne!(result["version"], "unknown", "{result}");
    }
    let measured = |implementation: &str, round: u64| -> Vec<&str> {
        results
            .iter()
            .filter(|result| result["implementation"] == implementation && result["round"] == round)
            .inspect(|result| assert_eq!(result["set"], "MAYO_1"))
            .map(|result| result["operation"].as_str().unwrap())
            .collect()
    };
    let all = ["keygen", "expand_p", "expand_sk", "expand_pk", "sign", "verify", "sign_expanded", "verify_expanded"];
    for round in [2, 3] {
        assert_eq!(measured("aioli", round), [&all[..], &["sign_checked", "sign_expanded_checked"]].concat());
    }
    let without_key_stream: Vec<&str> = all.into_iter().filter(|&operation| operation != "expand_p").collect();
    assert_eq!(measured("pq-mayo", 2), without_key_stream);
    assert!(measured("pq-mayo", 3).is_empty());
    if cfg!(feature = "peers") {
        assert_eq!(measured("liboqs", 2), ["keygen", "sign", "verify"]);
    }
}

#[test]
fn a_record_is_never_overwritten() {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), "precious").unwrap();
    let assert = peers().args(["--quick", "--json"]).arg(file.path()).assert().failure();
    let message = String::from_utf8_lossy(&assert.get_output().stderr).into_owned();
    assert!(message.contains("never overwritten"), "{message}");
    assert_eq!(std::fs::read_to_string(file.path()).unwrap(), "precious");
}

#[test]
fn a_record_in_a_folder_is_named_after_day_and_commit() {
    let folder = tempfile::tempdir().unwrap();
    let options = ["--set", "mayo2", "--round", "3", "--backend", "portable", "--rounds", "1", "--json"];
    peers().args(options).arg(folder.path()).assert().success();
    let files: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|file| file.unwrap().path()).collect();
    assert_eq!(files.len(), 1);
    let record: Value = serde_json::from_slice(&std::fs::read(&files[0]).unwrap()).unwrap();
    let commit = record["machine"]["commit"].as_str().unwrap();
    let name = files[0].file_name().unwrap().to_str().unwrap();
    assert!(name.ends_with(&format!("-{}-peers.json", &commit[..7])), "{name}, {commit}");
}

#[test]
fn bad_options_are_named() {
    for (options, expected) in [
        (["--set", "mayo4"], "mayo1, mayo2, mayo3 or mayo5"),
        (["--backend", "avx1"], "unknown backend"),
        (["--rounds", "0"], "at least 1"),
        (["--json", "no/such/folder/record.json"], "no folder"),
        (["--samples", "samples.csv"], "ends in .parquet"),
    ] {
        let assert = peers().args(options).assert().failure();
        let message = String::from_utf8_lossy(&assert.get_output().stderr).into_owned();
        assert!(message.contains(expected), "{options:?}: {message}");
    }
}

/// The keys, which serde_json keeps in alphabetical order.
fn keys(value: &Value) -> Vec<&str> {
    value.as_object().expect("an object").keys().map(String::as_str).collect()
}
