/* main.js: starts the sections and gives each new status to them. */

const page = { status: null, reference: null };

/* The reference is requested once, and again when the run has another one. */
async function loadReference(reference) {
  const wanted = reference ? JSON.stringify([reference.files, reference.started]) : null;
  if (wanted === page.reference) return;
  page.reference = wanted;
  if (wanted === null) return showHistogramReference(null);
  const resource = new Resource("reference.json", showHistogramReference);
  if (!(await resource.request())) page.reference = undefined; // the next status tries again
}

/* Lists and drawings that a status may leave out. */
const NOTHING = {
  alarms: [], entries: [], totals: [], errors: [], truncations: [], times: { threads: [], device: [] }, budgets: [], configurations: [],
  outputs: [], disks: [], links: [], log: [], drawings: { sinks: [], names: [] }, reference: null, follow: null,
};

function showStatus(value) {
  const status = { ...NOTHING, ...value };
  page.status = status;
  histograms.events = status.events || 0;
  for (const show of [
    () => showState(status), () => showHead(status), () => showAlarms(status.alarms), () => showEntries(status.entries),
    () => showTables(status), () => showDifferences(status.reference), () => showLog(status.log), () => showFollow(status.follow),
    () => showRun(status), () => showDrawings(status.drawings), () => loadReference(status.reference),
  ]) {
    try {
      show();
    } catch (error) {
      console.error(error); // one section with unexpected values does not stop the others
    }
  }
}

startAlarms();
startEntries();
startTables();
startHistograms();
startEvent();
new Resource("status.json", showStatus, {
  onResponse: noteResponse,
  onFault: (error) => { connection.fault = error.message; },
}).poll();
setInterval(() => showState(page.status), PERIOD_MS);
