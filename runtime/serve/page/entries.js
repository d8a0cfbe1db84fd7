/* entries.js: totals with named entries, such as the lines of a trigger: rate, fraction, comparison with the reference. One
 * output and field is shown at a time. */

const FIELD_KEY = "sluice-entries";
const SIGMA_NOTABLE = 3;
const SIGMA_STRONG = 5;
const RATIO_STRONG = 0.1; // smaller deviations are never marked as strong, however significant they are

const entries = { table: null, all: [] };

/* A deviation counts if it is significant; the sign is for readers that do not see the colour. */
function deviation(row) {
  if (!isNumber(row.ratio) || !isNumber(row.sigma) || Math.abs(row.sigma) < SIGMA_NOTABLE) return { style: "ratio", sign: "" };
  const isHigh = row.sigma > 0;
  const isStrong = Math.abs(row.sigma) >= SIGMA_STRONG && Math.abs(row.ratio - 1) >= RATIO_STRONG;
  return {
    style: `ratio ${isHigh ? "high" : "low"}${isStrong ? " strong" : ""}`,
    sign: (isHigh ? "▲" : "▼").repeat(isStrong ? 2 : 1),
  };
}

function drawRatio(cell, row) {
  if (!cell.firstChild) cell.append(make("span", { class: "ratio" }, make("span", { class: "sign" }), make("span")));
  const { style, sign } = deviation(row);
  const ratio = cell.firstChild;
  setAttribute(ratio, "class", style);
  setText(ratio.firstChild, sign);
  setText(ratio.lastChild, isNumber(row.ratio) ? row.ratio.toFixed(row.ratio < 99.995 ? 2 : 0) : DASH);
}

function entriesColumns(label) {
  return [
    { head: label[0].toUpperCase() + label.slice(1), text: (row) => row.name, order: (row) => row.name },
    { head: "Rate", width: "6.2rem", right: true, first: -1, text: (row) => formatRate(row.hz), order: (row) => row.hz,
      title: "entries per second, last 10 s", hint: (row) => `${formatCount(row.count)} in this run` },
    { head: "Fraction %", width: "5.8rem", right: true, first: -1, text: (row) => formatPercent(row.fraction), order: (row) => row.fraction,
      title: "entries per event, whole run", hint: (row) => `last 10 s: ${formatPercent(row.recent_fraction)} %` },
    { head: "Reference %", width: "6.6rem", right: true, first: -1, text: (row) => formatPercent(row.reference_fraction),
      order: (row) => row.reference_fraction, title: "entries per event in the reference" },
    { head: "Ratio", width: "6.2rem", right: true, first: -1, draw: drawRatio, order: (row) => row.ratio,
      title: "fraction divided by reference fraction" },
    { head: "σ", width: "4rem", right: true, first: -1, order: (row) => (isNumber(row.sigma) ? Math.abs(row.sigma) : null),
      text: (row) => (isNumber(row.sigma) ? formatSigned(row.sigma) : DASH),
      title: "difference from the reference in statistical standard deviations" },
    { head: "Last 2 min", width: "6.6rem", draw: (cell, row) => drawSparkline(cell, row.history || [], row.reference_fraction),
      title: "fraction per second; dashed: reference" },
  ];
}

/* At first the field that was chosen last time, or the one that is the rate of its entries. */
function chosenEntries() {
  const keyOf = (one) => `${one.output}.${one.field}`;
  const select = byId("entries-which");
  const isFirst = select.options.length === 0;
  setOptions(select, entries.all.map((one) => [keyOf(one), keyOf(one)]));
  if (isFirst) {
    const stored = localStorage.getItem(FIELD_KEY);
    const first = entries.all.find((one) => keyOf(one) === stored) || entries.all.find((one) => one.is_rate) || entries.all[0];
    select.value = keyOf(first);
  }
  return entries.all.find((one) => keyOf(one) === select.value);
}

function showEntries(all) {
  entries.all = all.filter((one) => one.rows.length > 0);
  const section = byId("entries");
  section.hidden = entries.all.length === 0;
  if (section.hidden) return;
  const one = chosenEntries();
  const label = one.label || "name";
  const hasReference = one.rows.some((row) => isNumber(row.reference_fraction));
  byId("entries-which-label").hidden = entries.all.length < 2;
  setText(byId("entries-title"), `Rates by ${label}`);
  const name = entries.all.length < 2 ? `${one.output}.${one.field}` : "";
  setText(byId("entries-doc"), `${[name, one.doc].filter(Boolean).join(": ")}${one.unit ? ` (unit: ${one.unit})` : ""}`);
  const scroll = section.querySelector(".scroll");
  if (!entries.table || entries.label !== label) {
    scroll.replaceChildren();
    entries.table = new Table(scroll, `Rates by ${label}`, entriesColumns(label), { narrowest: "45rem" });
    entries.label = label;
  }
  entries.table.element.classList.toggle("no-reference", !hasReference);
  byId("entries-key").hidden = !hasReference;
  setText(byId("entries-key"), `Ratio to the reference: ▲ above, ▼ below by at least ${SIGMA_NOTABLE} σ; ` +
    `▲▲, ▼▼ by at least ${SIGMA_STRONG} σ and ${100 * RATIO_STRONG} %.`);
  const words = byId("entries-filter").value.trim().toLowerCase().split(/\s+/);
  const shown = one.rows.filter((row) => words.every((word) => row.name.toLowerCase().includes(word)));
  const part = shown.length < one.rows.length ? `${formatCount(shown.length)} of ` : "";
  setText(byId("entries-shown"), part + formatCount(one.rows.length));
  entries.table.update(shown, (row) => row.name);
}

function startEntries() {
  byId("entries-filter").addEventListener("input", () => showEntries(entries.all));
  byId("entries-which").addEventListener("change", (event) => {
    localStorage.setItem(FIELD_KEY, event.target.value);
    showEntries(entries.all);
  });
}
