//! Blocks as HTML and as Markdown.

use super::Chapter;
use crate::record::Record;
use crate::show::{Block, Chart, Table};
use anyhow::Result;

/// Records with their names and chapters.
type Records<'a> = [(&'a str, &'a Record, Vec<Chapter>)];

/// The page.
///
/// # Errors
///
/// If a record cannot be written as JSON.
pub(super) fn html(records: &Records<'_>) -> Result<String> {
    let mut body = String::new();
    let mut charts = Vec::new();
    for (index, (name, record, chapters)) in records.iter().enumerate() {
        // The sections of the first record have plain ids, for links from elsewhere.
        let id = |key: &str| if index == 0 { key.to_owned() } else { format!("r{}-{key}", index + 1) };
        body += &format!("<h1>{}: {}</h1>\n<nav aria-label=\"Sections\">", TITLE, escaped(&record.machine.cpu));
        let link = |chapter: &Chapter| format!("<a href=\"#{}\">{}</a>", id(chapter.key), chapter.title);
        body += &chapters.iter().map(link).collect::<String>();
        body += "</nav>\n";
        body += &format!(
            "<p>Measured {}with aioli {}, commit {}. From the record {name}: <a download=\"{name}\" \
             href='{}'>JSON</a>, <a download=\"results.csv\" href='{}'>results as CSV</a>.</p>\n",
            record.machine.date.as_ref().map_or(String::new(), |date| format!("on {} ", escaped(date))),
            escaped(record.machine.crates.get("aioli").map_or("of an unknown version", String::as_str)),
            escaped(record.machine.checkout.short()),
            data_address("application/json", &serde_json::to_string(record)?),
            data_address("text/csv", &csv(record)),
            name = escaped(name),
        );
        for chapter in chapters {
            body += &format!("<section id=\"{}\"><h2>{}</h2>\n", id(chapter.key), escaped(chapter.title));
            body += &chapter.blocks.iter().map(|shown| block(shown, &mut charts)).collect::<String>();
            body += "</section>\n";
        }
    }
    Ok(format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" \
         content=\"width=device-width, initial-scale=1\"><meta http-equiv=\"Content-Security-Policy\" \
         content=\"default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'\"><title>{TITLE}</title>\n\
         <style>{STYLE}</style></head>\n<body><main>\n{body}</main>\n\
         <script type=\"application/json\" id=\"charts\">{}</script>\n\
         <script>{D3}</script>\n<script>{PLOT}</script>\n<script>{CHARTS}</script>\n</body></html>\n",
        // Text with an end tag in it must not end the script.
        serde_json::to_string(&charts)?.replace('<', "\\u003c"),
    ))
}

/// The report as Markdown, with the numbers of the charts as tables.
pub(super) fn markdown(records: &Records<'_>) -> String {
    let mut text = String::new();
    for (name, record, chapters) in records {
        text += &format!("# {TITLE}: {}\n\nFrom the record {name}.\n", record.machine.cpu);
        for chapter in chapters {
            text += &format!("\n## {}\n\n", chapter.title);
            for block in &chapter.blocks {
                text += &match block {
                    Block::Text(text) => format!("{text}\n\n"),
                    Block::Warning(text) => format!("> **Warning:** {text}\n\n"),
                    Block::Table(table) => markdown_table(table),
                    Block::Chart(chart) => markdown_table(&chart.table()),
                };
            }
        }
    }
    text
}

/// A block as HTML. A chart is appended to `charts`, and its index there tells the page's script
/// which one to draw.
fn block<'a>(block: &'a Block, charts: &mut Vec<&'a Chart>) -> String {
    match block {
        Block::Text(text) => format!("<p>{}</p>\n", prose(text)),
        Block::Warning(text) => format!("<p class=\"warning\"><strong>Warning:</strong> {}</p>\n", prose(text)),
        Block::Table(found) if found.folded => {
            format!("<details><summary>{}</summary>{}</details>\n", prose(&found.title), table(found))
        }
        Block::Table(found) => format!("<h3>{}</h3>\n{}", prose(&found.title), table(found)),
        Block::Chart(chart) => {
            charts.push(chart);
            format!(
                "<figure data-chart=\"{}\" data-name=\"{}\" data-values=\"{}\"><figcaption>{}</figcaption></figure>\n\
                 <details><summary>The numbers</summary>{}</details>\n",
                charts.len() - 1,
                escaped(&chart.name),
                chart.size(),
                prose(&chart.title),
                table(&chart.table())
            )
        }
    }
}

/// Text escaped for HTML, with names between backticks as code.
fn prose(text: &str) -> String {
    let parts: Vec<String> = text.split('`').map(escaped).collect();
    // An even number of backticks leaves an odd number of parts, of which every second is a name.
    if parts.len().is_multiple_of(2) {
        return escaped(text);
    }
    let part = |(i, part): (usize, &String)| if i % 2 == 1 { format!("<code>{part}</code>") } else { part.clone() };
    parts.iter().enumerate().map(part).collect()
}

/// `text` escaped for HTML, attributes included.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

