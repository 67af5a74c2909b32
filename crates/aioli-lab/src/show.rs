//! Text, tables and charts, and their form on the terminal. `report/page.rs` has their forms as
//! HTML and Markdown.

use comfy_table::{CellAlignment, presets};
use serde::Serialize;

/// A piece of the output of a chapter.
#[derive(Clone, Debug)]
pub(crate) enum Block {
    /// A paragraph.
    Text(String),
    /// A sentence that a reader must not miss.
    Warning(String),
    /// A table.
    Table(Table),
    /// A chart, shown as a table of its numbers on the terminal and in Markdown.
    Chart(Chart),
}

/// A table; columns of numbers are aligned to the right.
#[derive(Clone, Debug, Default)]
pub(crate) struct Table {
    pub(crate) title: String,
    pub(crate) header: Vec<String>,
    pub(crate) rows: Vec<Vec<String>>,
    /// The indices of rows that stand out.
    pub(crate) highlighted: Vec<usize>,
    /// Whether a page shows its title alone until a reader opens it.
    pub(crate) folded: bool,
}

impl Table {
    /// An empty table.
    pub(crate) fn new<H: Into<String>>(title: impl Into<String>, header: impl IntoIterator<Item = H>) -> Self {
        let header = header.into_iter().map(Into::into).collect();
        Self { title: title.into(), header, ..Self::default() }
    }

    /// The same table, folded: for what backs other figures up, or is long.
    pub(crate) fn folded(self) -> Self {
        Self { folded: true, ..self }
    }

    /// Adds a row.
    pub(crate) fn row<C: Into<String>>(&mut self, cells: impl IntoIterator<Item = C>) {
        self.rows.push(cells.into_iter().map(Into::into).collect());
    }

    /// Whether most cells of a column are numbers.
    pub(crate) fn is_numeric(&self, column: usize) -> bool {
        let cells = || self.rows.iter().filter_map(|row| row.get(column)).filter(|cell| !cell.is_empty());
        let number = |cell: &&String| cell.starts_with(|c: char| c.is_ascii_digit() || c == '-');
        column > 0 && 2 * cells().filter(number).count() > cells().count() && cells().all(|cell| cell.len() < 40)
    }

    /// Adds a row that stands out.
    pub(crate) fn highlighted_row<C: Into<String>>(&mut self, cells: impl IntoIterator<Item = C>) {
        self.highlighted.push(self.rows.len());
        self.row(cells);
    }
}

/// A chart. Its JSON is the input of `web/charts.js`, which draws it.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Chart {
    /// Its name in the page and as a file.
    pub(crate) name: String,
    pub(crate) title: String,
    /// The label of the horizontal axis.
    pub(crate) x: String,
    /// The label of the vertical axis, with its unit.
    pub(crate) y: String,
    /// Whether the vertical axis is logarithmic, and with [`Marks::Curves`] the horizontal one too.
    pub(crate) log: bool,
    #[serde(flatten)]
    pub(crate) marks: Marks,
}

/// The marks of a chart.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Marks {
    /// Bars side by side in groups.
    Bars {
        /// The names of the bars, the same in every group.
        series: Vec<String>,
        /// The groups by name, each with one value for each series, or none.
        groups: Vec<(String, Vec<Option<f64>>)>,
    },
    /// Points, and lines through points.
    Curves(Vec<Curve>),
}

/// Points that belong together.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Curve {
    pub(crate) name: String,
    pub(crate) points: Vec<(f64, f64)>,
    /// Whether a line connects them; otherwise they are dots.
    pub(crate) line: bool,
}

impl Chart {
    /// The number of marks: one for each bar, each connected curve, and each dot.
    pub(crate) fn size(&self) -> usize {
        match &self.marks {
            Marks::Bars { groups, .. } => groups.iter().map(|(_, values)| values.iter().flatten().count()).sum(),
            Marks::Curves(curves) => curves.iter().map(|curve| if curve.line { 1 } else { curve.points.len() }).sum(),
        }
    }

