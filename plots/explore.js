// The page that one explores: chooses, draws and lists what the sections of the figures carry as data.
//
// Each section of a figure has its curves (explore.py) as compressed JSON. Without this script the page shows the
// static drawings one below the other, and so does print. State is in the fragment of the address:
// #<id of a section>?view=…&metric=…, so a view is a link.
"use strict";

// --- elements -------------------------------------------------------------------------------------------------------

function element(name, attributes = {}, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else if (value !== null && value !== false) node.setAttribute(key, value === true ? "" : value);
  }
  node.append(...children.flat(2).filter(child => child !== null));
  return node;
}

const captioned = (text, control) => element("label", {class: "control"}, element("span", {}, text), control);

function select(options, chosen, change) {
  const entry = ([value, text]) => element("option", {value, selected: value === chosen}, text);
  const groups = options.map(option => option.group
    ? element("optgroup", {label: option.group}, option.options.map(entry)) : entry(option));
  return element("select", {onchange: event => change(event.target.value)}, groups);
}

const checkbox = (text, checked, change) => element("label", {class: "check"},
  element("input", {type: "checkbox", checked, onchange: event => change(event.target.checked)}), text);

async function unpacked(text) {
  const bytes = Uint8Array.from(atob(text), letter => letter.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip")));
}

function whenSeen(target, action) {
  const observer = new IntersectionObserver(entries => {
    if (!entries.some(entry => entry.isIntersecting)) return;
    observer.disconnect();
    action();
  }, {rootMargin: "300px"});
  observer.observe(target);
}

// --- numbers --------------------------------------------------------------------------------------------------------

const STEPS = {
  s: [[1e-9, "ns"], [1e-6, "µs"], [1e-3, "ms"], [1, "s"]],
  B: [[1, "B"], [1e3, "kB"], [1e6, "MB"], [1e9, "GB"], [1e12, "TB"]],
  "": [[1, ""], [1e3, "k"], [1e6, "M"], [1e9, "G"], [1e12, "T"]],
};

/** `1.25 MB`, `10 k`, `310 k events/s`; text as it is. */
function human(value, unit = "") {
  if (typeof value !== "number") return String(value);
  const steps = STEPS[unit] ?? STEPS[""];
  const [factor, prefix] = steps.filter(([size]) => size <= Math.abs(value) * (1 + 1e-9)).at(-1)
    ?? (unit in STEPS && unit ? steps[0] : [1, ""]);
  return [Number((value / factor).toPrecision(3)), prefix, unit in STEPS ? "" : unit].filter(part => part !== "")
    .join(" ");
}

// --- data -----------------------------------------------------------------------------------------------------------

const sections = [...document.querySelectorAll("section.figure")];
const figures = new Map();  // by key: the sections of all runs
for (const section of sections) {
  const key = section.dataset.key;
  if (!figures.has(key)) figures.set(key, []);
  figures.get(key).push(section);
}

/** The curves of a figure, of each run. */
async function curvesOf(key) {
  return Promise.all(figures.get(key).map(async section => {
    section.curves ??= (await unpacked(section.dataset.curves)).json();
    return section.curves;
  }));
}

let plotly = null;
function loadPlotly() {
  plotly ??= unpacked(document.getElementById("plotly").textContent).then(response => response.text())
    .then(source => {
      document.head.append(Object.assign(document.createElement("script"), {text: source}));
      return window.Plotly ?? window.moduleName;
    });
  return plotly;
}

// --- state ----------------------------------------------------------------------------------------------------------

const FREE = {view: "0", metric: "", against: "", ratio: "", off: "", logx: "", logy: "", runs: "", skip: ""};
let state = {key: null, ...FREE};

function fromFragment() {
  const [id, query = ""] = decodeURI(location.hash.slice(1)).split("?");
  const section = sections.find(candidate => candidate.id === id);
  if (!section) return false;
  state = {key: section.dataset.key, ...FREE, ...Object.fromEntries(new URLSearchParams(query))};
  return true;
}

function link() {
  const chosen = Object.entries(state).filter(([name, value]) => name in FREE && value !== FREE[name]);
  const query = new URLSearchParams(chosen).toString();
  return `#${figures.get(state.key)[0].id}${query ? `?${query}` : ""}`;
}

function change(changes) {
  state = {...state, ...changes};
  history.replaceState(null, "", link());
  return show();
}

const listed = text => new Set(text ? text.split("|") : []);
function toggled(text, name, absent) {
  const names = listed(text);
  if (absent) names.add(name); else names.delete(name);
  return [...names].join("|");
}

// --- a figure -------------------------------------------------------------------------------------------------------

const SIGNS = {"timeout": "arrow-up", "out of memory": "square-x-open", "unsupported": "circle-x-open",
  "wrong answer": "hash-open", "error": "x-thin-open", "not run": "line-ew-open"};
const DASHES = ["solid", "dash", "dot", "dashdot", "longdash", "longdashdot"];
/** The markers of the static drawings in plotly, and as letters. */
const MARKERS = {o: ["circle", "●"], s: ["square", "■"], D: ["diamond", "◆"], d: ["diamond-tall", "♦"],
  "^": ["triangle-up", "▲"], v: ["triangle-down", "▼"], "<": ["triangle-left", "◀"], ">": ["triangle-right", "▶"],
  P: ["cross", "✚"], X: ["x", "✖"], "*": ["star", "★"], p: ["pentagon", "⬟"], h: ["hexagon", "⬢"],
  H: ["hexagon2", "⬣"], "8": ["octagon", "◉"]};

/** An arrow points to the true value, which is worse. */
const signOf = (status, higher) => status === "timeout" && higher ? "arrow-down" : SIGNS[status] ?? "x-thin-open";

/** The rows of the chosen view: one per algorithm, value of the series axis, place on the x axis, and run. */
function rowsOf(runs, state) {
  const rows = [];
  const off = listed(state.off), hidden = listed(state.runs);
  runs.forEach((run, number) => {
    const slice = run.slices.find(candidate => candidate.label === runs[0].slices[Number(state.view)].label);
    const metric = slice?.metrics.find(candidate => candidate.id === state.metric);
    if (!metric || hidden.has(run.source)) return;
    const against = state.against && slice.metrics.find(candidate => candidate.id === state.against);
    const places = new Map(against ? against.values.map(entry => [entry[0], entry[1]]) : []);
    for (const [place, median, low, high, count, failures, coverage] of metric.values) {
      const [algorithm, x, series, noise, reason, machine] = slice.places[place];
      const style = run.algorithms[algorithm];
      if (off.has(style.id)) continue;
      rows.push({algorithm: style.id, style, x: against ? places.get(place) ?? null : x, at: x, series, median, low,
        high, count, coverage, noise, reason, failures: failures || [], machine: run.machines[machine] ?? "", run: run.source,
        number});
    }
  });
  return state.ratio ? relative(rows, state.ratio) : rows;
}

/** With another metric on the x axis: the algorithms that beat a row in both, at the same place of the same run. */
function beatenBy(row, rows, metric, against) {
  if (!against || row.median === null || row.x === null) return [];
  const better = (first, second, {higher}) => higher ? first >= second : first <= second;
  return rows.filter(rival => rival.at === row.at && rival.series === row.series && rival.run === row.run
    && rival.median !== null && rival.x !== null && better(rival.median, row.median, metric)
    && better(rival.x, row.x, against) && (rival.median !== row.median || rival.x !== row.x))
    .map(rival => rival.style.label);
}

/** Rows over those of one run, or of one algorithm, at the same place: ratios of medians. */
function relative(rows, ratio) {
  const [kind, name] = [ratio.slice(0, 4), ratio.slice(4)];
  const ofRun = kind === "run:";
  const place = row => JSON.stringify([row.at, row.series, ofRun ? row.algorithm : row.run]);
  const bases = new Map(rows.filter(row => (ofRun ? row.run : row.algorithm) === name && row.median)
    .map(row => [place(row), row.median]));
  const over = (value, base) => value === null || !base ? null : value / base;
  return rows.map(row => {
    const base = bases.get(place(row));
    const failures = row.failures.map(([status, count]) => [status, count, null]);
    return {...row, median: over(row.median, base), low: over(row.low, base), high: over(row.high, base), failures};
  });
}

/** All that is known of a row, for hover and table. */
function factsOf(row, axis, metric, unit) {
  const failed = row.failures.map(([status, count, limit]) =>
    status + (count > 1 ? ` (${count})` : "") + (limit ? `, beyond ${human(limit, metric.unit)}` : ""));
  const interval = row.low !== null && row.high !== null && row.low !== row.high;
  return {
    [axis.label]: human(row.at, axis.unit),
    [metric.label]: row.median === null ? "no number" : human(row.median, unit),
    Interval: interval ? `${human(row.low, unit)} to ${human(row.high, unit)}`
      + (row.coverage ? ` (${Math.round(100 * row.coverage)} %)` : " (range)") : "",
    Runs: row.count || "",
    "Beaten in both by": (row.beaten ?? []).join(", "),
    Status: failed.join("; ") || "ok",
    Reason: failed.length ? row.reason : "",
    Noise: row.noise,
    Machine: row.machine,
    Run: row.run,
  };
}

const wrap = text => String(text).replace(/[<>&]/g, sign => `&#${sign.charCodeAt(0)};`)
  .replace(/(.{60,80}?) /g, "$1<br>");

function hoverOf(row, axis, metric, unit) {
  const name = row.style.label + (row.series === null ? "" : ` · ${row.series}`);
  const facts = Object.entries(factsOf(row, axis, metric, unit)).filter(([, value]) => value !== "");
  return [`<b>${wrap(name)}</b>`, ...facts.map(([key, value]) => `${wrap(key)}: ${wrap(value)}`)].join("<br>");
}

function tracesOf(rows, slice, metric, unit, numeric, runs) {
  const hovers = chosen => chosen.map(row => hoverOf(row, slice.x, metric, unit));
  const groups = new Map();
  for (const row of rows) {
    const name = JSON.stringify([row.algorithm, row.series, row.run]);
    if (!groups.has(name)) groups.set(name, []);
    groups.get(name).push(row);
  }
  const xOf = row => numeric ? row.x : human(row.x, slice.x.unit);
  const traces = [];
  const variants = [...new Set(rows.map(row => String(row.series)))];
  const height = groups.size;
  [...groups.values()].forEach((members, line) => {
    const {style, series, number} = members[0];
    const symbol = (MARKERS[style.marker] ?? MARKERS.o)[0] + (style.hollow || number % 2 ? "-open" : "");
    const drawn = members.filter(row => row.median !== null && row.x !== null);
    const spread = (row, end) => row[end] === null ? 0 : Math.abs(row[end] - row.median);
    const dash = variants.length > 1 ? DASHES[variants.indexOf(String(series)) % 6] : number ? DASHES[number % 6]
      : style.dash;
    const common = {name: style.label, hoverinfo: "text", showlegend: false};
    traces.push({...common, x: drawn.map(xOf), y: drawn.map(row => row.median), hovertext: hovers(drawn),
      error_y: {type: "data", symmetric: false, array: drawn.map(row => spread(row, "high")),
        arrayminus: drawn.map(row => spread(row, "low")), thickness: 1.2, width: 3},
      ...(numeric ? {type: "scatter", mode: state.against ? "markers" : "lines+markers"} : {type: "bar"}),
      line: {color: style.color, dash, width: 2},
      marker: {color: style.color, symbol, size: 9, opacity: drawn.map(row => row.beaten.length ? 0.35 : 1)}});
    const failed = members.filter(row => row.failures.length && row.x !== null);
    const bounded = failed.filter(row => row.failures.some(failure => failure[2]));
    const railed = failed.filter(row => !row.failures.some(failure => failure[2]) && row.median === null);
    const signs = (chosen, y, yaxis) => chosen.length && traces.push({...common, type: "scatter", mode: "markers",
      x: chosen.map(xOf), y, yaxis, hovertext: hovers(chosen), cliponaxis: false,
      marker: {color: style.color, size: 10, line: {width: 2, color: style.color},
        symbol: chosen.map(row => signOf(row.failures[0][0], metric.higher))}});
    signs(bounded, bounded.map(row => row.failures.find(failure => failure[2])[2]), "y");
    signs(railed, railed.map(() => (line + 0.5) / height), "y2");
  });
  if (state.against || state.ratio) return traces;
  for (const curve of metric.published ?? []) {
    traces.push({type: "scatter", mode: "lines+markers", x: curve.points.map(point => point[0]), showlegend: false,
      y: curve.points.map(point => point[1]), line: {color: "#595959", dash: "dot", width: 1}, hoverinfo: "text",
      marker: {symbol: "x-thin-open", color: "#595959", size: 6},
      hovertext: curve.points.map(([x, y]) => wrap(`${curve.label}: ${human(y, metric.unit)} at ${x}. ${curve.source}`))});
  }
  return traces.concat(claimTraces(rows, metric, runs, xOf));
}

/** The number of the paper for a claimed ratio, with its band: where the claim puts an algorithm by its rival. */
function claimTraces(rows, metric, runs, xOf) {
  const median = (algorithm, x) =>
    rows.find(row => row.algorithm === algorithm && row.at === x && row.median !== null);
  const styleOf = algorithm => runs[0].algorithms.find(style => style.id === algorithm);
  return runs[0].claims
    .filter(claim => claim.metric === metric.id && String(claim.view) === state.view && styleOf(claim.of))
    .flatMap(claim => {
      const above = median(claim.of, claim.x), below = median(claim.over, claim.x);
      const base = below ?? above;
      if (!base) return [];
      const y = below ? below.median * claim.claimed : above.median / claim.claimed;
      const {color} = styleOf(below ? claim.of : claim.over);
      const text = `<b>the paper's number</b><br>${wrap(claim.text)}<br>${wrap(claim.expected)}; ours: `
        + `${wrap(claim.ours)}, ${claim.verdict}<br>The bar is the band in which the claim holds.`;
      return [{type: "scatter", mode: "markers", x: [xOf(base)], y: [y], hoverinfo: "text", hovertext: [text],
        showlegend: false, cliponaxis: false,
        error_y: {type: "data", symmetric: false, array: [y], arrayminus: [y / 2], thickness: 5, width: 0,
          color: `${color}55`},
        marker: {symbol: "star-open", size: 14, color, line: {width: 2}}}];
    });
}

function axisOf(label, unit, log, values) {
  const suffix = unit && unit !== "s" && unit !== "B" ? ` (${unit})` : "";
  const axis = {title: {text: wrap(label + suffix), standoff: 8}, type: log ? "log" : "linear", automargin: true,
    gridcolor: "#e3e6ea", linecolor: "#57606a", zeroline: false, exponentformat: "SI", ticks: "outside"};
  if (log) axis.dtick = null;
  const finite = values.filter(value => value > 0);
  if (log && finite.length && Math.max(...finite) / Math.min(...finite) > 50) axis.dtick = 1;
  if (unit === "s" || unit === "B") axis.ticksuffix = unit;
  return axis;
}

// --- the matrix of an arena -----------------------------------------------------------------------------------------

const FORMULA = "Rank by the score (r1 · … · rn)^(1/n), the geometric mean over the chosen columns. r is how many times worse "
  + "a system is than the best one of the column; a system without a number gets twice the worst r of the column, as in "
  + "ClickBench. Bytes count from 1 kB. ≈ marks values whose intervals overlap that of the best.";

/** A row per system and a column per kind of work, in the order of the scores. */
function matrix(rows, slice, metric) {
  const floor = metric.unit === "B" ? 1000 : 0;
  const skipped = listed(state.skip);
  const kinds = [...new Set(rows.map(row => String(row.at)))];
  const chosen = kinds.filter(kind => !skipped.has(kind));
  const systems = new Map();
  for (const row of rows) {
    const name = [row.style.label, row.series, PAGE.several ? row.run : null].filter(part => part !== null).join(", ");
    if (!systems.has(name)) systems.set(name, {name, cells: new Map()});
    systems.get(name).cells.set(String(row.at), row);
  }
  const times = new Map(chosen.map(kind => {
    const there = [...systems.values()].map(system => system.cells.get(kind)).filter(row => row?.median != null);
    const best = there.reduce((least, row) => !least || (metric.higher ? row.median > least.median
      : row.median < least.median) ? row : least, null);
    const worse = row => metric.higher ? best.median / row.median : (row.median + floor) / (best.median + floor);
    const equal = row => row !== best && row.low !== null && best.low !== null && row.low <= best.high
      && best.low <= row.high;
    return [kind, {best, worse, equal, penalty: 2 * Math.max(1, ...there.map(worse).filter(Number.isFinite))}];
  }));
  for (const system of systems.values()) {
    const logs = chosen.map(kind => {
      const row = system.cells.get(kind), {worse, penalty} = times.get(kind);
      return Math.log(row?.median != null ? worse(row) : penalty);
    });
    system.score = Math.exp(logs.reduce((sum, log) => sum + log, 0) / Math.max(1, logs.length));
  }
  const ranked = [...systems.values()].sort((a, b) => a.score - b.score);
  const why = element("p", {class: "note", role: "status"}, "Point at a cell, or move to it, for its details.");
  const explained = text => () => { why.textContent = text; };
  const cell = (system, kind) => {
    const row = system.cells.get(kind), {best, worse, equal} = times.get(kind);
    if (!row) return element("td", {}, "–");
    const facts = Object.entries(factsOf(row, slice.x, metric, metric.unit)).filter(([, value]) => value !== "");
    const text = `${system.name}: ${facts.map(([key, value]) => `${key} ${value}`).join("; ")}`;
    const failed = row.failures[0]?.[0];
    const shown = row.median === null ? (failed === "unsupported" ? "cannot" : failed ?? "–")
      : (equal(row) ? "≈ " : "") + human(row.median, metric.unit in STEPS ? metric.unit : "");
    const share = row.median === null ? 0 : Math.max(0, 1 - Math.log10(worse(row)) / 3);
    return element("td", {class: row === best ? "best" : null, "data-sort": row.median ?? "–",
      style: `--share: ${Math.round(35 * share)}%`}, element("button", {type: "button", title: text, onmouseenter: explained(text),
      onfocus: explained(text)}, shown));
  };
  const heads = ["Rank", "System", "Score", ...chosen];
  return [
    element("fieldset", {class: "algorithms"}, element("legend", {}, slice.x.label), kinds.map(kind =>
      checkbox(kind, !skipped.has(kind), on => change({skip: toggled(state.skip, kind, !on)})))),
    element("div", {class: "scroll", tabindex: "0", role: "region", "aria-label": "Matrix"},
      element("table", {class: "sortable matrix"}, element("caption", {}, `${metric.label}${metric.unit in STEPS ? "" : ` (${metric.unit})`}, best systems first`),
        element("thead", {}, element("tr", {}, heads.map(head =>
          element("th", {scope: "col"}, element("button", {type: "button"}, head))))),
        element("tbody", {}, ranked.map((system, place) => element("tr", {}, element("td", {}, String(place + 1)),
          element("th", {scope: "row"}, system.name), element("td", {"data-sort": system.score},
            human(Number(system.score.toPrecision(3)))), chosen.map(kind => cell(system, kind))))))),
    why, element("p", {class: "note"}, FORMULA)];
}

async function draw(rows, slice, metric, runs) {
  const target = document.getElementById("plot");
  const library = await loadPlotly();
  const numeric = rows.every(row => row.x === null || typeof row.x === "number") && slice.x.scale !== "category"
    || Boolean(state.against);
  const unit = state.ratio ? "times" : metric.unit;
  const traces = tracesOf(rows, slice, metric, unit, numeric, runs);
  const against = state.against && slice.metrics.find(candidate => candidate.id === state.against);
  const xs = rows.map(row => row.x), ys = traces.flatMap(trace => trace.yaxis === "y2" ? [] : trace.y);
  const railed = traces.some(trace => trace.yaxis === "y2");
  const base = state.ratio ? ` relative to ${runs[0].algorithms.find(style => `alg:${style.id}` === state.ratio)?.label
    ?? state.ratio.slice(4)}` : "";
  const x = numeric ? axisOf((against || slice.x).label, (against || slice.x).unit, logarithmic().x, xs)
    : {type: "category", title: {text: wrap(slice.x.label)}, automargin: true};
  const layout = {
    xaxis: {...x, anchor: railed ? "y2" : "y"},
    yaxis: {...axisOf(metric.label + base, unit, logarithmic().y, ys),
      domain: [railed ? 0.16 : 0, 1]},
    yaxis2: {domain: [0, 0.12], range: [0, 1], fixedrange: true, showticklabels: false, showgrid: false,
      zeroline: false, title: {text: "no number", font: {size: 11}, standoff: 4}, visible: railed},
    shapes: railed ? [{type: "rect", xref: "paper", yref: "y2 domain", x0: 0, x1: 1, y0: 0, y1: 1, layer: "below",
      fillcolor: "#eceff2", line: {width: 0}}] : [],
    paper_bgcolor: "#ffffff", plot_bgcolor: "#ffffff", font: {color: "#1b1f24", size: 13}, hovermode: "closest",
    margin: {l: 20, r: 20, t: 20, b: 20}, height: 460, barmode: "group",
    hoverlabel: {bgcolor: "#ffffff", font: {color: "#1b1f24"}, align: "left"},
  };
  const name = `${state.key}-${metric.id}`.replace(/[^\w.-]+/g, "-");
  await library.react(target, traces, layout, {responsive: true, displaylogo: false,
    modeBarButtonsToRemove: ["select2d", "lasso2d"], toImageButtonOptions: {format: "svg", filename: name}});
}

const PAGE = {};  // the parts of the explorer that outlive a change

function logarithmic() {
  const {slice, metric} = PAGE.shown;
  const against = state.against && slice.metrics.find(candidate => candidate.id === state.against);
  const own = {x: against ? "log" : slice.x.scale, y: metric.scale};
  return {x: (state.logx || own.x) === "log", y: (state.logy || own.y) === "log"};
}

// --- controls -------------------------------------------------------------------------------------------------------

/** The controls are built again with each change, and the focus returns. */
function controls(runs, slice, metric) {
  const keys = [...figures.keys()];
  const paperOf = key => figures.get(key)[0].dataset.paper;
  const papers = [...new Set(keys.map(paperOf))];
  const ofPaper = keys.filter(key => paperOf(key) === paperOf(state.key));
  const named = key => [key, figures.get(key)[0].querySelector("h2").textContent
    + (keys.some(rival => rival !== key && rival.split(" ")[0] === key.split(" ")[0]) ? `, ${key.split(" ")[1]}` : "")];
  const go = key => change({key, ...FREE});
  const views = runs[0].slices.map((candidate, number) => [`view:${number}`, candidate.label]);
  const metrics = slice.metrics.map(candidate => [candidate.id, candidate.label]);
  const others = metrics.filter(([id]) => id !== metric.id).map(([id, text]) => [`metric:${id}`, text]);
  const axes = [...views, {group: "another metric", options: others}];
  const goAxis = choice => choice.startsWith("view:") ? change({view: choice.slice(5), against: "", logx: ""})
    : change({against: choice.slice(7), logx: ""});
  const log = logarithmic();
  const sources = runs.map(run => run.source);
  const used = new Set(slice.places.map(place => place[0]));
  const styles = runs[0].algorithms.filter((_, number) => used.has(number));
  const several = sources.length > 1;
  const ratios = [["", "as measured"], ...(several ? [{group: "ratio to a run", options: sources.map(name =>
    [`run:${name}`, `to ${name}`])}] : []), {group: "ratio to an algorithm", options: styles.map(style =>
    [`alg:${style.id}`, `to ${style.label}`])}];
  const off = listed(state.off), hidden = listed(state.runs);
  const swatch = style => element("span", {class: "swatch", style: `color: ${style.color}`, "aria-hidden": "true"},
    (MARKERS[style.marker] ?? MARKERS.o)[1]);
  const algorithm = style => {
    const label = checkbox("", !off.has(style.id), on => change({off: toggled(state.off, style.id, !on)}));
    label.append(swatch(style), style.label);
    return label;
  };
  const all = on => change({off: on ? "" : styles.map(style => style.id).join("|")});
  return [
    element("div", {class: "row"},
      captioned("Paper", select(papers.map(name => [name, name]), paperOf(state.key), name =>
        go(keys.find(key => paperOf(key) === name)))),
      captioned("Figure", select(ofPaper.map(named), state.key, go))),
    element("div", {class: "row"},
      captioned("Metric", select(metrics, metric.id, id => change({metric: id, logy: ""}))),
      captioned("X axis", select(axes, state.against ? `metric:${state.against}` : `view:${state.view}`, goAxis)),
      captioned("Values", select(ratios, state.ratio, ratio => change({ratio}))),
      PAGE.arena ? null : [checkbox("log x", log.x, on => change({logx: on ? "log" : "linear"})),
        checkbox("log y", log.y, on => change({logy: on ? "log" : "linear"}))]),
    element("fieldset", {class: "algorithms"}, element("legend", {}, "Algorithms"), styles.map(algorithm),
      element("button", {type: "button", onclick: () => all(true)}, "all"),
      element("button", {type: "button", onclick: () => all(false)}, "none")),
    several ? element("fieldset", {class: "algorithms"}, element("legend", {}, "Runs"), runs.map((run, number) =>
      checkbox(`${run.source}: ${run.machines.join("; ")}, ${run.date}`
        + (number ? ` (lines: ${DASHES[number % 6]}${number % 2 ? ", hollow" : ""})` : ""), !hidden.has(run.source), on =>
        change({runs: toggled(state.runs, run.source, !on)})))) : null,
  ].filter(part => part !== null);
}

/** The rows of the view as a table; the copy has tabs, for a spreadsheet. */
function table(rows, slice, metric) {
  const unit = state.ratio ? "times" : metric.unit;
  const series = slice.series ? [slice.series] : [];
  const facts = rows.map(row => ({Algorithm: row.style.label, ...Object.fromEntries(series.map(name =>
    [name, row.series])), ...factsOf(row, slice.x, metric, unit)}));
  const heads = Object.keys(facts[0] ?? {}).filter(head => facts.some(fact => fact[head] !== ""));
  const raw = row => [row.style.label, ...(series.length ? [row.series] : []), row.at, row.median ?? "",
    row.low ?? "", row.high ?? "", row.count, row.failures.map(failure => failure[0]).join(";") || "ok", row.run];
  const copied = [["algorithm", ...series, slice.x.name, metric.id, "low", "high", "runs", "status", "run"],
    ...rows.map(raw)].map(line => line.join("\t")).join("\n");
  const said = element("span", {role: "status"});
  const copy = async () => {
    try { await navigator.clipboard.writeText(copied); said.textContent = " copied"; }
    catch { said.replaceChildren(element("textarea", {rows: 6, readonly: true, "aria-label": "rows"}, copied)); }
  };
  return element("details", {class: "rows", open: Boolean(PAGE.open), ontoggle: event => { PAGE.open = event.target.open; }},
    element("summary", {}, `${rows.length} rows`),
    element("p", {}, element("button", {type: "button", onclick: copy}, "Copy the rows"), said),
    element("div", {class: "scroll", tabindex: "0", role: "region", "aria-label": "rows"}, element("table",
      {class: "sortable"}, element("caption", {}, "Rows"),
      element("thead", {}, element("tr", {}, heads.map(head =>
        element("th", {scope: "col"}, element("button", {type: "button"}, head))))),
      element("tbody", {}, facts.map((fact, number) => element("tr", {}, heads.map(head => {
        const sort = {[slice.x.label]: rows[number].at, [metric.label]: rows[number].median ?? "–"}[head];
        return element(head === "Algorithm" ? "th" : "td", {scope: head === "Algorithm" ? "row" : null,
          "data-sort": sort ?? null}, String(fact[head]));
      })))))));
}

function signs(rows) {
  if (rows.every(row => row.median === null && !row.failures.length)) return "No cell of this view has this metric.";
  const failed = [...new Set(rows.flatMap(row => row.failures.map(failure => failure[0])))];
  return failed.length ? `Signs: ${failed.join(", ")}. An arrow stands at the limit, and the true value is beyond; `
    + "signs on the gray rail have no number." : "";
}

async function show() {
  const place = document.getElementById("explore");
  const runs = await curvesOf(state.key);
  for (const section of sections) section.classList.toggle("chosen", section.dataset.key === state.key);
  for (const small of document.querySelectorAll(".strip a"))
    small.toggleAttribute("aria-current", small.dataset.key === state.key);
  if (!runs[0].slices[Number(state.view)]) state.view = "0";
  const slice = runs[0].slices[Number(state.view)];
  if (!slice) {
    PAGE.controls.replaceChildren("Nothing has been measured yet.");
    return;
  }
  const metric = slice.metrics.find(candidate => candidate.id === state.metric) ?? slice.metrics[0];
  state.metric = metric.id;
  PAGE.shown = {slice, metric};
  PAGE.several = runs.length > 1;
  const rows = rowsOf(runs, state);
  const against = state.against && slice.metrics.find(candidate => candidate.id === state.against);
  for (const row of rows) row.beaten = beatenBy(row, rows, metric, against);
  const arena = PAGE.arena = slice.heat && !against && !state.ratio;
  const focusable = () => [...place.querySelectorAll("select, input, button, summary")];
  const focused = focusable().indexOf(document.activeElement);
  PAGE.controls.replaceChildren(...controls(runs, slice, metric));
  PAGE.note.textContent = arena ? "" : against ? "A pale point is beaten in both at its place." : signs(rows);
  PAGE.matrix.replaceChildren(...(arena ? matrix(rows, slice, metric) : []));
  document.getElementById("plot").hidden = arena;
  PAGE.table.replaceChildren(table(rows, slice, metric));
  for (const part of [PAGE.table, PAGE.matrix]) part.querySelectorAll("table.sortable").forEach(sortable);
  document.getElementById("plot").setAttribute("aria-label", `${metric.label} over ${slice.x.label}; the rows are below`);
  PAGE.draw = () => arena ? null : draw(rows, slice, metric, runs);
  if (focused >= 0) focusable()[focused]?.focus({preventScroll: true});
  if (PAGE.seen) await PAGE.draw();
}

function explore() {
  const place = document.getElementById("explore");
  if (!place || !sections.length) return;
  PAGE.controls = element("div", {class: "controls"});
  PAGE.note = element("p", {class: "note"});
  PAGE.table = element("div");
  const plot = element("div", {id: "plot", role: "img"});
  PAGE.matrix = element("div");
  place.append(PAGE.controls, PAGE.matrix, plot, PAGE.note, PAGE.table);
  place.hidden = false;
  document.body.classList.add("exploring");
  const chosen = fromFragment();
  if (!chosen) state = {key: [...figures.keys()][0], ...FREE};
  whenSeen(place, () => { PAGE.seen = true; PAGE.draw?.(); });
  const ready = show();
  const jump = () => place.scrollIntoView({behavior: "instant"});
  if (chosen) ready.then(jump);
  addEventListener("hashchange", () => {
    if (fromFragment()) show().then(jump);
  });
}

// --- the static parts -----------------------------------------------------------------------------------------------

/** A table whose columns sort by a click on their heads; rows without a number come last. */
function sortable(table) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => head.querySelector("button").addEventListener("click", () => {
    const up = head.getAttribute("aria-sort") !== "ascending";
    heads.forEach(other => other.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", up ? "ascending" : "descending");
    const key = row => row.cells[column].dataset.sort ?? row.cells[column].textContent.trim();
    const empty = text => text === "" || text === "–";
    const rows = [...table.tBodies[0].rows];
    rows.sort((a, b) => {
      const x = key(a), y = key(b);
      if (empty(x) || empty(y)) return empty(x) - empty(y);
      const order = isNaN(x) || isNaN(y) ? x.localeCompare(y) : x - y;
      return up ? order : -order;
    });
    table.tBodies[0].append(...rows);
  }));
}

