//! `aioli-lab report`: records as a page to look at.
//!
//! One HTML file that needs no network: tables, charts that a library in the page draws, each with its numbers as a
//! table, the records themselves for download. The same as Markdown on request.

mod findings;
mod page;

use crate::credibility::Credibility;
use crate::gpu::Batches;
use crate::kernel::Kernels;
use crate::part::Section;
use crate::profile::Profile;
use crate::published::{self, Counted};
use crate::record::Record;
use crate::show::Block;
use crate::techniques::Techniques;
use anyhow::{Context, Result, ensure};
use std::fs;
use std::path::{Path, PathBuf};

/// The options.
#[derive(clap::Args, Debug)]
pub(crate) struct Options {
    /// Records to show
    #[arg(long, required = true, num_args = 1.., value_name = "RECORD")]
    from: Vec<PathBuf>,
    /// Records of executed instructions on emulated processors, for the part on published figures
    #[arg(long, num_args = 1.., value_name = "RECORD")]
    counted: Vec<PathBuf>,
    /// The folder to write to; made if it is not there
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// What to write
    #[arg(long, value_enum, default_value_t = Format::Html)]
    format: Format,
}

/// Forms of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Format {
    /// report.html
    Html,
    /// report.md, without the charts but with their numbers
    Markdown,
}

/// Writes the report of stored records.
///
/// # Errors
///
/// Those of the files.
pub(crate) fn run(options: &Options) -> Result<()> {
    let records = options
        .from
        .iter()
        .map(|path| Ok((file_name(path), Record::read(path)?)))
        .collect::<Result<Vec<(String, Record)>>>()?;
    let counted = options.counted.iter().map(|path| Counted::read(path)).collect::<Result<Vec<_>>>()?;
    println!("{}", write(&records, &counted, &options.out, options.format)?.display());
    Ok(())
}

/// Writes a report, and says where it is. An earlier one is replaced: it follows from records.
///
/// # Errors
///
/// Those of the files; and if a section of a record is not what it should be.
pub(crate) fn write(
    records: &[(String, Record)],
    counted: &[Counted],
    folder: &Path,
    format: Format,
) -> Result<PathBuf> {
    ensure!(!records.is_empty(), "no record to report");
    fs::create_dir_all(folder).with_context(|| format!("{}", folder.display()))?;
    let parts = records
        .iter()
        .map(|(name, record)| Ok((name.as_str(), record, parts(record, counted)?)))
        .collect::<Result<Vec<(&str, &Record, Vec<Part>)>>>()?;
    let (name, text) = match format {
        Format::Html => ("report.html", page::html(&parts)?),
        Format::Markdown => ("report.md", page::markdown(&parts)),
    };
    let path = folder.join(name);
    fs::write(&path, text).with_context(|| format!("{}", path.display()))?;
    Ok(path)
}

/// What a record comes to.
///
/// # Errors
///
/// If a section of the record is not what it should be.
pub(crate) fn summary(record: &Record) -> Result<Vec<Block>> {
    let verdict = record.section::<Credibility>()?.map(|section| section.verdict());
    Ok(findings::summary(record, verdict.as_deref()))
}

/// A part of the report.
struct Part {
    /// For links to it.
    key: &'static str,
    title: &'static str,
    blocks: Vec<Block>,
}

/// All parts of a record. One that the record has nothing for says so.
fn parts(record: &Record, counted: &[Counted]) -> Result<Vec<Part>> {
    let mut parts = vec![
        Part { key: "summary", title: "Summary", blocks: summary(record)? },
        Part { key: "machine", title: "Machine and method", blocks: findings::machine(record) },
        Part { key: "peers", title: "Ours and others", blocks: findings::peers(record) },
        Part { key: "expand-p", title: "In multiples of expand_p", blocks: findings::multiples(record) },
    ];
    parts.push(part::<Techniques>(record)?);
    parts.push(part::<Kernels>(record)?);
    parts.push(part::<Batches>(record)?);
    parts.push(part::<Profile>(record)?);
    parts.push(part::<Credibility>(record)?);
    parts.push(Part { key: "published", title: "Published figures", blocks: published::blocks(record, counted) });
    Ok(parts)
}

