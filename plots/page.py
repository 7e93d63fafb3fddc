"""Style sheet and scripts of the report. The page loads no other files."""

STYLE = """
:root { color-scheme: light dark; --ink: #1b1f24; --soft: #57606a; --line: #d0d7de; --page: #ffffff; --band: #f6f8fa;
  --link: #0550ae; --good: #116329; --good-band: #dafbe1; --bad: #a40e26; --bad-band: #ffebe9; --mid: #7d4e00;
  --mid-band: #fff3cd; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6edf3; --soft: #9da7b3; --line: #3d444d; --page: #0d1117;
  --band: #161b22; --link: #79b8ff; --good: #7ee787; --good-band: #12301c; --bad: #ffa198; --bad-band: #421317;
  --mid: #e3b341; --mid-band: #3a2d0b; } }
* { box-sizing: border-box; }
html { scroll-behavior: smooth; }
@media (prefers-reduced-motion: reduce) { html { scroll-behavior: auto; } }
body { margin: 0; font: 16px/1.5 system-ui, "Segoe UI", "Helvetica Neue", Arial, sans-serif; color: var(--ink);
  background: var(--page); }
a { color: var(--link); }
.skip { position: absolute; left: -99rem; }
.skip:focus { left: 1rem; top: .5rem; background: var(--page); padding: .3rem; }
.layout { display: grid; grid-template-columns: 15rem minmax(0, 1fr); gap: 2.5rem; max-width: 84rem; margin: 0 auto;
  padding: 1.5rem; }
nav { position: sticky; top: 1.5rem; align-self: start; font-size: .9rem; max-height: calc(100vh - 3rem);
  overflow-y: auto; }
nav h2 { font-size: .8rem; text-transform: uppercase; letter-spacing: .06em; color: var(--soft); margin: 0 0 .4rem; }
nav ol { list-style: none; margin: 0; padding: 0; }
nav li { padding: .2rem 0; }
nav a { text-decoration: none; }
nav a:hover { text-decoration: underline; }
@media (max-width: 40rem) { table { font-size: .8rem; } th, td { padding: .2rem .3rem; }
  td.text, th.text { min-width: 7rem; } }
@media (max-width: 60rem) { .layout { grid-template-columns: minmax(0, 1fr); gap: 1rem; padding: 1rem; }
  nav { order: 1; position: static; max-height: none; } }
h1 { font-size: 1.8rem; line-height: 1.2; margin: 0 0 .3rem; }
h2 { font-size: 1.35rem; line-height: 1.25; margin: 0 0 .2rem; }
h3 { font-size: 1.02rem; margin: 1.6rem 0 .4rem; }
section { border-top: 1px solid var(--line); padding-top: 1.6rem; margin-top: 2.2rem; scroll-margin-top: 1rem; }
.meta, .note { color: var(--soft); font-size: .88rem; margin: .2rem 0; }
.tiles { display: flex; flex-wrap: wrap; gap: .6rem; margin: 1rem 0; padding: 0; list-style: none; }
.tiles li { border: 1px solid var(--line); border-radius: .5rem; padding: .45rem .8rem; min-width: 6rem; }
.tiles b { display: block; font-size: 1.35rem; line-height: 1.2; font-variant-numeric: tabular-nums; }
.tiles span { color: var(--soft); font-size: .82rem; }
figure { margin: 1rem 0; }
figure img { display: block; width: 100%; height: auto; background: #fff; border: 1px solid var(--line);
  border-radius: .5rem; padding: .7rem; }
figure img { min-width: 40rem; } figure img.narrow { max-width: 34rem; min-width: 0; }
figcaption { font-size: .93rem; margin-top: .5rem; }
.files a { margin-right: .8rem; }
.scroll { overflow-x: auto; margin: .4rem 0; }
table { border-collapse: collapse; font-size: .86rem; min-width: 30%; }
caption { text-align: left; color: var(--soft); padding-bottom: .3rem; }
th, td { text-align: left; vertical-align: top; padding: .28rem .6rem; border-bottom: 1px solid var(--line); }
thead th { background: var(--band); white-space: nowrap; }
tbody th { font-weight: 600; }
tbody th.text { font-weight: 400; white-space: normal; }
td.number { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
td.text, th.text { min-width: 11rem; } td.claim { min-width: 14rem; } td.cause { min-width: 12rem; }
td.yes { color: var(--good); } td.no { color: var(--soft); } td.yes, td.no { text-align: center; }
td.differs { background: var(--bad-band); color: var(--bad); }
code, pre { font: .84rem/1.45 ui-monospace, "SF Mono", Menlo, Consolas, monospace; }
pre { background: var(--band); border: 1px solid var(--line); border-radius: .5rem; padding: .8rem; overflow-x: auto;
  white-space: pre-wrap; overflow-wrap: anywhere; }
th button { all: unset; cursor: pointer; }
th button:focus-visible, summary:focus-visible, .scroll:focus-visible { outline: 2px solid var(--link);
  outline-offset: 2px; }
th button::after { content: " \\2195"; color: var(--soft); }
th[aria-sort=ascending] button::after { content: " \\2191"; color: inherit; }
th[aria-sort=descending] button::after { content: " \\2193"; color: inherit; }
.badge { display: inline-block; border-radius: 1rem; padding: 0 .55rem; white-space: nowrap; font-size: .82rem;
  font-weight: 600; background: var(--band); color: var(--soft); border: 1px solid currentcolor; }
.count { display: inline-block; white-space: nowrap; margin: .1rem 0; }
.departures { font-size: .93rem; margin: .4rem 0; padding-left: 1.2rem; } .departures li { margin: .25rem 0; }
.good { color: var(--good); background: var(--good-band); } .bad { color: var(--bad); background: var(--bad-band); }
.mid { color: var(--mid); background: var(--mid-band); }
.running { border-left: .25rem solid var(--mid); background: var(--mid-band); padding: .5rem .8rem; margin: .8rem 0; }
.warning { border-left: .25rem solid var(--bad); background: var(--bad-band); padding: .5rem .8rem; margin: .8rem 0; }
details { margin: .6rem 0; } summary { cursor: pointer; font-weight: 600; }
dl { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: .15rem 1rem; font-size: .86rem; }
dt { color: var(--soft); } dd { margin: 0; overflow-wrap: anywhere; }
@media print { nav, .skip, th button::after { display: none; } .layout { display: block; padding: 0; max-width: none; }
  body { font-size: 10pt; } section { break-before: page; border: 0; } figure, tr { break-inside: avoid; }
  .scroll { overflow: visible; } figure img { min-width: 0; } }
"""

