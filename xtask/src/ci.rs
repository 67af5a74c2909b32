//! All steps, in two lanes, with a summary.

use crate::constant_time::{self, Checker};
use crate::steps::{self, Outcome};
use crate::{bouncycastle, c, firmware, fuzz, gpu, languages, neon, openssl, python, reproducible};
use crate::{rules, structure, tools, web};
use std::fs::File;
use std::process::Command;
use std::sync::mpsc::channel;
use std::time::Instant;

/// A check by its name. It is given whether to run in full.
type Step = (&'static str, fn(bool) -> Outcome);

/// The steps that share builds under `target/`, the quick ones first.
const STEPS: &[Step] = &[
    ("fmt", |_| steps::fmt()),
    ("rules", |_| rules::check()),
    ("structure", |_| structure::check()),
    ("typos", |_| tools::typos()),
    ("deny", |_| tools::deny()),
    ("test", |_| steps::test()),
    ("kat", |_| steps::kat()),
    ("clippy", |_| steps::clippy()),
    ("features", |_| tools::features()),
    ("docs", |_| steps::docs()),
    ("lab", |_| steps::lab()),
    ("page", |_| steps::page()),
    ("web", |full| web::run_with(&web::Options { full, ..Default::default() })),
    ("bouncycastle", |_| bouncycastle::check()),
    ("c", |_| c::run_with(&c::Options::default())),
    ("languages", |_| languages::check(&languages::Options::default())),
    ("openssl", |full| openssl::check(&openssl::Options { full })),
    ("x509", |_| steps::x509()),
    ("python", |full| python::check(&python::Options { full })),
    ("cross", |_| steps::cross()),
];

/// The steps that build most in folders of their own. They run beside the others, as most of them
/// keep one processor busy for long: with an emulator, valgrind, or single steps.
const STEPS_BESIDE: &[Step] = &[
    ("msrv", |_| tools::msrv()),
    ("vectors", |_| tools::vectors()),
    ("neon", |full| neon::run(&if full { neon::Options::default() } else { neon::Options::in_short() })),
    ("firmware", |full| {
        firmware::run(&if full { firmware::Options::default() } else { firmware::Options::in_short() })
    }),
    ("fuzz", |full| fuzz::check(&fuzz::Options::all(if full { 60 } else { 10 }))),
    ("gpu", |full| gpu::check(if full { gpu::Extent::Full } else { gpu::Extent::Short })),
    ("ct-selftest", |full| constant_time::selftest(!full)),
    ("ct-valgrind", |full| constant_time::ci(Checker::Valgrind, full)),
    ("ct-msan", |full| constant_time::ci(Checker::Msan, full)),
    ("ct-trace", |full| constant_time::ci(Checker::Trace, full)),
];

/// The steps that are left to the full form.
const FULL_STEPS: &[Step] = &[("reproducible", |_| reproducible::check())];

/// The end of a step.
struct Ended {
    name: &'static str,
    outcome: Outcome,
    seconds: u64,
}

/// Runs every step, or those in `only`, also after one has failed. The last line counts them.
pub(crate) fn run(full: bool, only: &[String]) -> ! {
    let start = Instant::now();
    for name in only {
        let why = match find(name) {
            None => "no such step",
            Some((name, _)) if !full && FULL_STEPS.iter().any(|(step, _)| step == name) => "a step of --full alone",
            Some(_) => continue,
        };
        println!("{name}: {why}");
        std::process::exit(2);
    }
    let wanted = |(name, _): &&Step| only.is_empty() || only.iter().any(|only| only == name);
    let steps = STEPS.iter().chain(if full { FULL_STEPS } else { &[] }).filter(wanted);
    let beside: Vec<_> = STEPS_BESIDE.iter().filter(wanted).map(|&(name, _)| name).collect();
    let (send, receive) = channel();
    let ended = std::thread::scope(|scope| {
        scope.spawn(move || {
            for name in beside {
                if send.send(apart(name, full)).is_err() {
                    break;
                }
            }
        });
        let mut ended = Vec::new();
        for &(name, step) in steps {
            println!("== {name}");
            let start = Instant::now();
            let outcome = step(full);
            let seconds = start.elapsed().as_secs();
            println!("== {name}: {outcome}, {seconds} s");
            ended.push(Ended { name, outcome, seconds });
            ended.extend(receive.try_iter().map(show));
        }
        ended.extend(receive.into_iter().map(show));
        ended
    });
    println!("== summary, {} s{}", start.elapsed().as_secs(), if full { "" } else { ", with the short forms" });
    summarize(&ended)
}

/// One step, for a process of its own.
pub(crate) fn step(name: &str, full: bool) -> Outcome {
    match find(name) {
        Some((_, step)) => step(full),
        None => Outcome::Failed(format!("no step {name}")),
    }
}

fn find(name: &str) -> Option<&'static Step> {
    STEPS.iter().chain(STEPS_BESIDE).chain(FULL_STEPS).find(|(known, _)| *known == name)
}