    /// Its numbers as a table.
    pub(crate) fn table(&self) -> Table {
        match &self.marks {
            Marks::Bars { series, groups } => {
                let header = std::iter::once("").chain(series.iter().map(String::as_str));
                let mut table = Table::new(format!("{}: {}", self.title, self.y), header);
                for (name, values) in groups {
                    let cell = |value: &Option<f64>| value.map_or(String::new(), significant);
                    table.row(std::iter::once(name.clone()).chain(values.iter().map(cell)));
                }
                table
            }
            Marks::Curves(curves) => {
                let mut table = Table::new(self.title.clone(), ["", &self.x, &self.y]);
                for curve in curves {
                    for &(x, y) in &curve.points {
                        table.row([curve.name.clone(), significant(x), significant(y)]);
                    }
                }
                table
            }
        }
    }
}

/// All blocks as text for the terminal.
pub(crate) fn text(blocks: &[Block]) -> String {
    blocks
        .iter()
        .map(|block| match block {
            Block::Text(text) => format!("{text}\n"),
            Block::Warning(text) => format!("WARNING: {text}\n"),
            Block::Table(table) => format!("\n{}\n", table_text(table)),
            Block::Chart(chart) => format!("\n{}\n", table_text(&chart.table())),
        })
        .collect()
}

fn table_text(table: &Table) -> String {
    let mut shown = comfy_table::Table::new();
    shown.load_preset(presets::NOTHING);
    shown.set_header(std::iter::once("").chain(table.header.iter().map(String::as_str)));
    for (i, row) in table.rows.iter().enumerate() {
        let mark = if table.highlighted.contains(&i) { ">" } else { "" };
        shown.add_row(std::iter::once(mark).chain(row.iter().map(String::as_str)));
    }
    for (i, column) in shown.column_iter_mut().skip(1).enumerate() {
        if table.is_numeric(i) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    format!("{}\n{}", table.title, shown.trim_fmt())
}

/// The number with at least three significant digits, as few decimals as that takes, and commas
/// between thousands.
pub(crate) fn significant(value: f64) -> String {
    if !value.is_finite() {
        return String::new();
    }
    let decimals = match value.abs() {
        0.0 => 0,
        size if size < 1.0 => (3 - (size.log10().floor() as i32 + 1)).clamp(0, 9) as usize,
        size if size < 10.0 => 2,
        size if size < 100.0 => 1,
        _ => 0,
    };
    let text = format!("{value:.decimals$}");
    let (whole, fraction) = text.split_once('.').map_or((&*text, None), |(whole, fraction)| (whole, Some(fraction)));
    let (sign, digits) = whole.strip_prefix('-').map_or(("", whole), |digits| ("-", digits));
    let mut grouped = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    let fraction = fraction.map_or(String::new(), |fraction| format!(".{fraction}"));
    format!("{sign}{grouped}{fraction}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_three_digits_and_separated_thousands() {
        for (value, text) in [
            (0.0, "0"),
            (0.001_234, "0.00123"),
            (0.5, "0.500"),
            (1.234, "1.23"),
            (12.34, "12.3"),
            (123.4, "123"),
            (1_234_567.0, "1,234,567"),
            (-1234.0, "-1,234"),
            (f64::NAN, ""),
        ] {
            assert_eq!(significant(value), text);
        }
    }

    #[test]
    fn charts_are_tables_too() {
        let marks =
            Marks::Bars { series: vec!["a".into(), "b".into()], groups: vec![("g".into(), vec![Some(2.0), None])] };
        let chart = Chart { name: "n".into(), title: "t".into(), x: String::new(), y: "us".into(), log: false, marks };
        assert_eq!(chart.size(), 1);
        let table = chart.table();
        assert_eq!(table.header, ["", "a", "b"]);
        assert_eq!(table.rows, [["g", "2.00", ""]]);
        assert!(text(&[Block::Chart(chart)]).contains("t: us"));
    }

    #[test]
    fn columns_of_numbers_are_known() {
        let mut table = Table::new("title", ["1", "value", "text"]);
        table.row(["1", "-2.5", "OK"]);
        table.row(["1", "3,000 (suspect)", "12 percent"]);
        assert_eq!([0, 1, 2].map(|column| table.is_numeric(column)), [false, true, false]);
    }

    #[test]
    fn highlighted_rows_are_marked() {
        let mut table = Table::new("title", ["name", "value"]);
        table.row(["plain", "1"]);
        table.highlighted_row(["ours", "2"]);
        let text = text(&[Block::Table(table)]);
        assert!(text.lines().any(|line| line.trim_start().starts_with('>') && line.contains("ours")), "{text}");
        assert!(text.lines().any(|line| !line.contains('>') && line.contains("plain")), "{text}");
    }
}
