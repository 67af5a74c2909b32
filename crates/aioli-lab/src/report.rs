//! `aioli-lab report`: records as a web page or as Markdown.
//!
//! The page is one HTML file that needs no network. It has tables, charts drawn by a library in the
//! page, a table with the numbers of each chart, and the records for download. Markdown has the
//! same without charts.

mod batches;
mod findings;
mod page;

use crate::chapter::Section;
use crate::credibility::Credibility;
use crate::gpu::Batches;
use crate::kernel::Kernels;
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
    /// Records of instructions executed on emulated processors, for the chapter on published
    /// figures
    #[arg(long, num_args = 1.., value_name = "RECORD")]
    counted: Vec<PathBuf>,
    /// Folder for the report, created if missing
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Form of the report
    #[arg(long, value_enum, default_value_t = Format::Html)]
    format: Format,
}

/// The forms of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Format {
    /// report.html
    Html,
    /// report.md, with the numbers of the charts as tables
    Markdown,
}

/// Writes the report of stored records.
///
/// # Errors
///
/// Errors of the files.
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

/// Writes a report and returns its path. It replaces an earlier report, which can be made again
/// from its records.
///
/// # Errors
///
/// Errors of the files; and if a section of a record has another form than this version writes.
pub(crate) fn write(
    records: &[(String, Record)],
    counted: &[Counted],
    folder: &Path,
    format: Format,
) -> Result<PathBuf> {
    ensure!(!records.is_empty(), "no record to report");
    fs::create_dir_all(folder).with_context(|| format!("{}", folder.display()))?;
    let chapters = records
        .iter()
        .map(|(name, record)| Ok((name.as_str(), record, chapters(record, counted)?)))
        .collect::<Result<Vec<(&str, &Record, Vec<Chapter>)>>>()?;
    let (name, text) = match format {
        Format::Html => ("report.html", page::html(&chapters)?),
        Format::Markdown => ("report.md", page::markdown(&chapters)),
    };
    let path = folder.join(name);
    fs::write(&path, text).with_context(|| format!("{}", path.display()))?;
    Ok(path)
}

/// The summary of a record.
///
/// # Errors
///
/// If a section of the record has another form than this version writes.
pub(crate) fn summary(record: &Record) -> Result<Vec<Block>> {
    let verdict = record.section::<Credibility>()?.map(|section| section.verdict());
    Ok(findings::summary(record, verdict.as_deref()))
}

/// A chapter of the report.
struct Chapter {
    /// Its identifier in links.
    key: &'static str,
    title: &'static str,
    blocks: Vec<Block>,
}

/// All chapters of a record. A chapter without a section in the record says so.
fn chapters(record: &Record, counted: &[Counted]) -> Result<Vec<Chapter>> {
    let mut chapters = vec![
        Chapter { key: "summary", title: "Summary", blocks: summary(record)? },
        Chapter { key: "machine", title: "Machine and method", blocks: findings::machine(record) },
        Chapter { key: "peers", title: "Ours and others", blocks: findings::peers(record) },
        Chapter { key: "expand-p", title: "In multiples of expand_p", blocks: findings::multiples(record) },
    ];
    chapters.push(Chapter { key: "batches", title: "Batches by threads", blocks: batches::blocks(record) });
    chapters.push(chapter::<Techniques>(record)?);
    chapters.push(chapter::<Kernels>(record)?);
    chapters.push(chapter::<Batches>(record)?);
    chapters.push(chapter::<Profile>(record)?);
    chapters.push(chapter::<Credibility>(record)?);
    chapters.push(Chapter { key: "published", title: "Published figures", blocks: published::blocks(record, counted) });
    Ok(chapters)
}

/// The chapter for a section of the record.
fn chapter<S: Section>(record: &Record) -> Result<Chapter> {
    let blocks = record.section::<S>()?.map(|section| section.blocks());
    let blocks = blocks.unwrap_or_else(|| {
        vec![Block::Warning(format!("the record has no {0}, which was not measured: `aioli-lab {0}` does it", S::KEY))]
    });
    Ok(Chapter { key: S::KEY, title: S::TITLE, blocks })
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
        for chapter in chapters(&record, &[]).unwrap() {
            assert!(page.contains(&format!("<section id=\"{}\">", chapter.key)), "{}", chapter.key);
            assert!(page.contains(chapter.title), "{}", chapter.title);
        }
        let (page, script) = page.split_once("<script").unwrap();
        assert!(!page.contains("NaN") && !page.contains(">inf"), "a figure is not a number");
        for tag in ["section", "table", "figure", "details", "div", "tr", "td", "p"] {
            let open = page.matches(&format!("<{tag} ")).count() + page.matches(&format!("<{tag}>")).count();
            assert_eq!(open, page.matches(&format!("</{tag}>")).count(), "{tag}");
        }
        assert!(page.contains("Planted 1000"), "the machine");
        // The page loads nothing when it is opened.
        assert!(!page.contains("src=") && !page.contains("@import"));
        let charts = script.split_once("id=\"charts\">").unwrap().1.split_once("</script>").unwrap().0;
        let charts: serde_json::Value = serde_json::from_str(charts).unwrap();
        assert_eq!(charts.as_array().unwrap().len(), page.matches("<figure").count());
        assert_eq!(charts[0]["name"], "story");
        let ratio = charts.as_array().unwrap().iter().find(|chart| chart["name"] == "peers-ratio").unwrap();
        assert_eq!(ratio["bars"]["groups"][0][1][0], 2.5, "{ratio}");
    }

    #[test]
    fn markdown_has_the_same_sections() {
        let record = full();
        let (_folder, text) = written(&record, Format::Markdown);
        for chapter in chapters(&record, &[]).unwrap() {
            assert!(text.contains(&format!("## {}", chapter.title)), "{}", chapter.title);
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
