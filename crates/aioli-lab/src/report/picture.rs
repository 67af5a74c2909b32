//! Charts as SVG: small enough to write by hand, so that a page needs no script, a bar says its value when pointed at,
//! and colours follow the reader's choice of light or dark.

use crate::show::{Chart, Curve, Marks, significant};
use std::fmt::Write;

/// The picture, complete in itself.
pub(crate) fn svg(chart: &Chart) -> String {
    let names: Vec<&str> = match &chart.marks {
        Marks::Bars { series, .. } => series.iter().map(String::as_str).collect(),
        Marks::Curves(curves) => curves.iter().map(|curve| &*curve.name).collect(),
    };
    let (legend, top) = legend(&names);
    let height = top + PLOT_HEIGHT + BELOW;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" aria-label=\"{0}\">\
         <style>{STYLE}</style><rect class=\"ground\" width=\"{WIDTH}\" height=\"{height}\"/>\
         <text class=\"title\" x=\"{LEFT}\" y=\"24\">{0}</text>{legend}",
        escaped(&chart.title)
    );
    let (x_middle, y_middle) = ((LEFT + WIDTH - RIGHT) / 2.0, top + PLOT_HEIGHT / 2.0);
    let _ = write!(
        svg,
        "<text class=\"axis\" transform=\"translate(16 {y_middle}) rotate(-90)\" text-anchor=\"middle\">{}</text>\
         <text class=\"axis\" x=\"{x_middle}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
        escaped(&chart.y),
        height - 8.0,
        escaped(&chart.x)
    );
    match &chart.marks {
        Marks::Bars { groups, series } => bars(&mut svg, chart, top, groups, series),
        Marks::Curves(drawn) => curves(&mut svg, chart, top, drawn),
    }
    svg + "</svg>\n"
}

/// `text` for use inside of XML and HTML, attributes included.
pub(crate) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

fn bars(svg: &mut String, chart: &Chart, top: f64, groups: &[(String, Vec<Option<f64>>)], series: &[String]) {
    let values = groups.iter().flat_map(|(_, values)| values.iter().flatten().copied());
    let Some(scale) = Scale::of(values, chart.log) else { return };
    let y = |value: f64| top + PLOT_HEIGHT * (1.0 - scale.at(value));
    grid(svg, &scale, &y);
    let width = (WIDTH - LEFT - RIGHT) / groups.len().max(1) as f64;
    let bar = 0.84 * width / series.len().max(1) as f64;
    for (i, (group, values)) in groups.iter().enumerate() {
        let left = LEFT + width * (i as f64 + 0.08);
        for (j, value) in values.iter().enumerate() {
            let Some(value) = value.filter(|value| value.is_finite()) else { continue };
            let (x, y0, text) = (left + bar * j as f64, y(value), significant(value));
            let _ = write!(
                svg,
                "<rect class=\"mark\" fill=\"{}\" x=\"{x:.1}\" y=\"{y0:.1}\" width=\"{:.1}\" height=\"{:.1}\"><title>{} \
                 {}: {text}</title></rect>",
                colour(j),
                (bar - 1.0).max(0.5),
                (top + PLOT_HEIGHT - y0).max(0.5),
                escaped(group),
                escaped(series.get(j).map_or("", String::as_str)),
            );
            // Where there is room for it.
            if bar >= 6.0 * text.len() as f64 {
                let (x, y0) = (x + bar / 2.0, y0 - 4.0);
                let _ = write!(
                    svg,
                    "<text class=\"value\" x=\"{x:.1}\" y=\"{y0:.1}\" text-anchor=\"middle\">{text}</text>"
                );
            }
        }
        let (x, y) = (LEFT + width * (i as f64 + 0.5), top + PLOT_HEIGHT + 18.0);
        let _ = write!(
            svg,
            "<text class=\"label\" x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"middle\">{}</text>",
            escaped(group)
        );
    }
}

