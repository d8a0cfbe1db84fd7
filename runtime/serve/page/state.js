/* state.js: the head of the page: state of the run, rate, progress and errors; the title of the tab. */

const STATE_WORDS = {
  connecting: { sign: "…", style: "" },
  running: { sign: "▶", style: "running" },
  waiting: { sign: "‖", style: "waiting" },
  ended: { sign: "■", style: "" },
  failed: { sign: "✕", style: "failed" },
  silent: { sign: "✕", style: "silent" },
};

/* The state as the operator sees it: {kind, text}. An ended run publishes nothing new. */
function stateOf(status) {
  const silentSeconds = (Date.now() - connection.answered) / 1000;
  const since = connection.answered ? `${formatTime(connection.answered)} (${formatDuration(silentSeconds, 0)})` : null;
  const isEnded = status && status.state === "ended";
  const isSilent = connection.fault && !(isEnded && connection.fault.startsWith("the server answers"));
  const end = isEnded ? `ended: ${status.status || "status unknown"}` : "";
  if (isSilent && isEnded) return { kind: "ended", text: `${end}; page not served since ${since}` };
  if (isSilent) return { kind: "silent", text: since ? `no answer from the run since ${since}` : "no answer from the run" };
  if (!status) return { kind: "connecting", text: "connecting" };
  if (isEnded) return { kind: ["ok", "interrupted"].includes(status.status) ? "ended" : "failed", text: end };
  if (status.state === "waiting")
    return { kind: "waiting", text: `waiting for input for ${formatDuration(status.waiting_seconds, 0)}` };
  return { kind: "running", text: status.state };
}

function showState(status) {
  const { kind, text } = stateOf(status);
  const word = STATE_WORDS[kind];
  const state = byId("state");
  setAttribute(state, "class", `state ${word.style}`.trim());
  state.dataset.state = kind;
  setText(state.querySelector(".sign"), word.sign);
  setText(state.querySelector(".text"), text);
  state.title = connection.fault || "";
  const active = status ? status.alarms.filter((alarm) => alarm.active).length : 0;
  const shown = kind === "silent" ? "no answer" : kind === "failed" ? "failed" : status ? status.state : "connecting";
  const title = `${active ? `(${plural(active, "alarm")}) ` : ""}${shown} · ${status ? formatGraph(status.graph.name) : "Sluice"}`;
  if (document.title === title) return;
  document.title = title;
  setText(byId("announcement"), title); // to screen readers, which would read the seconds of #state each second
}

function showProgress(progress, seconds) {
  byId("progress").hidden = !progress || !(progress.total > 0);
  if (byId("progress").hidden) return;
  const fraction = Math.min(progress.done / progress.total, 1);
  const left = progress.done > 0 && fraction < 1 ? `, about ${formatDuration(seconds * (1 / fraction - 1))} left` : "";
  byId("progress-bar").value = fraction;
  setText(byId("progress-text"), `${(100 * fraction).toFixed(1)} %`);
  byId("progress").title = `${formatCount(progress.done)} of ${formatCount(progress.total)}${left}`;
}

function showHead(status) {
  setText(byId("graph"), formatGraph(status.graph.name));
  byId("graph").title = status.graph.name || "";
  const where = [status.host, [status.device, status.device_description].filter(Boolean).join(": ")];
  setText(byId("where"), where.filter(Boolean).join(" · "));
  setText(byId("rate"), joined(formatRate(status.rate_hz)));
  drawSparkline(byId("rate-history"), status.rate_history || []);
  setText(byId("mean"), joined(formatRate(status.mean_hz)));
  setText(byId("events"), formatCount(status.events));
  setText(byId("error-events"), formatCount(status.error_events));
  setText(byId("error-fraction"), status.events > 0 ? `${formatPercent(status.error_events / status.events)} %` : "");
  byId("error-figure").classList.toggle("bad", status.errors.some((error) => error.recent > 0));
  setText(byId("duration"), formatDuration(status.seconds));
  byId("duration").title = `started ${formatDate(status.started)}`;
  showProgress(status.progress, status.seconds);
}
