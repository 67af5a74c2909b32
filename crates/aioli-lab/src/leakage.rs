//! `aioli-lab leakage`: whether the time of an operation tells two classes of secrets apart, by
//! the test of "dude, is my code constant time?" (Reparaz, Balasch, Verbauwhede, DATE 2017).
//!
//! One class is a fixed secret, the other random ones, with the same P. Runs of both follow each
//! other in random order, each with its secret copied to the same memory. Welch's t compares the
//! times, all of them and the fastest shares. Each test is repeated with a planted leak, which it
//! has to find.

mod subjects;
mod welch;

use crate::chapter::{Run, Section};
use crate::counter;
use crate::measure::{self, Cell, Conditions, Operation, Quartiles, rounded};
use crate::random::Random;
use crate::record::Label;
use crate::show::{Block, Table, significant};
use crate::study::{self, Study, label};
use aioli::backend::BackendKind;
use aioli::{Algorithm, with_set};
use anyhow::{Result, ensure};
use serde::{Deserialize, Serialize};
use std::cell::RefCell;
use std::rc::Rc;
use std::time::Instant;
use subjects::Subject;

/// The findings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Leakage {
    /// The noise of the machine right before, measured on the subjects themselves.
    conditions: Conditions,
    tests: Vec<Test>,
    /// Sentences on what was left out, and why.
    skipped: Vec<String>,
}

/// A comparison of the two classes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Test {
    #[serde(flatten)]
    label: Label,
    operation: String,
    /// Whether random secrets leak on purpose.
    planted: bool,
    /// Runs of both classes together.
    samples: usize,
    /// The median of all runs.
    median_ns: f64,
    /// The largest |t| of any share of the runs, and that share.
    t: f64,
    share: f64,
    /// Random secrets less the fixed one, in that share.
    difference_ns: f64,
    /// The smallest difference with |t| of 10 there.
    detectable_ns: f64,
}

impl Test {
    fn verdict(&self) -> &'static str {
        match self.t {
            t if t < SUSPECT => "no leak found",
            t if t < LEAK => "suspect: take more samples",
            _ => "LEAK",
        }
    }

    /// Whether the verdict is the one that the library and the planted leaks should get.
    fn is_expected(&self) -> bool {
        if self.planted { self.t >= LEAK } else { self.t < SUSPECT }
    }
}

/// Tests signing, solving and decoding with each set on the backends that valgrind cannot run.
///
/// # Errors
///
/// If the run is stopped before the first test; and errors of the operations.
pub(crate) fn measure(run: &Run<'_>, sets: &[Algorithm]) -> Result<Leakage> {
    let mut skipped = Vec::new();
    let mut subjects = Vec::new();
    for kind in BACKENDS {
        match kind.detect() {
            Ok(backend) => {
                for &set in sets {
                    for subject in with_set!(set, P => subjects::all::<P>(backend))? {
                        subjects.push((label(set, kind), Rc::new(RefCell::new(subject))));
                    }
                }
            }
            Err(error) => skipped.push(format!("{kind}: {error}")),
        }
    }
    ensure!(!subjects.is_empty(), "none of the backends to test runs here: {}", skipped.join(", "));

    let mut cells: Vec<_> = subjects.iter().map(|(label, subject)| cell(label, subject)).collect();
    let rounds = study::rounds(run, 20, 20);
    run.begin("leakage, round", rounds);
    let conditions = measure::interleaved(&mut cells, rounds, run.stop, |done| run.done(done))?;
    let ns_per_tick = conditions.counter_ghz.map_or(1.0, |ghz| 1.0 / ghz);

    let samples = match run.quick {
        _ if cfg!(debug_assertions) => 50,
        true => 5_000,
        false => 100_000,
    };
    let mut tests = Vec::new();
    for (label, subject) in &subjects {
        let mut median_ns = 0.0;
        for planted in [false, true] {
            if run.stopped() {
                skipped.push(format!("{} {} {}: stopped", label.backend, label.set, subject.borrow().name));
                continue;
            }
            let extra = if planted { (median_ns * PLANTED_SHARE) as u32 } else { 0 };
            run.begin(format!("leakage, {} {}, run", label.backend, label.set), samples);
            match test(&mut subject.borrow_mut(), (label, planted), (samples, extra), ns_per_tick, run) {
                Some(test) => {
                    median_ns = test.median_ns;
                    tests.push(test);
                }
                None => skipped.push(format!("{} {}: stopped", label.backend, label.set)),
            }
        }
    }
    run.finish();
    Ok(Leakage { conditions, tests, skipped })
}

/// An operation that runs a subject with its random secrets.
fn cell(label: &Label, subject: &Rc<RefCell<Subject>>) -> Cell<Label> {
    let name = subject.borrow().name;
    let subject = Rc::clone(subject);
    let operation = Operation::new(name, move || {
        let subject = &mut *subject.borrow_mut();
        (subject.prepare)(false, pick());
        (subject.run)();
        Ok(())
    });
    Cell::new(label.clone(), operation)
}

