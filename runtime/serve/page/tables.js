/* tables.js: the sections that are tables of values of status.json, as data: columns, and the rows of a status. */

const firstEvent = (row) => (row.first ? [formatEvent(row.first), row.first.file].filter(Boolean).join(" in ") : DASH);

const REASON_COLUMNS = [
  { head: "Node", width: "18%", text: (row) => row.node, order: (row) => row.node },
  { head: "Reason", wrap: true, text: (row) => row.reason, order: (row) => row.reason },
  { head: "Events", width: "5.5rem", right: true, first: -1, text: (row) => formatCount(row.count), order: (row) => row.count },
  { head: "Last 10 s", width: "5.5rem", right: true, first: -1, text: (row) => formatCount(row.recent), order: (row) => row.recent,
    mark: (row) => (row.recent > 0 ? "bad" : "") },
  { head: "First event", width: "26%", wrap: true, text: firstEvent },
];

const TIME_COLUMNS = [
  { head: "Node or activity", text: (row) => row.node || row.what, order: (row) => row.node || row.what },
  { head: "Kind", width: "24%", text: (row) => row.algorithm || (row.node ? row.what : "runtime") },
  barColumn("Share", "26%", (row) => row.share),
  { head: "%", width: "3.9rem", right: true, first: -1, text: (row) => formatPercent(row.share, 1), order: (row) => row.share },
  { head: "Total s", width: "5.2rem", right: true, first: -1, text: (row) => formatSeconds(row.seconds), order: (row) => row.seconds },
];

function formatSeconds(seconds) {
  if (!isNumber(seconds)) return DASH;
  return seconds < 999.95 ? seconds.toFixed(1) : formatCount(seconds);
}

const diskUsed = (disk) => (disk.total_bytes > 0 ? 1 - disk.free_bytes / disk.total_bytes : 0);

/* id of the section, caption, columns, rows of a status, key of a row, sort, and the element for the table (default: .scroll
 * of the section). */
const TABLES = [
  { id: "errors", caption: "Errors", columns: REASON_COLUMNS, rows: (s) => s.errors, key: (r) => `${r.node}\n${r.reason}`,
    sorted: { index: 2, direction: -1 }, narrowest: "34rem" },
  { id: "truncations", caption: "Truncated events", columns: REASON_COLUMNS, rows: (s) => s.truncations, key: (r) => `${r.node}\n${r.reason}`,
    sorted: { index: 2, direction: -1 }, narrowest: "34rem" },
  { id: "totals", caption: "Totals", rows: (s) => s.totals, key: (r) => `${r.output}.${r.field}`, columns: [
    { head: "Output", width: "38%", text: (r) => `${r.output}.${r.field}`, hint: (r) => r.doc || "" },
    { head: "Total over the run", wrap: true, text: (r) => r.values.map(formatCount).join("; ") } ] },
  { id: "links", caption: "Network", rows: (s) => s.links, key: (r) => r.name, narrowest: "34rem", columns: [
    { head: "Endpoint", text: (r) => r.name },
    { head: "Kind", width: "4.4rem", text: (r) => (r.is_input ? "input" : "output") },
    { head: "Messages", width: "6rem", right: true, text: (r) => formatCount(r.messages) },
    { head: "Bytes", width: "6.4rem", right: true, text: (r) => formatBytes(r.bytes) },
    { head: "Events", width: "6rem", right: true, text: (r) => formatCount(r.events) },
    { head: "Missing", width: "5rem", right: true, text: (r) => formatCount(r.missing), mark: (r) => (r.missing > 0 ? "bad" : ""),
      title: "messages missing in the sequences of the senders" },
    { head: "Lost", width: "4rem", right: true, text: (r) => formatCount(r.lost), mark: (r) => (r.lost > 0 ? "bad" : ""),
      title: "senders disconnected before their end" } ] },
  { id: "outputs", caption: "Output files", rows: (s) => s.outputs, key: (r) => `${r.node}\n${r.path}`, narrowest: "26rem", columns: [
    { head: "File", wrap: true, text: (r) => r.path },
    { head: "Node", width: "20%", text: (r) => r.node },
    { head: "Size", width: "6.4rem", right: true, text: (r) => formatBytes(r.bytes) },
    { head: "Events", width: "6rem", right: true, text: (r) => formatCount(r.events) } ] },
  { id: "outputs", parent: "disks", caption: "Disks", rows: (s) => s.disks, key: (r) => r.folder, narrowest: "26rem", columns: [
    { head: "Folder", wrap: true, text: (r) => r.folder },
    barColumn("Used", "24%", diskUsed, (r) => (diskUsed(r) > 0.95 ? "bad" : diskUsed(r) > 0.85 ? "warn" : "")),
    { head: "%", width: "3.9rem", right: true, text: (r) => formatPercent(diskUsed(r), 1) },
    { head: "Free", width: "6.4rem", right: true, text: (r) => formatBytes(r.free_bytes) },
    { head: "Total", width: "6.4rem", right: true, text: (r) => formatBytes(r.total_bytes) } ] },
  { id: "device-times", caption: "Time on the device", columns: TIME_COLUMNS, rows: (s) => s.times.device, key: (r) => r.node,
    sorted: { index: 3, direction: -1 } },
  { id: "thread-times", caption: "Time of threads", columns: TIME_COLUMNS, rows: (s) => s.times.threads,
    key: (r) => `${r.what}\n${r.node || ""}`, sorted: { index: 3, direction: -1 } },
  { id: "budgets", caption: "Budgets", rows: (s) => s.budgets, key: (r) => r.buffer, sorted: { index: 2, direction: -1 }, narrowest: "34rem", columns: [
    { head: "Buffer", text: (r) => r.buffer, order: (r) => r.buffer },
    barColumn("Fill", "18%", (r) => r.fill, (r) => (r.fill > 1 ? "bad" : r.fill > 0.9 ? "warn" : "")),
    { head: "%", width: "3.9rem", right: true, first: -1, text: (r) => formatPercent(r.fill, 1), order: (r) => r.fill },
    { head: "Used", width: "5.4rem", right: true, first: -1, text: (r) => formatCount(r.used_max), order: (r) => r.used_max },
    { head: "Capacity", width: "5.4rem", right: true, first: -1, text: (r) => formatCount(r.capacity), order: (r) => r.capacity },
    { head: "Overflows", width: "6rem", right: true, first: -1, text: (r) => formatCount(r.overflows), order: (r) => r.overflows,
      mark: (r) => (r.overflows > 0 ? "bad" : "") } ] },
  { id: "differences", caption: "Settings", rows: (s) => (s.reference ? s.reference.differences : []), key: (r) => r.setting, columns: [
    { head: "Setting", wrap: true, text: (r) => r.setting },
    { head: "Reference", width: "28%", wrap: true, text: (r) => (r.reference === null ? DASH : r.reference) },
    { head: "This run", width: "28%", wrap: true, text: (r) => (r.value === null ? DASH : r.value) } ] },
  { id: "configurations", caption: "Configurations", rows: (s) => s.configurations, key: (r) => `${r.digest} ${r.first_event}`, columns: [
    { head: "Digest", text: (r) => r.digest },
    { head: "First event", width: "9rem", right: true, text: (r) => formatCount(r.first_event) },
    { head: "Events", width: "9rem", right: true, text: (r) => formatCount(r.events) } ] },
];