SCRIPT = """
for (const table of document.querySelectorAll("table.sortable")) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => head.querySelector("button").addEventListener("click", () => {
    const up = head.getAttribute("aria-sort") !== "ascending";
    heads.forEach(other => other.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", up ? "ascending" : "descending");
    const key = row => row.cells[column].dataset.sort ?? row.cells[column].textContent.trim();
    const empty = text => text === "" || text === "\\u2013";
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
for (const image of document.querySelectorAll("img[data-svg]")) {
  const packed = Uint8Array.from(atob(image.dataset.svg), letter => letter.charCodeAt(0));
  new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"))).blob()
    .then(svg => image.src = URL.createObjectURL(new Blob([svg], {type: "image/svg+xml"})));
}
addEventListener("beforeprint", () => document.querySelectorAll("details").forEach(part => part.open = true));
"""

REFRESHING = """
const refreshing = setInterval(() => getSelection().isCollapsed && location.reload(), 15000);
document.addEventListener("click", event => {
  if (!event.target.closest("summary, th button")) return;
  clearInterval(refreshing);
  document.getElementById("refreshing").textContent =
    "Automatic refresh is off, because you opened or sorted a table: reload the page for newer figures.";
});
"""
"""Refreshes the page of a running sweep, until the reader opens or sorts a table, which a reload would undo."""