fn curves(svg: &mut String, chart: &Chart, top: f64, curves: &[Curve]) {
    let points = || curves.iter().flat_map(|curve| curve.points.iter().copied());
    let scales = Scale::of(points().map(|(x, _)| x), chart.log).zip(Scale::of(points().map(|(_, y)| y), chart.log));
    let Some((x_scale, y_scale)) = scales else { return };
    let x = |value: f64| LEFT + (WIDTH - LEFT - RIGHT) * x_scale.at(value);
    let y = |value: f64| top + PLOT_HEIGHT * (1.0 - y_scale.at(value));
    grid(svg, &y_scale, &y);
    for tick in x_scale.ticks() {
        let (x, y) = (x(tick), top + PLOT_HEIGHT + 18.0);
        let _ = write!(
            svg,
            "<text class=\"label\" x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"middle\">{}</text>",
            plain(tick)
        );
    }
    for (i, curve) in curves.iter().enumerate() {
        let points: Vec<(f64, f64)> =
            curve.points.iter().copied().filter(|(x, y)| x.is_finite() && y.is_finite()).collect();
        if curve.line {
            let path: Vec<String> = points.iter().map(|&(px, py)| format!("{:.1},{:.1}", x(px), y(py))).collect();
            let _ = write!(
                svg,
                "<polyline class=\"mark\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\" points=\"{}\"/>",
                colour(i),
                path.join(" ")
            );
        }
        for &(px, py) in &points {
            let _ = write!(
                svg,
                "<circle class=\"mark\" fill=\"{}\" cx=\"{:.1}\" cy=\"{:.1}\" r=\"{}\"><title>{}: {}, {}</title></circle>",
                colour(i),
                x(px),
                y(py),
                if curve.line { 2 } else { 5 },
                escaped(&curve.name),
                significant(px),
                significant(py)
            );
        }
    }
}

/// Horizontal lines at the ticks, with their values.
fn grid(svg: &mut String, scale: &Scale, y: &dyn Fn(f64) -> f64) {
    for tick in scale.ticks() {
        let y = y(tick);
        let _ = write!(
            svg,
            "<line class=\"grid\" x1=\"{LEFT}\" x2=\"{}\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>\
             <text class=\"label\" x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            WIDTH - RIGHT,
            LEFT - 6.0,
            y + 4.0,
            plain(tick)
        );
    }
}

/// The legend in as many lines as it takes, and where the plot begins below it.
fn legend(names: &[&str]) -> (String, f64) {
    let (mut svg, mut x, mut y) = (String::new(), LEFT, 46.0);
    for (i, name) in names.iter().enumerate() {
        let width = 28.0 + 6.6 * name.chars().count() as f64;
        if x + width > WIDTH - RIGHT && x > LEFT {
            (x, y) = (LEFT, y + 18.0);
        }
        let _ = write!(
            svg,
            "<rect fill=\"{}\" x=\"{x:.1}\" y=\"{:.1}\" width=\"12\" height=\"12\"/><text class=\"label\" x=\"{:.1}\" \
             y=\"{y}\">{}</text>",
            colour(i),
            y - 10.0,
            x + 17.0,
            escaped(name)
        );
        x += width;
    }
    (svg, y + 24.0)
}

/// From values to shares of an axis.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Scale {
    from: f64,
    to: f64,
    log: bool,
}

impl Scale {
    /// With round ends, so that the values fit: from zero, or from a power of ten if logarithmic. Nothing without values.
    fn of(values: impl Iterator<Item = f64>, log: bool) -> Option<Self> {
        let values = values.filter(|value| value.is_finite() && (!log || *value > 0.0));
        let (least, most) =
            values.fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), value| (least.min(value), most.max(value)));
        if least > most {
            return None;
        }
        if log {
            // Something of the smallest bar is seen too.
            let from = [5.0, 2.0, 1.0].map(|n| n * 10f64.powf((least / 1.3).log10().floor()));
            let from = from.into_iter().find(|&from| from <= least / 1.3).unwrap_or(from[2]);
            return Some(Self { from, to: most * 1.3, log });
        }
        Some(Self { from: least.min(0.0) * 1.1, to: if most > 0.0 { most * 1.1 } else { 1.0 }, log })
    }

    fn at(&self, value: f64) -> f64 {
        let share = if self.log {
            (value / self.from).ln() / (self.to / self.from).ln()
        } else {
            (value - self.from) / (self.to - self.from)
        };
        share.clamp(0.0, 1.0)
    }

    /// Round values on the axis: 1, 2, 5, 10, 20 if logarithmic, else about five steps.
    fn ticks(&self) -> Vec<f64> {
        let decade = |value: f64| 10f64.powi(value.log10().floor() as i32);
        if self.log {
            let mut ticks = Vec::new();
            let mut power = decade(self.from);
            let few = self.to / self.from < 2000.0;
            while power <= self.to {
                let multiples: &[f64] = if few { &[1.0, 2.0, 5.0] } else { &[1.0] };
                ticks.extend(multiples.iter().map(|n| n * power));
                power *= 10.0;
            }
            ticks.retain(|&tick| tick >= self.from * 0.999 && tick <= self.to);
            return ticks;
        }
        let rough = (self.to - self.from) / 5.0;
        let step = [1.0, 2.0, 5.0, 10.0].map(|n| n * decade(rough)).into_iter().find(|&step| step >= rough);
        let step = step.unwrap_or(rough);
        let first = (self.from / step).ceil() as i64;
        (first..).map(|i| i as f64 * step).take_while(|&tick| tick <= self.to).collect()
    }
}