/// Times runs of both classes in random order. With a leak, every other random secret takes `extra`
/// steps of a loop more. `None` if the run was stopped too early.
fn test(
    subject: &mut Subject,
    (label, planted): (&Label, bool),
    (samples, extra): (usize, u32),
    ns_per_tick: f64,
    run: &Run<'_>,
) -> Option<Test> {
    let mut times = Vec::with_capacity(samples);
    for done in 0..samples {
        let [class, odd] = Random::bytes::<2>().map(|byte| byte & 1 == 1);
        // Chosen before the clock is read: a branch here would itself tell the classes apart.
        let steps = extra * u32::from(!class & odd);
        (subject.prepare)(class, pick());
        let start = ticks();
        (subject.run)();
        (0..steps).for_each(|step| _ = std::hint::black_box(step));
        times.push((class, (ticks() - start) as f64 * ns_per_tick));
        if done % 256 == 0 {
            run.done(done);
            if run.stopped() {
                break;
            }
        }
    }
    let (share, welch) = welch::strongest(&mut times)?;
    Some(Test {
        label: label.clone(),
        operation: subject.name.into(),
        planted,
        samples: times.len(),
        median_ns: rounded(Quartiles::of(times.iter().map(|&(_, ns)| ns)).median, 1),
        // No clock is so exact; and an infinite t has no place in a record.
        t: rounded(welch.t().abs().min(1e6), 2),
        share,
        difference_ns: rounded(welch.difference, 3),
        detectable_ns: rounded(welch.error * LEAK, 3),
    })
}

/// The number of one of the secrets of a class.
fn pick() -> usize {
    usize::from(Random::bytes::<1>()[0]) % subjects::SECRETS
}

/// The time-stamp counter, or nanoseconds without one.
fn ticks() -> u64 {
    thread_local!(static START: Instant = Instant::now());
    counter::cycles().unwrap_or_else(|| START.with(|start| start.elapsed().as_nanos() as u64))
}

impl Study for Leakage {
    fn conditions(&self) -> &Conditions {
        &self.conditions
    }
}

impl Section for Leakage {
    const KEY: &'static str = "leakage";
    const TITLE: &'static str = "Leakage by time";

    fn blocks(&self) -> Vec<Block> {
        let mut blocks = vec![Block::Text(format!(
            "A fixed secret against random ones, same P. |t| below {SUSPECT}: no leak found with so many samples; from \
             {LEAK} on: the times differ. Noise hides small leaks, and does not make any up."
        ))];
        blocks.extend(self.skipped.iter().map(|what| Block::Warning(format!("skipped: {what}"))));
        let mut table = Table::new(
            "Fixed against random secrets",
            [
                "backend",
                "set",
                "operation",
                "median, us",
                "samples",
                "|t|",
                "of the fastest",
                "difference, ns",
                "detectable, ns",
                "verdict",
            ],
        );
        for test in &self.tests {
            let row = [
                test.label.backend.clone(),
                format!("{} round {}", test.label.set, test.label.round.unwrap_or_default()),
                format!("{}{}", test.operation, if test.planted { ", planted leak" } else { "" }),
                significant(test.median_ns / 1e3),
                test.samples.to_string(),
                significant(test.t),
                format!("{:.0} %", 100.0 * test.share),
                significant(test.difference_ns),
                significant(test.detectable_ns),
                test.verdict().into(),
            ];
            if test.is_expected() { table.row(row) } else { table.highlighted_row(row) }
        }
        blocks.push(Block::Table(table));
        let wrong = self.tests.iter().filter(|test| !test.is_expected()).count();
        blocks.push(match wrong {
            0 => Block::Text("No test of the library found a leak, and each found the planted one.".into()),
            _ => Block::Warning(format!("{wrong} of {} tests have another verdict than they should", self.tests.len())),
        });
        blocks
    }
}

/// The backends that no checker but the trace covers on all paths, as valgrind cannot run them.
const BACKENDS: [BackendKind; 2] = [BackendKind::Gfni256, BackendKind::Gfni512];
/// The planted leak in steps of a loop, as a share of the operation's nanoseconds. A step takes a
/// cycle or a few, so the leak is 1 % of the operation at most.
const PLANTED_SHARE: f64 = 0.01;
/// |t| from which on a difference is unlikely to be chance.
const SUSPECT: f64 = 4.5;
/// |t| from which on it is certain.
const LEAK: f64 = 10.0;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::show;
    use std::sync::atomic::AtomicBool;

    /// Spins for as long as the current secret says.
    fn spinning(fixed: u32, random: [u32; 2]) -> Subject {
        let steps = Rc::new(std::cell::Cell::new(0));
        let next = Rc::clone(&steps);
        Subject {
            name: "spin",
            prepare: Box::new(move |class, number| next.set(if class { fixed } else { random[number % 2] })),
            run: Box::new(move || (0..steps.get()).for_each(|step| _ = std::hint::black_box(step))),
        }
    }

    fn t_of(mut subject: Subject) -> f64 {
        let stop = AtomicBool::new(false);
        let label = label(Algorithm::Mayo1, "planted");
        test(&mut subject, (&label, false), (20_000, 0), 1.0, &Run::new(true, &stop)).unwrap().t
    }

    #[test]
    fn a_secret_that_decides_the_time_is_found_and_one_that_does_not_is_not() {
        assert!(t_of(spinning(2000, [2000, 2100])) > LEAK);
        assert!(t_of(spinning(2000, [2000, 2000])) < LEAK);
    }

    #[test]
    fn verdicts_that_should_not_be_are_highlighted() {
        let stop = AtomicBool::new(false);
        let mut section = measure(&Run::new(true, &stop), &[Algorithm::Mayo2]).unwrap();
        assert_eq!(section.tests.len(), 12);
        for test in &mut section.tests {
            test.t = if test.planted { 50.0 } else { 1.0 };
        }
        let text = |section: &Leakage| show::text(&section.blocks());
        assert!(text(&section).contains("each found the planted one"));
        section.tests[0].t = 11.0;
        section.tests[1].t = 9.0;
        let shown = text(&section);
        assert!(shown.contains("WARNING: 2 of 12") && shown.contains("LEAK") && shown.contains("suspect"), "{shown}");
        let back: Leakage = serde_json::from_str(&serde_json::to_string(&section).unwrap()).unwrap();
        assert_eq!(back, section);
    }
}
