//! The backends of the library that the processor of this machine can run.

/// The names of these backends, `portable` first.
pub(crate) fn backends() -> Vec<&'static str> {
    BACKENDS.into_iter().filter(|(_, flags)| lacking(flags).is_empty()).map(|(name, _)| name).collect()
}

/// The flags that a backend needs and this processor lacks.
pub(crate) fn lacking_for(backend: &str) -> String {
    BACKENDS.iter().find(|(name, _)| *name == backend).map_or(String::new(), |(_, flags)| lacking(flags))
}

fn lacking(flags: &str) -> String {
    let processor = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let here = processor.lines().find(|line| line.starts_with("flags")).unwrap_or_default();
    let missing = flags.split(' ').filter(|flag| !here.split(' ').any(|word| word == *flag) && !flag.is_empty());
    missing.collect::<Vec<_>>().join(" ")
}

/// The backends for x86-64, and the flags of Linux for the instructions that they need.
const BACKENDS: [(&str, &str); 4] = [
    ("portable", ""),
    ("avx2", "avx2 aes bmi1"),
    ("gfni256", "avx2 aes bmi1 gfni vaes"),
    ("gfni512", "avx512f avx512bw avx512vl avx512vbmi bmi1 gfni vaes"),
];
