// Draws the charts of a report. Each is an entry of the JSON in the page (`Chart` in src/show.rs)
// and a <figure data-chart="INDEX">. The figure gets a legend of buttons that hide a series, a
// switch between linear and logarithmic, and a drawing of its full width. Without scripts, tables
// below the figures say the same.
"use strict";

/**
 * Okabe and Ito's colours, distinct for people with any colour vision; more than eight series get a
 * rainbow.
 */
const OKABE_ITO = ["#0072b2", "#e69f00", "#009e73", "#d55e00", "#cc79a7", "#56b4e9", "#8a7f00", "#777777"];

/**
 * Below this width in pixels, bars are horizontal and their groups follow one another from top to
 * bottom.
 */
const NARROW = 600;

const format = (value) => Number(value.toPrecision(3)).toLocaleString("en");

/** One row for each value: {series, group, value} for bars, {series, x, y, line} for curves. */
function rowsOf({ bars, curves }) {
  return bars
    ? bars.groups.flatMap(([group, values]) =>
        values.map((value, i) => ({ series: bars.series[i], group, value })).filter(({ value }) => value !== null))
    : curves.flatMap(({ name, points, line }) =>
        points.filter(([x, y]) => x !== null && y !== null).map(([x, y]) => ({ series: name, x, y, line })));
}

/**
 * The lower end of a logarithmic axis: a round number below the least value, so that even its bar
 * is visible.
 */
function floorOf(values) {
  const below = Math.min(...values) / 1.3;
  const decade = 10 ** Math.floor(Math.log10(below));
  return [5, 2, 1].map((n) => n * decade).find((end) => end <= below) ?? decade;
}

function drawBars(chart, rows, width, log, color) {
  const lying = width < NARROW;
  const [x, y, fx] = lying ? ["y", "x", "fy"] : ["x", "y", "fx"];
  const bar = lying ? Plot.barX : Plot.barY;
  const heights = rows.map(({ value }) => value);
  const base = log && rows.length ? floorOf(heights) : 0;
  // Bars begin at the lower end of a logarithmic axis; a linear axis ends at round numbers.
  const scale = log ? { type: "log", domain: [base, 1.3 * Math.max(base, ...heights)] } : { nice: true };
  const groups = [...new Set(rows.map(({ group }) => group))];
  const series = color.domain.filter((name) => rows.some((row) => row.series === name));
  const roomy = !lying && width / groups.length / (series.length + 1) > 36;
  const values = lying ? { x1: base, x2: "value" } : { y1: base, y2: "value" };
  const tip = { [x]: "series", [y]: "value", [fx]: "group", title: (d) => `${d.group}\n${d.series}: ${format(d.value)}` };
  return {
    height: lying ? 60 + groups.length * (14 * series.length + 12) : 390,
    // The label of the axis stands clear of its ticks.
    ...(lying ? { marginBottom: 50 } : { marginTop: 32 }),
    marginLeft: lying ? 80 : 70,
    marginRight: lying ? 20 : 10,
    [fx]: { domain: groups, label: null, padding: 0.12 },
    [x]: { domain: series, axis: null, padding: 0.05 },
    [y]: { ...scale, label: chart.y, grid: true, tickFormat: format, ...(lying ? { labelOffset: 44 } : {}) },
    marks: [
      bar(rows, { [x]: "series", ...values, [fx]: "group", fill: "series", className: "mark" }),
      lying ? Plot.ruleX([base]) : Plot.ruleY([base]),
      ...(roomy ? [Plot.text(rows, { x: "series", y: "value", fx: "group", text: (d) => format(d.value), dy: -8 })] : []),
      Plot.tip(rows, (lying ? Plot.pointerY : Plot.pointerX)(tip)),
    ],
  };
}

function drawCurves(chart, rows, width, log, color) {
  const type = log ? "log" : "linear";
  const lines = rows.filter(({ line }) => line);
  const named = (d) => `${d.series}\n${format(d.x)}, ${format(d.y)}`;
  return {
    height: 440,
    marginTop: 32,
    marginLeft: 70,
    marginBottom: 50,
    x: { type, label: chart.x, labelOffset: 42, ticks: Math.min(10, width / 80), tickFormat: format },
    y: { type, label: chart.y, grid: true, nice: true, tickFormat: format },
    symbol: { domain: color.domain },
    marks: [
      Plot.line(lines, { x: "x", y: "y", stroke: "series", strokeWidth: 2, className: "mark" }),
      Plot.dot(rows.filter(({ line }) => !line),
        { x: "x", y: "y", stroke: "series", symbol: "series", r: 5, strokeWidth: 2, className: "mark" }),
      Plot.tip(rows, Plot.pointer({ x: "x", y: "y", title: named })),
    ],
  };
}

function show(figure, chart) {
  const rows = rowsOf(chart);
  const names = [...new Set(rows.map(({ series }) => series))];
  const colours = names.length <= OKABE_ITO.length ? OKABE_ITO : d3.quantize(d3.interpolateTurbo, names.length + 2).slice(1, -1);
  const color = { domain: names, range: colours.slice(0, names.length) };
  const hidden = new Set();
  let log = chart.log;

  const legend = document.createElement("div");
  legend.className = "legend";
  const drawing = document.createElement("div");
  const draw = () => {
    const shown = rows.filter(({ series }) => !hidden.has(series));
    const width = Math.max(300, figure.clientWidth);
    const options = (chart.bars ? drawBars : drawCurves)(chart, shown, width, log, color);
    drawing.replaceChildren(Plot.plot({ width, color, ariaLabel: chart.title, style: { fontSize: "12px" }, ...options }));
  };
  const button = (text, pressed, press) => {
    const made = document.createElement("button");
    made.type = "button";
    made.textContent = text;
    made.setAttribute("aria-pressed", pressed);
    made.addEventListener("click", () => {
      made.setAttribute("aria-pressed", press());
      draw();
    });
    legend.append(made);
    return made;
  };
  names.forEach((name, i) => {
    const swatch = document.createElement("span");
    swatch.style.background = color.range[i];
    button(name, true, () => {
      if (!hidden.delete(name)) hidden.add(name);
      return !hidden.has(name);
    }).prepend(swatch);
  });
  if (rows.every(({ value, x, y }) => (value ?? Math.min(x, y)) > 0)) {
    button("logarithmic", log, () => (log = !log)).className = "scale";
  }
  figure.append(legend, drawing);
  new ResizeObserver(draw).observe(figure);
}

const charts = JSON.parse(document.getElementById("charts").textContent);
for (const figure of document.querySelectorAll("figure[data-chart]")) {
  show(figure, charts[figure.dataset.chart]);
}