/// Runs a step in a process of its own. Returns its end and what it has printed.
fn apart(name: &'static str, full: bool) -> (Ended, String) {
    let start = Instant::now();
    let log = format!("target/ci-{name}.log");
    let ran = std::fs::create_dir_all("target").and_then(|()| File::create(&log)).and_then(|file| {
        let mut step = Command::new(std::env::current_exe()?);
        step.args(["step", name]).args(full.then_some("--full"));
        let status = step.stdout(file.try_clone()?).stderr(file).status()?;
        Ok((status, String::from_utf8_lossy(&std::fs::read(&log)?).into_owned()))
    });
    let (outcome, printed) = match ran {
        Ok((status, printed)) => (outcome(status.code(), &printed), printed),
        Err(error) => (Outcome::Failed(format!("{log}: {error}")), String::new()),
    };
    (Ended { name, outcome, seconds: start.elapsed().as_secs() }, printed)
}

/// The outcome of a process that ran one step: its exit status, and the reason in its last line.
fn outcome(code: Option<i32>, printed: &str) -> Outcome {
    let last = printed.lines().last().unwrap_or_default();
    let why = last.split_once(": ").map_or(last, |(_, why)| why).to_owned();
    match code {
        Some(0) => Outcome::Passed,
        Some(2) => Outcome::Impossible(why),
        _ => Outcome::Failed(why),
    }
}

/// Prints what a step beside the main lane has printed.
fn show((ended, printed): (Ended, String)) -> Ended {
    println!("== {}, which ran beside\n{}", ended.name, printed.trim_end());
    println!("== {}: {}, {} s", ended.name, ended.outcome, ended.seconds);
    ended
}

/// Prints a line for each step and counts them. Ends the process.
fn summarize(ended: &[Ended]) -> ! {
    for Ended { name, outcome, seconds } in ended {
        println!("{name:12} {seconds:4} s  {outcome}");
    }
    let strict = std::env::var("CI").is_ok_and(|ci| ci == "true");
    let count = |wanted: fn(&Outcome) -> bool| ended.iter().filter(|ended| wanted(&ended.outcome)).count();
    let passed = count(|outcome| matches!(outcome, Outcome::Passed));
    let not_run = count(|outcome| matches!(outcome, Outcome::Impossible(_)));
    let failed = ended.len() - passed - if strict { 0 } else { not_run };
    println!("{passed} passed, {failed} failed");
    std::process::exit(i32::from(failed > 0));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_process_is_the_outcome_of_its_step() {
        assert!(matches!(outcome(Some(0), "a line\npassed\n"), Outcome::Passed));
        assert!(matches!(outcome(Some(1), "FAILED: two: leaks\n"), Outcome::Failed(why) if why == "two: leaks"));
        assert!(matches!(outcome(Some(2), "NOT RUN: no valgrind\n"), Outcome::Impossible(why) if why == "no valgrind"));
        assert!(matches!(outcome(None, ""), Outcome::Failed(_)));
    }

    #[test]
    fn an_unknown_step_fails() {
        assert!(matches!(step("no such step", false), Outcome::Failed(_)));
    }
}
