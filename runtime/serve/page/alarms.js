/* alarms.js: alarms, active ones first, and their acknowledgement. The token is asked for once and kept in sessionStorage. */

const TOKEN_KEY = "sluice-token";
const alarmRows = new Map(); // {element, fault} by identifier

/* Asks for the token; null if the dialog was cancelled. */
function askToken() {
  const dialog = byId("token");
  byId("token-text").value = "";
  dialog.returnValue = "";
  dialog.showModal();
  return new Promise((resolve) => {
    const end = () => resolve(dialog.returnValue === "ok" ? byId("token-text").value.trim() : null);
    dialog.addEventListener("close", end, { once: true });
  });
}

async function errorText(response) {
  try {
    const answer = await response.json();
    return answer.error || answer.errors.map((error) => error.message).join("; ");
  } catch {
    return `HTTP status ${response.status}`;
  }
}

async function acknowledge(id) {
  const token = sessionStorage.getItem(TOKEN_KEY) || (await askToken());
  if (!token) return;
  let fault = "";
  try {
    const response = await fetch(`alarms/${encodeURIComponent(id)}/acknowledge`, {
      method: "POST", cache: "no-store", signal: AbortSignal.timeout(TIMEOUT_MS), headers: { Authorization: `Bearer ${token}` },
    });
    if (response.ok) sessionStorage.setItem(TOKEN_KEY, token);
    else fault = `not acknowledged: ${await errorText(response)}`;
    if (response.status === 401) sessionStorage.removeItem(TOKEN_KEY);
  } catch (error) {
    fault = `not acknowledged: ${error.message}`;
  }
  const row = alarmRows.get(id);
  if (row) setText(row.querySelector(".fault"), fault);
}

function makeAlarmRow(id) {
  const button = make("button", { type: "button" }, "Acknowledge");
  button.addEventListener("click", () => acknowledge(id));
  return make("li", { "data-alarm": id }, make("span", { class: "word" }), make("span", { class: "what" }),
    make("span", { class: "since muted" }), button, make("span", { class: "fault", role: "alert" }));
}

function showAlarm(alarm) {
  if (!alarmRows.has(alarm.id)) alarmRows.set(alarm.id, makeAlarmRow(alarm.id));
  const row = alarmRows.get(alarm.id);
  const word = !alarm.active ? "within limits" : alarm.acknowledged ? "✓ acknowledged" : "⚠ ALARM";
  setAttribute(row, "class", [alarm.active && "active", alarm.acknowledged && "acknowledged"].filter(Boolean).join(" "));
  setText(row.querySelector(".word"), word);
  setText(row.querySelector(".what"), alarm.text);
  const since = alarm.active && isNumber(alarm.since_seconds) ? `for ${formatDuration(alarm.since_seconds, 0)}` : "";
  setText(row.querySelector(".since"), since);
  row.querySelector("button").hidden = !alarm.active || alarm.acknowledged;
  return row;
}

function showAlarms(alarms) {
  byId("alarms").hidden = alarms.length === 0;
  const known = new Set(alarms.map((alarm) => alarm.id));
  for (const id of alarmRows.keys()) if (!known.has(id)) alarmRows.delete(id);
  const active = alarms.filter((alarm) => alarm.active).sort((a, b) => a.acknowledged - b.acknowledged);
  const quiet = alarms.filter((alarm) => !alarm.active);
  setChildren(byId("alarm-list"), active.map(showAlarm));
  const details = byId("quiet-alarms");
  details.hidden = quiet.length === 0;
  setText(details.querySelector("summary"), `${plural(quiet.length, "alarm")} within limits`);
  setChildren(details.querySelector("ul"), quiet.map(showAlarm));
}

function startAlarms() {
  byId("token-cancel").addEventListener("click", () => byId("token").close(""));
}
