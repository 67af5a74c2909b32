//! The claims of the published experiment, judged by our figures and by its own.

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

/// The verdict on a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Confirmed,
    NotConfirmed,
    /// A technique, a set, or enough processors are missing, or the figures are unusable.
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

/// Judges the published claims by times measured on a machine with `cores` processors, unless there
/// is a reason why these times are `unusable`.
pub(super) fn judge(times: &Times, cores: usize, unusable: Option<&str>) -> Vec<Judgement> {
    CLAIMS
        .iter()
        .map(|&(claim, verdict)| {
            let judged = match unusable {
                Some(why) => Some((Verdict::Undecided, why.into())),
                None => verdict(times, cores),
            };
            let missing = || (Verdict::Undecided, "not all techniques and sets that this takes have figures".into());
            let (verdict, because) = judged.unwrap_or_else(missing);
            Judgement { claim, verdict, because }
        })
        .collect()
}

/// The verdict by times on a number of processors, with its reason; `None` if figures are missing.
type Judge = fn(&Times, usize) -> Option<(Verdict, String)>;

const CLAIMS: &[(&str, Judge)] = &[
    ("AVX2 is the strongest single technique", strongest),
    ("The order by average: AVX2, OpenMP, AVX2 with OpenMP, look-up tables", order),
    ("AVX2 gains more at higher levels", higher_levels),
    ("AVX2 gains up to about 4 times", about_four),
    ("Threads inside one operation gain little", little),
    ("Threads inside one operation stop scaling past 2", scaling),
    ("AVX2 with OpenMP is no better than AVX2 alone", hybrid),
    ("AVX2 with OpenMP takes as long as OpenMP alone", hybrid_is_threads),
    ("Look-up tables gain nothing on MAYO_1", lut),
];

fn confirmed_if(condition: bool) -> Verdict {
    if condition { Verdict::Confirmed } else { Verdict::NotConfirmed }
}

