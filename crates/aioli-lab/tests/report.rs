//! The commands that show stored records, from outside.

use assert_cmd::Command;
use parquet::file::reader::{FileReader, SerializedFileReader};
use std::fs;
use std::path::Path;

fn lab(arguments: &[&str]) -> Command {
    let mut command = Command::cargo_bin("aioli-lab").expect("the binary");
    command.args(arguments);
    command
}

#[test]
fn a_record_is_shown_beside_published_figures_and_as_a_page() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (record, samples, out) = (path("record.json"), path("samples.parquet"), path("report"));
    let options = ["--set", "mayo2", "--round", "2", "--backend", "portable", "--rounds", "2"];
    lab(&["peers", "--json", &record, "--samples", &samples]).args(options).assert().success();

    let json: serde_json::Value = serde_json::from_str(&fs::read_to_string(&record).unwrap()).unwrap();
    let cells = json["results"].as_array().unwrap().len();
    let rows = SerializedFileReader::try_from(samples.as_str()).unwrap().metadata().file_metadata().num_rows();
    assert_eq!(rows as usize, 2 * cells, "two samples of each operation");
    lab(&["peers", "--samples", &samples]).assert().failure();

    let shown = lab(&["published", "--from", &record]).assert().success().get_output().stdout.clone();
    let shown = String::from_utf8(shown).unwrap();
    for expected in [
        "Haswell",
        "Skylake",
        "Cortex-M4",
        "Apple M3",
        "RTX 4090",
        "suspect",
        "WARNING",
        "no figures of ours for MAYO_1",
    ] {
        assert!(shown.contains(expected), "no {expected:?} in\n{shown}");
    }

    // HTML is made twice, since a report may replace an earlier one.
    for format in ["html", "html", "markdown"] {
        lab(&["report", "--from", &record, "--out", &out, "--format", format]).assert().success();
    }
    let page = fs::read_to_string(format!("{out}/report.html")).unwrap();
    for section in
        ["summary", "machine", "peers", "expand-p", "techniques", "kernel", "profile", "credibility", "published"]
    {
        assert!(page.contains(&format!("<section id=\"{section}\">")), "{section}");
    }
    assert!(!page.split_once("<script").unwrap().0.contains("NaN"));
    assert!(fs::read_to_string(format!("{out}/report.md")).unwrap().contains("## Published figures"));
}

/// Figures are judged by their quartiles, other implementations are the control, and runs that call
/// themselves unusable are not judged.
#[test]
fn two_records_are_compared_figure_by_figure() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../records/amd-zen5-2core/2026-11-21-7beacd1-all/record.json");
    let whole: serde_json::Value = serde_json::from_str(&fs::read_to_string(root).unwrap()).unwrap();
    let of = |name: &str| {
        let results = whole["results"].as_array().unwrap().iter();
        results.filter(|result| result["implementation"] == name).take(3).cloned().collect::<Vec<_>>()
    };
    let results = [of("aioli"), of("liboqs")].concat();
    let mut record = serde_json::json!({ "machine": whole["machine"], "results": results });
    record["machine"]["conditions"]["verdict"] = "quiet".into();
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, record: &serde_json::Value| {
        let path = folder.path().join(name).to_str().unwrap().to_owned();
        fs::write(&path, record.to_string()).unwrap();
        path
    };
    let compare = |before: &str, after: &str| {
        let shown = lab(&["compare", before, after]).assert().success().get_output().stdout.clone();
        String::from_utf8(shown).unwrap()
    };
    let before = write("before.json", &record);
    let shown = compare(&before, &before);
    assert_eq!(shown.matches("alike").count(), 6, "{shown}");
    assert!(shown.contains("Control: the 3 figures") && !shown.contains("The machines differ"), "{shown}");

    let mut changed = record.clone();
    for (at, factor) in [(0, 0.5), (1, 2.0)] {
        for figure in ["median_ns", "q1_ns", "q3_ns"] {
            let value = changed["results"][at][figure].as_f64().unwrap();
            changed["results"][at][figure] = (value * factor).into();
        }
    }
    changed["machine"]["cpu"] = "another".into();
    let shown = compare(&before, &write("changed.json", &changed));
    assert_eq!(["faster", "slower", "alike"].map(|verdict| shown.matches(&format!(" {verdict}")).count()), [1, 1, 4]);
    assert!(shown.contains("The machines differ"), "{shown}");

    changed["machine"]["conditions"]["verdict"] = "unusable".into();
    let shown = compare(&before, &write("unusable.json", &changed));
    assert!(shown.contains("gives no verdicts") && !shown.contains("alike"), "{shown}");

    changed["results"] = serde_json::json!([]);
    lab(&["compare", &before, &write("empty.json", &changed)]).assert().failure();
    lab(&["compare", &before, "absent.json"]).assert().failure();
}

/// Every committed record is JSON; those of the lab can be shown, and none calls itself unusable.
#[test]
fn committed_records_are_well_formed() {
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("../../records")];
    let mut shown = 0;
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "json") {
                let text = fs::read_to_string(&path).unwrap();
                let Ok(record) = serde_json::from_str::<serde_json::Value>(&text) else {
                    panic!("{} is no JSON", path.display());
                };
                let verdict = &record["machine"]["conditions"]["verdict"];
                assert!(verdict != "unusable", "{}: measure again", path.display());
                if verdict.is_string() {
                    let out = tempfile::tempdir().unwrap();
                    lab(&["report", "--format", "markdown", "--from"])
                        .arg(&path)
                        .arg("--out")
                        .arg(out.path())
                        .assert()
                        .success();
                    shown += 1;
                }
            }
        }
    }
    assert!(shown > 1, "records of the lab");
}

/// The README's tables on speed are those of the report of the record that it links to.
#[test]
fn the_readme_says_what_its_record_says() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let readme = fs::read_to_string(format!("{root}/README.md")).unwrap();
    let speed = readme.split("\n## ").find(|section| section.starts_with("Speed")).expect("a section on speed");
    let (_, record) = speed.split_once("](").expect("a link to the record");
    let record = format!("{root}/{}", record.split_once(')').unwrap().0);
    let folder = tempfile::tempdir().unwrap();
    lab(&["report", "--format", "markdown", "--from", &record, "--out"]).arg(folder.path()).assert().success();
    let report = fs::read_to_string(folder.path().join("report.md")).unwrap();
    let rows: Vec<&str> = speed.lines().filter(|line| line.starts_with("| ")).collect();
    assert!(rows.len() > 10, "tables in {speed}");
    for row in rows {
        assert!(report.contains(&format!("{row}\n")), "not in the report of {record}: {row}");
    }
}

#[test]
fn what_is_no_record_is_named() {
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), "{}").unwrap();
    let path = file.path().to_str().unwrap();
    for arguments in [vec!["published", "--from", path], vec!["report", "--from", path, "--out", "nowhere"]] {
        let assert = lab(&arguments).assert().failure();
        let message = String::from_utf8_lossy(&assert.get_output().stderr).into_owned();
        assert!(message.contains("is not a record of measurements"), "{message}");
    }
}

#[test]
fn all_does_not_overwrite_a_record() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("record.json"), "precious").unwrap();
    let assert = lab(&["all", "--quick", "--out"]).arg(folder.path()).assert().failure();
    assert!(String::from_utf8_lossy(&assert.get_output().stderr).contains("never overwritten"));
    assert_eq!(fs::read_to_string(folder.path().join("record.json")).unwrap(), "precious");
}