function startTables() {
  for (const one of TABLES) {
    const parent = one.parent ? byId(one.parent) : byId(one.id).querySelector(".scroll");
    one.table = new Table(parent, one.caption, one.columns, { sorted: one.sorted, narrowest: one.narrowest });
  }
}

/* A section is hidden if all of its tables are empty. */
function showTables(status) {
  const filled = new Set();
  for (const one of TABLES) {
    const rows = one.rows(status);
    if (rows.length > 0) filled.add(one.id);
    one.table.element.hidden = rows.length === 0;
    one.table.update(rows, one.key);
  }
  for (const one of TABLES) byId(one.id).hidden = !filled.has(one.id);
}

/* States how many of the settings that differ are shown. */
function showDifferences(reference) {
  const note = byId("differences").querySelector(".note");
  note.hidden = !reference || reference.differences_total <= reference.differences.length;
  if (!note.hidden)
    setText(note, `The first ${formatCount(reference.differences.length)} of ${formatCount(reference.differences_total)} settings that differ.`);
}

function referenceText(reference) {
  if (!reference) return null;
  const started = reference.started ? `, started ${formatDate(reference.started)}` : "";
  return `${reference.files.join(", ")}, ${plural(reference.events, "event")}${started}`;
}

function graphText(graph) {
  const settings = isNumber(graph.settings) ? plural(graph.settings, "setting") : null;
  return [graph.name, graph.digest && `digest ${graph.digest}`, settings].filter(Boolean).join(", ");
}

function planText(plan) {
  if (!plan) return null;
  return `arena ${joined(formatBytes(plan.arena_bytes))} per slot, ${plural(plan.changes, "change")}, ${plural(plan.retries, "retry", "retries")}`;
}

function showLog(log) {
  const section = byId("log");
  section.hidden = log.length === 0;
  const text = JSON.stringify(log);
  if (section.dataset.shown === text) return;
  section.dataset.shown = text;
  section.querySelector("ol").replaceChildren(...[...log].reverse().map((line) =>
    make("li", { class: line.severity }, make("span", { class: "time" }, formatDuration(line.seconds)),
      make("span", { class: "severity" }, line.severity),
      make("span", { class: "text" }, [line.location, line.node && `node ${line.node}`, line.text].filter(Boolean).join(": ")))));
}

function showFollow(follow) {
  byId("follow").hidden = !follow;
  if (!follow) return;
  setPairs(byId("follow").querySelector("dl"), [["folder", follow.folder], ["files taken", formatCount(follow.taken)],
    ["waiting", formatCount(follow.waiting)], ["moved", formatCount(follow.moved)], ["late", formatCount(follow.late)],
    ["refused", formatCount(follow.refused)]]);
}

function powerText(energy) {
  if (!energy) return null;
  const parts = [["device", energy.device_watts], ["processors", energy.processor_watts]];
  return parts.filter(([, watts]) => isNumber(watts)).map(([name, watts]) => `${name} ${formatCount(watts)} W`).join(", ");
}

function showRun(status) {
  const { sluice, graph, plan } = status;
  byId("run").hidden = false;
  setPairs(byId("run").querySelector("dl"), [
    ["command", status.command],
    ["started", formatDate(status.started)],
    ["process", status.process ? `${status.process} on ${status.host}` : null],
    ["version", [sluice.version, sluice.commit && `commit ${sluice.commit.slice(0, 12)}`].filter(Boolean).join(", ")],
    ["graph", graphText(graph)],
    ["conditions", isNumber(status.conditions_run) ? `run ${status.conditions_run}` : null],
    ["reference", referenceText(status.reference)],
    ["slots", formatCount(status.slots)],
    ["memory plan", planText(plan)],
    ["power", powerText(status.energy)],
  ]);
}