/// A round number without zeros at its end.
fn plain(value: f64) -> String {
    if value >= 1000.0 {
        return significant(value);
    }
    let text = format!("{value:.6}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn colour(i: usize) -> &'static str {
    COLOURS[i % COLOURS.len()]
}

/// Okabe and Ito's, which people with any colour vision can tell apart.
const COLOURS: [&str; 8] = ["#0072b2", "#e69f00", "#009e73", "#d55e00", "#cc79a7", "#56b4e9", "#8a7f00", "#777777"];
const STYLE: &str = "text{font-family:system-ui,sans-serif;fill:#222;font-size:12px}.title{font-size:16px;font-weight:600}\
     .value{font-size:10px}.grid{stroke:#ddd}.ground{fill:#fff}\
     @media(prefers-color-scheme:dark){text{fill:#ddd}.grid{stroke:#444}.ground{fill:#181a1b}}";
const WIDTH: f64 = 960.0;
const PLOT_HEIGHT: f64 = 300.0;
const BELOW: f64 = 46.0;
const LEFT: f64 = 84.0;
const RIGHT: f64 = 16.0;

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(log: bool, marks: Marks) -> Chart {
        let [name, title, x, y] = ["name", "<title>", "x", "y"].map(Into::into);
        Chart { name, title, x, y, log, marks }
    }

    #[test]
    fn scales_have_round_ticks() {
        let scale = Scale::of([12.0, 450.0].into_iter(), true).unwrap();
        assert_eq!(scale.from, 5.0);
        assert_eq!(scale.ticks(), [5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0]);
        assert_eq!(scale.at(5.0), 0.0);
        let linear = Scale::of([1.0, 4.0].into_iter(), false).unwrap();
        assert_eq!(linear.ticks(), [0.0, 1.0, 2.0, 3.0, 4.0]);
        assert!((linear.at(2.2) - 0.5).abs() < 1e-12);
        assert_eq!(Scale::of([f64::NAN, -1.0].into_iter(), true), None);
        // Never without an end.
        assert!(Scale::of([0.0].into_iter(), false).unwrap().ticks().len() < 10);
    }

    #[test]
    fn bars_are_as_many_as_values_and_as_high() {
        let groups = vec![("a".into(), vec![Some(1.0), Some(2.0)]), ("b".into(), vec![None, Some(f64::NAN)])];
        let svg = svg(&chart(false, Marks::Bars { series: vec!["s".into(), "t".into()], groups }));
        assert_eq!(svg.matches("class=\"mark\"").count(), 2);
        assert!(!svg.contains("NaN"), "{svg}");
        assert!(svg.contains("&lt;title&gt;"), "escaped");
        let heights: Vec<f64> = svg
            .split("class=\"mark\"")
            .skip(1)
            .map(|rest| {
                let (_, rest) = rest.split_once("height=\"").unwrap();
                rest.split_once('"').unwrap().0.parse().unwrap()
            })
            .collect();
        assert!((heights[1] / heights[0] - 2.0).abs() < 0.01, "{heights:?}");
    }

    #[test]
    fn curves_are_lines_and_dots() {
        let points = vec![(1.0, 10.0), (100.0, 1000.0)];
        let line = Curve { name: "l".into(), points: points.clone(), line: true };
        let svg = svg(&chart(true, Marks::Curves(vec![line, Curve { name: "d".into(), points, line: false }])));
        assert_eq!(svg.matches("<polyline").count(), 1);
        assert_eq!(svg.matches("<circle").count(), 4);
        assert!(!svg.contains("NaN"), "{svg}");
    }
}
