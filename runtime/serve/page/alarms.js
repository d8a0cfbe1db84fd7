/* alarms.js: alarms and their acknowledgement. The token is asked for once and kept in sessionStorage. */

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

/* Word and class of an alarm. One that has ended is shown until it is acknowledged. */
function alarmState(alarm) {
  if (!alarm.active) return ["ended", "ended"];
  return alarm.acknowledged ? ["✓ acknowledged", "active acknowledged"] : ["⚠ ALARM", "active"];
}

function showAlarm(alarm) {
  if (!alarmRows.has(alarm.id)) alarmRows.set(alarm.id, makeAlarmRow(alarm.id));
  const row = alarmRows.get(alarm.id);
  const [word, style] = alarmState(alarm);
  const since = isNumber(alarm.since_seconds) ? formatDuration(alarm.since_seconds, 0) : "";
  setAttribute(row, "class", style);
  setText(row.querySelector(".word"), word);
  setText(row.querySelector(".what"), alarm.text);
  setText(row.querySelector(".since"), !since ? "" : alarm.active ? `for ${since}` : `${since} ago`);
  row.querySelector("button").hidden = alarm.acknowledged;
  return row;
}

/* Active alarms are first, those that are not acknowledged before others. */
function showAlarms(alarms) {
  byId("alarms").hidden = alarms.length === 0;
  const known = new Set(alarms.map((alarm) => alarm.id));
  for (const id of alarmRows.keys()) if (!known.has(id)) alarmRows.delete(id);
  const sorted = [...alarms].sort((a, b) => b.active - a.active || a.acknowledged - b.acknowledged);
  setChildren(byId("alarm-list"), sorted.map(showAlarm));
}

function startAlarms() {
  byId("token-cancel").addEventListener("click", () => byId("token").close(""));
}
