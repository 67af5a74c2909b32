//! The commands `techniques`, `kernel`, `profile` and `gpu` from outside.

use assert_cmd::Command;
use serde_json::Value;
use std::path::Path;

/// Runs a command with the smallest set, and returns its output and its section of the record.
fn quick(command: &str, folder: &Path) -> (String, Value) {
    quick_of(&[command], folder)
}

/// The same with more options.
fn quick_of(arguments: &[&str], folder: &Path) -> (String, Value) {
    let command = arguments[0];
    let path = folder.join(format!("{command}.json"));
    let mut run = Command::cargo_bin("aioli-lab").expect("the binary");
    run.args(arguments).args(["--quick", "--set", "mayo2", "--json"]).arg(&path);
    let output = run.assert().success().get_output().stdout.clone();
    let record: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    assert!(record["machine"]["cpu"].is_string());
    (String::from_utf8(output).unwrap(), record[command].clone())
}

/// The backends of an operation's results.
fn backends<'a>(section: &'a Value, operation: &str) -> Vec<&'a str> {
    let results = section["results"].as_array().unwrap().iter();
    results
        .filter(|result| result["operation"] == operation)
        .inspect(|result| assert!(result["median_ns"].as_f64().unwrap() > 0.0, "{result}"))
        .map(|result| result["backend"].as_str().unwrap())
        .collect()
}

const KERNELS: [&str; 6] = ["scalar", "lut", "bitsliced", "m4r_1", "m4r_2", "portable"];

#[test]
fn techniques_are_timed_by_both_methods_and_claims_judged() {
    let folder = tempfile::tempdir().unwrap();
    // Four threads of OpenMP are measured where the lab was built with it.
    let listed =
        Command::cargo_bin("aioli-lab").expect("the binary").args(["techniques", "--technique", "sse"]).assert();
    let names = String::from_utf8_lossy(&listed.failure().get_output().stderr).into_owned();
    let threads = if names.contains("scalar_openmp_4") { "scalar_openmp_4" } else { "scalar_rayon_4" };
    let techniques = format!("{},scalar_rayon_2,{threads}", KERNELS.join(","));
    let (text, section) = quick_of(&["techniques", "--round", "2", "--technique", &techniques], folder.path());
    for operation in ["keygen", "sign", "verify", "process", "start"] {
        let found = backends(&section, operation);
        assert!(techniques.split(',').all(|technique| found.contains(&technique)), "{operation}: {found:?}");
    }
    assert!(KERNELS.iter().all(|technique| backends(&section, "batch").contains(technique)));
    assert!(section["start_share"].as_f64().unwrap() > 0.0, "{}", section["start_share"]);
    for expected in
        ["the sets of round 2", "Improvement in percent", "average improvement", "Published claims", "272 bytes"]
    {
        assert!(text.contains(expected), "no {expected:?} in\n{text}");
    }
    // The published figures of the set: 0.475 s and 0.280 s are 69.6 %.
    let row = text.lines().find(|line| line.trim_start().starts_with("lut ")).unwrap();
    assert!(row.ends_with("36.0"), "the average: {row}");
    assert!(text.lines().any(|line| line.trim_start().starts_with("lut ") && line.ends_with("69.6")), "{text}");
}

#[test]
fn batches_are_measured_with_or_without_a_gpu() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("gpu.json");
    let mut run = Command::cargo_bin("aioli-lab").expect("the binary");
    run.args(["gpu", "--quick", "--set", "mayo2", "--round", "2", "--largest", "16", "--json"]).arg(&path);
    let text = String::from_utf8(run.assert().success().get_output().stdout.clone()).unwrap();
    let record: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    let section = &record["gpu"];
    for operation in ["keygen", "sign", "verify", "verify_one_key", "round_trip"] {
        let found = backends(section, operation);
        assert_eq!(found.iter().filter(|&&worker| worker == "cpu").count(), 2, "{operation}: {found:?}");
        assert_eq!(found.contains(&"gpu"), section["device"].is_string(), "{operation}: {found:?}");
    }
    if section["device"].is_null() {
        assert!(text.contains("the processor alone was measured"), "{text}");
    }
    // The published figures of the set.
    assert!(text.contains("340") && text.contains("386") && text.contains("RTX 4090"), "{text}");
}

#[test]
fn kernels_have_rates_and_a_picture() {
    let folder = tempfile::tempdir().unwrap();
    let (text, section) = quick("kernel", folder.path());
    for operation in ["keygen", "verify", "sign"] {
        let found = backends(&section, operation);
        assert!(KERNELS.iter().all(|technique| found.contains(technique)), "{found:?}");
    }
    let of_round_3 = |result: &&Value| result["operation"] == "aes" && result["round"] == 3;
    assert_eq!(section["results"].as_array().unwrap().iter().filter(of_round_3).count(), 1);
    let shape = &section["shapes"][0];
    assert_eq!(
        (&shape["keygen_rows"], &shape["verify_rows"], &shape["sign_rows"]),
        (&13.into(), &5.into(), &18.into())
    );
    for operation in ["p1_times_o", "p1_times_vt", "p1_p1t_times_o"] {
        let found = backends(&section, operation);
        assert!(
            ["bitsliced_stored", "m4r_1", "m4r_2", "portable"].iter().all(|name| found.contains(name)),
            "{found:?}"
        );
    }
    // The published ratio, and after it ours.
    let row = text.lines().find(|line| line.contains("MAYO_2: (P1 + P1^T) O")).expect("a row of round 1");
    assert!(row.contains("1.79") && row.split_whitespace().count() > 10, "{row}");
    assert!(text.contains("78.8 on Ice Lake"), "{text}");
    if cfg!(target_arch = "x86_64") {
        let mut report = Command::cargo_bin("aioli-lab").expect("the binary");
        report.args(["report", "--from"]).arg(folder.path().join("kernel.json")).arg("--out").arg(folder.path());
        report.assert().success();
        let page = std::fs::read_to_string(folder.path().join("report.html")).unwrap();
        assert!(page.contains("data-name=\"roofline\""), "{text}");
    }
}

#[test]
fn profiles_name_every_pass() {
    let folder = tempfile::tempdir().unwrap();
    let (text, section) = quick("profile", folder.path());
    for entry in section["entries"].as_array().unwrap() {
        let total = entry["total"].as_f64().unwrap();
        let phases = entry["phases"].as_array().unwrap();
        let sum: f64 = phases.iter().map(|phase| phase[1].as_f64().unwrap()).sum();
        assert!(total > 0.0 && sum > 0.0, "{entry}");
        let names: Vec<&str> = phases.iter().map(|phase| phase[0].as_str().unwrap()).collect();
        let pass = match entry["operation"].as_str().unwrap() {
            "keygen" => "O^T P1",
            "sign" => "[V; O^T] P1",
            _ => "S P1",
        };
        for name in ["expand P", pass, "hashing"] {
            assert!(names.contains(&name), "{names:?}");
        }
    }
    assert!(text.contains("Round 3, MAYO_2, sign: thousands and percent"), "{text}");
}

#[test]
fn workers_do_their_work_or_say_why_not() {
    let worker = |technique: &str| {
        let mut command = Command::cargo_bin("aioli-lab").expect("the binary");
        command.args(["worker", "--technique", technique, "--set", "mayo2", "--round-trips", "1"]);
        command
    };
    worker("m4r_2").assert().success();
    let assert = worker("sse").assert().failure();
    let message = String::from_utf8_lossy(&assert.get_output().stderr).into_owned();
    assert!(message.contains("expected a technique") && message.contains("bitsliced"), "{message}");
}
