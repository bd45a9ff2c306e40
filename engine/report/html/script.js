"use strict";
// Tables are sorted by a button in each column's head: numbers by value, what is no number by its text, what has no value
// last. The third press gives the report's own order back.
const number = /^[-+]?\d[\d,]*(\.\d+)?(e[-+]?\d+)?(?![\d.]*[-:]\d)/i;
const collator = new Intl.Collator("en", { numeric: true });

function value(cell) {
  const copy = cell.cloneNode(true);
  copy.querySelectorAll("details").forEach((e) => e.replaceWith(e.querySelector("summary").textContent));
  copy.querySelectorAll("sup").forEach((e) => e.remove());
  const text = copy.textContent.trim();
  if (text === "" || text === "-" || text.startsWith("n/a")) return { rank: 2 };
  const m = number.exec(text);
  return m ? { rank: 0, n: parseFloat(m[0].replaceAll(",", "")), text } : { rank: 1, text };
}

function compare(a, b, down) {
  if (a.rank === 2 || b.rank === 2) return a.rank - b.rank;
  let d = a.rank - b.rank;
  if (d === 0) d = a.rank === 0 ? a.n - b.n : collator.compare(a.text, b.text);
  return down ? -d : d;
}

function sortable(table) {
  const body = table.tBodies[0];
  const own = Array.from(body.rows);
  const heads = Array.from(table.tHead.rows[0].cells);
  if (own.length < 2) return;
  heads.forEach((head, i) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const was = head.getAttribute("aria-sort");
      const next = was === null ? "ascending" : was === "ascending" ? "descending" : null;
      heads.forEach((h) => h.removeAttribute("aria-sort"));
      let rows = own;
      if (next !== null) {
        head.setAttribute("aria-sort", next);
        const keyed = own.map((row) => ({ row, key: value(row.cells[i]) }));
        keyed.sort((a, b) => compare(a.key, b.key, next === "descending"));
        rows = keyed.map((k) => k.row);
      }
      body.append(...rows);
    });
  });
}
document.querySelectorAll("table").forEach(sortable);

// Of a table of many rows those are shown that have each of the words that are asked for.
const many = 40;
function filterable(table) {
  const rows = Array.from(table.tBodies[0].rows);
  if (rows.length <= many) return;
  const said = rows.map((row) => row.textContent.toLowerCase());
  const label = document.createElement("label");
  label.className = "filter";
  const input = document.createElement("input");
  input.type = "search";
  input.placeholder = "rows with these words";
  input.setAttribute("aria-label", "show rows with these words");
  const count = document.createElement("span");
  count.setAttribute("aria-live", "polite");
  const show = () => {
    const words = input.value.toLowerCase().split(/\s+/);
    let n = 0;
    rows.forEach((row, i) => {
      row.hidden = !words.every((w) => said[i].includes(w));
      if (!row.hidden) n++;
    });
    count.textContent = n === rows.length ? `${n} rows` : `${n} of ${rows.length} rows`;
  };
  input.addEventListener("input", show);
  show();
  addEventListener("beforeprint", () => rows.forEach((row) => { row.hidden = false; })); // on paper nobody sees what was asked for
  addEventListener("afterprint", show);
  label.append(input, count);
  table.parentElement.before(label);
}
document.querySelectorAll("table").forEach(filterable);

// What is folded is printed too.
let folded = [];
addEventListener("beforeprint", () => {
  folded = Array.from(document.querySelectorAll("details:not([open])"));
  folded.forEach((d) => { d.open = true; });
});
addEventListener("afterprint", () => folded.forEach((d) => { d.open = false; }));

// The contents show which section is being read.
const links = new Map();
document.querySelectorAll("nav > ol > li > a").forEach((a) => links.set(a.getAttribute("href").slice(1), a));
const seen = new Set();
const watcher = new IntersectionObserver((entries) => {
  entries.forEach((e) => { if (e.isIntersecting) seen.add(e.target.id); else seen.delete(e.target.id); });
  let first = true;
  links.forEach((a, id) => {
    if (seen.has(id) && first) { a.setAttribute("aria-current", "true"); first = false; } else a.removeAttribute("aria-current");
  });
}, { rootMargin: "0px 0px -60% 0px" });
document.querySelectorAll("main > section").forEach((s) => watcher.observe(s));