/// What a part of the lab put into the record.
fn part<S: Section>(record: &Record) -> Result<Part> {
    let blocks = record.section::<S>()?.map(|section| section.blocks());
    let blocks =
        blocks.unwrap_or_else(|| vec![Block::Warning(format!("the record has no {}: it was not measured", S::KEY))]);
    Ok(Part { key: S::KEY, title: S::TITLE, blocks })
}

fn file_name(path: &Path) -> String {
    path.file_name().map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::planted;

    fn full() -> Record {
        let mut cells = Vec::new();
        for (i, set) in ["MAYO_1", "MAYO_2", "MAYO_3", "MAYO_5"].into_iter().enumerate() {
            for round in [2, 3] {
                for (j, operation) in ["keygen", "expand_p", "sign", "verify"].into_iter().enumerate() {
                    cells.push(("avx2", round, set, operation, 1000.0 * (4 * i + j + 1) as f64));
                    cells.push(("portable", round, set, operation, 3000.0 * (4 * i + j + 1) as f64));
                }
            }
        }
        let mut record = planted(4.0, &cells);
        let mut peer = record.results[0].clone();
        peer.label.implementation = "liboqs".into();
        peer.median_ns *= 2.5;
        record.results.push(peer);
        record
    }

    fn written(record: &Record, format: Format) -> (tempfile::TempDir, String) {
        let folder = tempfile::tempdir().unwrap();
        let path = write(&[("r.json".into(), record.clone())], &[], folder.path(), format).unwrap();
        let text = fs::read_to_string(path).unwrap();
        (folder, text)
    }

    #[test]
    fn the_page_has_every_section_and_no_nan() {
        let record = full();
        let (_folder, page) = written(&record, Format::Html);
        for part in parts(&record, &[]).unwrap() {
            assert!(page.contains(&format!("<section id=\"{}\">", part.key)), "{}", part.key);
            assert!(page.contains(part.title), "{}", part.title);
        }
        let (page, script) = page.split_once("<script").unwrap();
        assert!(!page.contains("NaN") && !page.contains(">inf"), "a figure is none");
        for tag in ["section", "table", "figure", "details", "div", "tr", "td", "p"] {
            let open = page.matches(&format!("<{tag} ")).count() + page.matches(&format!("<{tag}>")).count();
            assert_eq!(open, page.matches(&format!("</{tag}>")).count(), "{tag}");
        }
        assert!(page.contains("Planted 1000"), "the machine");
        // No address is loaded when the page is opened.
        assert!(!page.contains("src=") && !page.contains("@import"));
        let charts = script.split_once("id=\"charts\">").unwrap().1.split_once("</script>").unwrap().0;
        let charts: serde_json::Value = serde_json::from_str(charts).unwrap();
        assert_eq!(charts.as_array().unwrap().len(), page.matches("<figure").count());
        assert_eq!(charts[0]["name"], "peers-ratio");
        assert_eq!(charts[0]["bars"]["groups"][0][1][0], 2.5, "{}", charts[0]);
    }

    #[test]
    fn markdown_has_the_same_sections() {
        let record = full();
        let (_folder, text) = written(&record, Format::Markdown);
        for part in parts(&record, &[]).unwrap() {
            assert!(text.contains(&format!("## {}", part.title)), "{}", part.title);
        }
        assert!(!text.contains("NaN"));
        assert!(text.contains("| liboqs avx2 |"), "{text}");
    }

    #[test]
    fn a_record_of_almost_nothing_is_reported_too() {
        let (_folder, page) = written(&planted(4.0, &[]), Format::Html);
        for missing in ["techniques", "kernel", "profile", "credibility"] {
            assert!(page.contains(&format!("the record has no {missing}")), "{missing}");
        }
        assert!(!page.split_once("<script").unwrap().0.contains("NaN"));
        assert!(write(&[], &[], Path::new("nowhere"), Format::Html).is_err());
    }

    #[test]
    fn several_records_stand_one_after_the_other() {
        let folder = tempfile::tempdir().unwrap();
        let records = [("a.json".to_owned(), full()), ("b<.json".to_owned(), planted(4.0, &[]))];
        let page = fs::read_to_string(write(&records, &[], folder.path(), Format::Html).unwrap()).unwrap();
        assert!(page.contains("<section id=\"r2-peers\">") && page.contains("b&lt;.json"));
    }
}