async function drawImage(image) {
  if (image.src) return;
  const svg = await (await unpacked(image.dataset.svg)).blob();
  image.src = URL.createObjectURL(new Blob([svg], {type: "image/svg+xml"}));
  const {id} = image.closest("section") ?? {};
  const small = [...document.querySelectorAll(".strip a")].find(link => link.hash === `#${id}`);
  if (small && !small.querySelector("img")) small.append(element("img", {src: image.src, alt: "", loading: "lazy"}));
}

document.querySelectorAll("table.sortable").forEach(sortable);
addEventListener("beforeprint", () => document.querySelectorAll("details").forEach(part => { part.open = true; }));
explore();
(async () => { for (const image of document.querySelectorAll("img[data-svg]")) await drawImage(image); })();

// The page of a running sweep is newer after a while; a reload keeps the view, but would undo an opened table.
const refreshing = document.getElementById("refreshing");
if (refreshing) {
  let moved = 0;
  addEventListener("pointermove", () => { moved = Date.now(); });
  addEventListener("keydown", () => { moved = Date.now(); });
  const timer = setInterval(() => {
    if (getSelection().isCollapsed && Date.now() - moved > 10000) location.reload();
  }, 15000);
  document.addEventListener("click", event => {
    if (!event.target.closest("summary, th button")) return;
    clearInterval(timer);
    refreshing.textContent =
      "Automatic refresh is off, because you opened or sorted a table: reload the page for newer figures.";
  });
}