fn table(table: &Table) -> String {
    let cells = |row: &[String], tag: &str| -> String {
        let class = |i: usize| if table.is_numeric(i) { " class=\"number\"" } else { "" };
        row.iter().enumerate().map(|(i, cell)| format!("<{tag}{}>{}</{tag}>", class(i), escaped(cell))).collect()
    };
    let rows: String = table
        .rows
        .iter()
        .enumerate()
        .map(|(i, row)| {
            let class = if table.highlighted.contains(&i) { " class=\"highlighted\"" } else { "" };
            format!("<tr{class}>{}</tr>\n", cells(row, "td"))
        })
        .collect();
    // A wide table scrolls inside its own box, which the keyboard can reach.
    format!(
        "<div class=\"table\" tabindex=\"0\" role=\"region\" aria-label=\"{}\"><table><thead><tr>{}</tr></thead>\n\
         <tbody>\n{rows}</tbody></table></div>\n",
        escaped(&table.title),
        cells(&table.header, "th")
    )
}

fn markdown_table(table: &Table) -> String {
    let line = |cells: &mut dyn Iterator<Item = String>| format!("| {} |\n", cells.collect::<Vec<_>>().join(" | "));
    let cell = |text: &String| text.replace('|', "\\|");
    let mut text = format!("**{}**\n\n", table.title);
    text += &line(&mut table.header.iter().map(cell));
    text += &line(&mut (0..table.header.len()).map(|i| if table.is_numeric(i) { "---:".into() } else { "---".into() }));
    for (i, row) in table.rows.iter().enumerate() {
        let bold = |text: String| if text.is_empty() { text } else { format!("**{text}**") };
        let highlighted = table.highlighted.contains(&i) && table.highlighted.len() < table.rows.len();
        text += &line(&mut row.iter().map(cell).map(|text| if highlighted { bold(text) } else { text }));
    }
    text + "\n"
}

/// The results of a record as comma-separated values.
fn csv(record: &Record) -> String {
    let mut text =
        "implementation,version,backend,round,set,operation,median_ns,q1_ns,q3_ns,median_cycles,samples\n".to_owned();
    for result in &record.results {
        let label = &result.label;
        let round = label.round.map_or(String::new(), |round| round.to_string());
        let cycles = result.median_cycles.map_or(String::new(), |cycles| cycles.to_string());
        let fields = [&label.implementation, &label.version, &label.backend, &round, &label.set, &result.operation];
        text += &fields.map(|field| quoted(field)).join(",");
        text += &format!(",{},{},{},{cycles},{}\n", result.median_ns, result.q1_ns, result.q3_ns, result.samples);
    }
    text
}

/// A field of comma-separated values.
fn quoted(field: &str) -> String {
    if field.contains([',', '"', '\n']) { format!("\"{}\"", field.replace('"', "\"\"")) } else { field.to_owned() }
}

/// A data address that contains the text itself, escaped for an attribute in single quotes.
fn data_address(kind: &str, text: &str) -> String {
    let mut address = format!("data:{kind};charset=utf-8,");
    for byte in text.bytes() {
        match byte {
            b'\'' | b'%' | b'#' | b'?' | b'&' | b'<' | b'>' => address += &format!("%{byte:02X}"),
            _ if byte.is_ascii_graphic() => address.push(byte.into()),
            _ => address += &format!("%{byte:02X}"),
        }
    }
    address
}

const TITLE: &str = "MAYO measured";

const STYLE: &str = include_str!("../../web/page.css");
const CHARTS: &str = include_str!("../../web/charts.js");
/// Observable Plot, and D3 under it. web/README.md says why these, and where they are from.
const PLOT: &str = include_str!("../../web/vendor/plot.js");
const D3: &str = include_str!("../../web/vendor/d3.js");

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::planted;

    #[test]
    fn text_from_records_cannot_become_markup() {
        let mut found = Table::new("<t>", ["a<b"]);
        found.row(["\"x\" & <script>"]);
        let html = block(&Block::Table(found), &mut Vec::new());
        assert!(!html.contains("<script>") && html.contains("&quot;x&quot; &amp; &lt;script&gt;"), "{html}");
    }

    #[test]
    fn names_between_backticks_are_code() {
        assert_eq!(prose("`a<b` is `c`"), "<code>a&lt;b</code> is <code>c</code>");
        assert_eq!(prose("one ` alone"), "one ` alone");
    }

    #[test]
    fn long_tables_are_folded_under_their_title() {
        let html = block(&Block::Table(Table::new("long", ["a"]).folded()), &mut Vec::new());
        assert!(html.starts_with("<details><summary>long</summary>") && html.contains("<table>"), "{html}");
    }

    #[test]
    fn scripts_do_not_end_before_their_end() {
        assert!([D3, PLOT, CHARTS].iter().all(|script| !script.contains("</script") && !script.contains("<!--")));
    }

    #[test]
    fn csv_has_a_line_for_each_cell() {
        let record = planted(4.0, &[("avx2", 3, "MAYO_1", "sign", 1500.0)]);
        let text = csv(&record);
        let expected = format!("aioli,{},avx2,3,MAYO_1,sign,1500,1500,1500,3000,1", record.results[0].label.version);
        assert_eq!(text.lines().nth(1), Some(&*expected));
        assert_eq!(quoted("a,\"b\""), "\"a,\"\"b\"\"\"");
    }

    #[test]
    fn data_addresses_are_encoded() {
        assert_eq!(data_address("text/csv", "a\"b c\n'"), "data:text/csv;charset=utf-8,a\"b%20c%0A%27");
    }
}
