//! Checks that an operation takes the same branches and touches the same addresses with any
//! secrets.

use super::counts::Counts;
use std::collections::{BTreeMap, BTreeSet};

/// Compares the runs of each operation. Returns the number of operations, and the least number of
/// secrets. It is an error if an operation depends on its secrets, or if one that does so on
/// purpose is not found.
pub(crate) fn compare(printed: &str, counts: &[Counts]) -> Result<(usize, usize), String> {
    let traces = counts.iter().map(|counts| &*counts.trace);
    let names: Vec<&str> = printed.lines().filter_map(|line| line.strip_prefix("trace operation=")).collect();
    let names: Vec<&str> = names.iter().filter_map(|line| line.split(' ').next()).collect();
    if names.len() != counts.len() {
        return Err(format!("{} traces printed, {} counted", names.len(), counts.len()));
    }
    if let Some(missing) = EXPECTED.iter().find(|expected| !names.iter().any(|name| name.starts_with(**expected))) {
        return Err(format!("{missing} was not traced"));
    }
    judge(names.into_iter().zip(traces))
}

fn judge<'a>(runs: impl Iterator<Item = (&'a str, &'a str)>) -> Result<(usize, usize), String> {
    let mut operations: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (name, trace) in runs {
        operations.entry(name).or_default().push(trace);
    }
    let mut honest = 0;
    let mut planted = 0;
    let mut least = usize::MAX;
    for (name, traces) in &operations {
        let depends = traces.iter().collect::<BTreeSet<_>>().len() > 1;
        match (name.starts_with(PLANTED), depends) {
            (true, true) => planted += 1,
            (true, false) => return Err(format!("{name}: its dependence on secrets was not found")),
            (false, true) => return Err(format!("{name}: branches or addresses depend on secrets")),
            (false, false) => honest += 1,
        }
        least = least.min(traces.len());
    }
    if honest == 0 || planted == 0 || least < 2 {
        return Err(format!("{honest} operations, {planted} planted leaks, each with at least {least} secrets"));
    }
    Ok((honest, least))
}

/// The beginnings of names, each of which must be among the traced operations.
const EXPECTED: [&str; 6] =
    ["left_product/secret_rows", "left_product/public_rows", "left_product_of_stream", "solve/", "shake256", "mayo"];
/// The beginning of the names of operations that depend on secrets on purpose.
const PLANTED: &str = "planted/";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_different_trace_is_enough() {
        let planted = [("planted/a", "1"), ("planted/a", "2")];
        let judge = |runs: &[(&'static str, &'static str)]| judge(runs.iter().copied().chain(planted));
        assert_eq!(judge(&[("a", "1"), ("a", "1"), ("b", "2"), ("b", "2")]), Ok((2, 2)));
        assert!(judge(&[("a", "1"), ("a", "1"), ("a", "2")]).is_err());
        assert!(judge(&[("a", "1"), ("a", "1"), ("planted/b", "1"), ("planted/b", "1")]).is_err());
        assert!(judge(&[]).is_err());
        assert!(judge(&[("a", "1")]).is_err());
    }
}
