//! The claims of the published experiment, judged by our figures.

use super::comparison::Times;
use std::fmt;

/// A claim with its verdict and the reason.
#[derive(Clone, Debug)]
pub(super) struct Judgement {
    pub(super) claim: &'static str,
    pub(super) verdict: Verdict,
    /// The figures behind the verdict.
    pub(super) because: String,
}

/// The verdict on a claim on this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Confirmed,
    NotConfirmed,
    /// A technique, a set, or enough processors are missing.
    Undecided,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Confirmed => "confirmed",
            Self::NotConfirmed => "not confirmed",
            Self::Undecided => "undecided",
        })
    }
}

/// Judges the published claims by times measured on a machine with `cores` processors.
pub(super) fn judge(times: &Times, cores: usize) -> Vec<Judgement> {
    let claims: [(&'static str, Option<(Verdict, String)>); 6] = [
        ("AVX2 is the strongest single technique", strongest(times)),
        ("AVX2 gains more at higher levels", higher_levels(times)),
        ("Threads inside one operation gain little", little(times)),
        ("Threads inside one operation stop scaling past 2", scaling(times, cores)),
        ("AVX2 with threads is no better than AVX2 alone", hybrid(times, cores)),
        ("Look-up tables gain nothing on MAYO_1", lut(times)),
    ];
    let missing = || (Verdict::Undecided, "not all techniques and sets that this takes were measured".into());
    claims
        .into_iter()
        .map(|(claim, judged)| {
            let (verdict, because) = judged.unwrap_or_else(missing);
            Judgement { claim, verdict, because }
        })
        .collect()
}

fn confirmed_if(condition: bool) -> Verdict {
    if condition { Verdict::Confirmed } else { Verdict::NotConfirmed }
}

/// Compares the techniques of the experiment. Stronger techniques outside of it are only mentioned.
fn strongest(times: &Times) -> Option<(Verdict, String)> {
    let avx2 = times.average("avx2")?;
    let lut = times.average("lut")?;
    let threads = times.average("threads_4")?;
    let mut because = format!("avx2 {avx2:+.0} %, lut {lut:+.0} %, threads_4 {threads:+.0} % on average");
    let beyond: Vec<String> = ["gfni256", "gfni512"]
        .into_iter()
        .filter_map(|name| Some((name, times.average(name)?)))
        .filter(|&(_, average)| average > avx2)
        .map(|(name, average)| format!("{name} {average:+.0} %"))
        .collect();
    if !beyond.is_empty() {
        because += &format!("; stronger, but not in the experiment: {}", beyond.join(", "));
    }
    Some((confirmed_if(avx2 > lut && avx2 > threads), because))
}

fn higher_levels(times: &Times) -> Option<(Verdict, String)> {
    let one = times.improvement("avx2", "MAYO_1")?;
    let three = times.improvement("avx2", "MAYO_3")?;
    let five = times.improvement("avx2", "MAYO_5")?;
    let because = format!(
        "MAYO_1 {one:+.0} %, MAYO_3 {three:+.0} %, MAYO_5 {five:+.0} %, at most {:.1} times the baseline's speed",
        one.max(three).max(five) / 100.0 + 1.0
    );
    Some((confirmed_if(one < three && three < five), because))
}

/// A little gain is less than twice the speed from four threads.
fn little(times: &Times) -> Option<(Verdict, String)> {
    let average = times.average("threads_4")?;
    Some((confirmed_if(average < 100.0), format!("threads_4 {average:+.0} % on average")))
}

fn scaling(times: &Times, cores: usize) -> Option<(Verdict, String)> {
    let two = times.ratio("threads_1", "threads_2")?;
    let four = times.ratio("threads_1", "threads_4")?;
    let because = format!("2 threads are {two:.2} times and 4 threads {four:.2} times as fast as one");
    if cores < 4 {
        let why = format!("{because}, but there are only {cores} processors");
        return Some((Verdict::Undecided, why));
    }
    Some((confirmed_if(four < two * NOTICEABLE), because))
}

fn hybrid(times: &Times, cores: usize) -> Option<(Verdict, String)> {
    let four = times.ratio("avx2", "avx2_threads_4")?;
    let best = times.ratio("avx2", "avx2_threads_2").map_or(four, |two| two.max(four));
    let mut because = format!("with 4 threads {four:.2} times as fast as avx2 alone, at best {best:.2} times");
    if let Some(gfni) = times.ratio("gfni512", "gfni512_threads_2") {
        because += &format!("; gfni512 with 2 threads {gfni:.2} times as fast as alone");
    }
    if cores < 2 {
        return Some((Verdict::Undecided, format!("{because}, but there is only one processor")));
    }
    Some((confirmed_if(best < NOTICEABLE), because))
}

fn lut(times: &Times) -> Option<(Verdict, String)> {
    let gain = times.improvement("lut", "MAYO_1")?;
    Some((confirmed_if(gain < (NOTICEABLE - 1.0) * 100.0), format!("{gain:+.1} % on MAYO_1")))
}

/// The least factor that counts as a gain. Medians of such measurements differ by up to this much
/// without a reason.
const NOTICEABLE: f64 = 1.05;

#[cfg(test)]
mod tests {
    use super::super::comparison::tests::times;
    use super::*;

    const NAMES: [&str; 8] =
        ["baseline", "lut", "avx2", "threads_1", "threads_2", "threads_4", "avx2_threads_2", "avx2_threads_4"];

    fn verdicts(rows: &[(&str, [f64; 8])], cores: usize) -> Vec<Verdict> {
        judge(&times(NAMES, rows), cores).into_iter().map(|judgement| judgement.verdict).collect()
    }

    #[test]
    fn the_published_times_confirm_the_published_claims() {
        let judged = judge(&Times::published(), 4);
        for judgement in &judged {
            // The published table has no figures for one and two threads.
            let expected = match judgement.claim.contains("past 2") {
                true => Verdict::Undecided,
                false => Verdict::Confirmed,
            };
            assert_eq!(judgement.verdict, expected, "{judgement:?}");
        }
        assert!(judged[0].because.contains("avx2 +278 %, lut +36 %, threads_4 +50 %"), "{}", judged[0].because);
    }

    #[test]
    fn planted_figures_of_the_same_kind_confirm_all() {
        let rows = [
            ("MAYO_1", [10.0, 9.9, 5.0, 10.1, 8.0, 7.9, 5.0, 5.5]),
            ("MAYO_3", [10.0, 9.0, 4.0, 10.1, 8.0, 7.9, 4.0, 4.5]),
            ("MAYO_5", [10.0, 8.0, 3.0, 10.1, 8.0, 7.9, 3.0, 3.5]),
        ];
        assert_eq!(verdicts(&rows, 4), [Verdict::Confirmed; 6]);
        let two = verdicts(&rows, 2);
        assert_eq!(two.iter().filter(|verdict| **verdict == Verdict::Undecided).count(), 1);
        assert_eq!(two[3], Verdict::Undecided);
    }

    #[test]
    fn planted_figures_of_the_other_kind_confirm_none() {
        let rows = [
            ("MAYO_1", [10.0, 2.0, 3.0, 10.0, 5.0, 2.5, 1.5, 1.0]),
            ("MAYO_3", [10.0, 2.0, 4.0, 10.0, 5.0, 2.5, 1.5, 1.0]),
            ("MAYO_5", [10.0, 2.0, 5.0, 10.0, 5.0, 2.5, 1.5, 1.0]),
        ];
        assert_eq!(verdicts(&rows, 8), [Verdict::NotConfirmed; 6]);
    }

    #[test]
    fn what_beats_avx2_beyond_the_experiment_is_told() {
        let times =
            times(["baseline", "lut", "avx2", "threads_4", "gfni512"], &[("MAYO_1", [9.0, 8.0, 3.0, 6.0, 1.0])]);
        let judged = &judge(&times, 4)[0];
        assert_eq!(judged.verdict, Verdict::Confirmed);
        assert!(judged.because.ends_with("not in the experiment: gfni512 +800 %"), "{}", judged.because);
    }
}