/// Compares the techniques of the experiment. Stronger techniques outside of it are only mentioned.
fn strongest(times: &Times, _: usize) -> Option<(Verdict, String)> {
    let avx2 = times.average("avx2")?;
    let lut = times.average("lut")?;
    let threads = times.average(THREADS)?;
    let mut because = format!("avx2 {avx2:+.0} %, lut {lut:+.0} %, {THREADS} {threads:+.0} % on average");
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

/// The published order, in which the hybrid is weaker than both of its parts.
fn order(times: &Times, _: usize) -> Option<(Verdict, String)> {
    const PUBLISHED: [&str; 4] = ["avx2", THREADS, HYBRID, "lut"];
    let mut averages = Vec::new();
    for name in PUBLISHED {
        averages.push((name, times.average(name)?));
    }
    averages.sort_by(|a, b| b.1.total_cmp(&a.1));
    let names: Vec<&str> = averages.iter().map(|(name, _)| *name).collect();
    Some((confirmed_if(names == PUBLISHED), format!("the order is {}", names.join(", "))))
}

fn higher_levels(times: &Times, _: usize) -> Option<(Verdict, String)> {
    let one = times.improvement("avx2", "MAYO_1")?;
    let three = times.improvement("avx2", "MAYO_3")?;
    let five = times.improvement("avx2", "MAYO_5")?;
    let because = format!("MAYO_1 {one:+.0} %, MAYO_3 {three:+.0} %, MAYO_5 {five:+.0} %");
    Some((confirmed_if(one < three && three < five), because))
}

/// "About 4 times" is from 3.5 to 4.5 times.
fn about_four(times: &Times, _: usize) -> Option<(Verdict, String)> {
    let factor = |set: &String| Some(times.improvement("avx2", set)? / 100.0 + 1.0);
    let most = times.sets.iter().map(|(set, _)| factor(set)).collect::<Option<Vec<f64>>>()?;
    let most = most.into_iter().reduce(f64::max)?;
    Some((confirmed_if((3.5..4.5).contains(&most)), format!("{most:.2} times the baseline's speed at most")))
}

/// A little gain is less than twice the speed from four threads.
fn little(times: &Times, _: usize) -> Option<(Verdict, String)> {
    let average = times.average(THREADS)?;
    Some((confirmed_if(average < 100.0), format!("{THREADS} {average:+.0} % on average")))
}

fn scaling(times: &Times, cores: usize) -> Option<(Verdict, String)> {
    let two = times.ratio("scalar_openmp_1", "scalar_openmp_2")?;
    let four = times.ratio("scalar_openmp_1", THREADS)?;
    let because = format!("2 threads are {two:.2} times and 4 threads {four:.2} times as fast as one");
    if cores < 4 {
        let why = format!("{because}, but there are only {cores} processors");
        return Some((Verdict::Undecided, why));
    }
    Some((confirmed_if(four < two * NOTICEABLE), because))
}

fn hybrid(times: &Times, cores: usize) -> Option<(Verdict, String)> {
    let four = times.ratio("avx2", HYBRID)?;
    let best = times.ratio("avx2", "avx2_openmp_2").map_or(four, |two| two.max(four));
    let because = format!("with 4 threads {four:.2} times as fast as avx2 alone, at best {best:.2} times");
    if cores < 2 {
        return Some((Verdict::Undecided, format!("{because}, but there is only one processor")));
    }
    Some((confirmed_if(best < NOTICEABLE), because))
}

/// If a vector kernel with threads is as slow as the scalar one with threads, it is hardly compiled
/// with vectors. The largest difference published is 2 %.
fn hybrid_is_threads(times: &Times, _: usize) -> Option<(Verdict, String)> {
    let ratio = times.ratio(THREADS, HYBRID)?;
    let because = format!("{HYBRID} is {ratio:.2} times as fast as {THREADS}");
    Some((confirmed_if((1.0 / NOTICEABLE..NOTICEABLE).contains(&ratio)), because))
}

fn lut(times: &Times, _: usize) -> Option<(Verdict, String)> {
    let gain = times.improvement("lut", "MAYO_1")?;
    Some((confirmed_if(gain < (NOTICEABLE - 1.0) * 100.0), format!("{gain:+.1} % on MAYO_1")))
}

/// The experiment's threads, and its threads with AVX2, by our names.
pub(super) const THREADS: &str = "scalar_openmp_4";
pub(super) const HYBRID: &str = "avx2_openmp_4";
/// The least factor that counts as a gain. Medians of such measurements differ by up to this much
/// without a reason.
const NOTICEABLE: f64 = 1.05;

#[cfg(test)]
mod tests {
    use super::super::comparison::tests::times;
    use super::*;

    const NAMES: [&str; 8] =
        ["scalar", "lut", "avx2", "scalar_openmp_1", "scalar_openmp_2", THREADS, "avx2_openmp_2", HYBRID];

    fn verdicts(rows: &[(&str, [f64; 8])], cores: usize) -> Vec<Verdict> {
        judge(&times(NAMES, rows), cores, None).into_iter().map(|judgement| judgement.verdict).collect()
    }

    /// Its own table contradicts "about 4 times", and has no figures for one and two threads.
    #[test]
    fn the_published_times_confirm_the_published_claims_but_one() {
        let judged = judge(&Times::published(), 4, None);
        for judgement in &judged {
            let expected = match judgement.claim {
                claim if claim.contains("past 2") => Verdict::Undecided,
                claim if claim.contains("about 4") => Verdict::NotConfirmed,
                _ => Verdict::Confirmed,
            };
            assert_eq!(judgement.verdict, expected, "{judgement:?}");
        }
        assert!(judged[0].because.contains("avx2 +278 %, lut +36 %, scalar_openmp_4 +50 %"), "{}", judged[0].because);
        assert!(judged[3].because.starts_with("4.94 times"), "{}", judged[3].because);
    }

    #[test]
    fn planted_figures_of_the_same_kind_confirm_all() {
        let rows = [
            ("MAYO_1", [10.0, 9.9, 5.0, 10.1, 8.0, 7.9, 8.0, 7.95]),
            ("MAYO_3", [10.0, 9.0, 3.0, 10.1, 8.0, 7.9, 8.0, 7.95]),
            ("MAYO_5", [10.0, 8.0, 2.5, 10.1, 8.0, 7.9, 8.0, 7.95]),
        ];
        assert_eq!(verdicts(&rows, 4), [Verdict::Confirmed; 9]);
        let two = verdicts(&rows, 2);
        assert_eq!(two.iter().filter(|verdict| **verdict == Verdict::Undecided).count(), 1);
        assert_eq!(two[5], Verdict::Undecided);
    }

    #[test]
    fn planted_figures_of_the_other_kind_confirm_none() {
        let rows = [
            ("MAYO_1", [10.0, 2.0, 3.0, 10.0, 5.0, 2.5, 1.5, 1.0]),
            ("MAYO_3", [10.0, 2.0, 4.0, 10.0, 5.0, 2.5, 1.5, 1.0]),
            ("MAYO_5", [10.0, 2.0, 5.0, 10.0, 5.0, 2.5, 1.5, 1.0]),
        ];
        let expected = [Verdict::NotConfirmed; 9];
        let found = verdicts(&rows, 8);
        // 10 / 3 is no "about 4".
        assert_eq!(found, expected);
    }

    #[test]
    fn unusable_figures_decide_nothing() {
        let judged = judge(&Times::published(), 4, Some("too noisy"));
        assert!(judged.iter().all(|j| j.verdict == Verdict::Undecided && j.because == "too noisy"), "{judged:?}");
    }

    #[test]
    fn what_beats_avx2_beyond_the_experiment_is_told() {
        let times = times(["scalar", "lut", "avx2", THREADS, "gfni512"], &[("MAYO_1", [9.0, 8.0, 3.0, 6.0, 1.0])]);
        let judged = &judge(&times, 4, None)[0];
        assert_eq!(judged.verdict, Verdict::Confirmed);
        assert!(judged.because.ends_with("not in the experiment: gfni512 +800 %"), "{}", judged.because);
    }
}
