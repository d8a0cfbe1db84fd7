/* event.js: the picture of the newest event. The next one is requested by the key n, or every second while "automatic" is
 * chosen. The picture is shown by <img>, where scripts in an SVG are not run. */

const picture = { drawings: null, serial: null, isNextWanted: false, isVisible: false, url: null, choice: 0 };

const NO_SINK = "No sink of this graph draws events. To see events here, start the run with --with output/event_picture.yaml.";

function showDrawings(drawings) {
  picture.drawings = drawings;
  const hasSink = drawings.sinks.length > 0;
  byId("event").hidden = false;
  byId("event-controls").hidden = !hasSink;
  if (!hasSink) {
    setText(byId("event-text"), NO_SINK);
    byId("event-enlarge").hidden = true;
    return;
  }
  setOptions(byId("event-sink"), drawings.sinks.map((sink) => [sink, sink]));
  byId("event-sink-label").hidden = drawings.sinks.length < 2;
  const names = drawings.names.flatMap((group) => group.names);
  byId("event-name-label").hidden = names.length === 0;
  setText(byId("event-name-text"), drawings.names.length === 1 ? `Only ${drawings.names[0].label}` : "Only");
  setOptions(byId("event-name"), [["", "any event"], ...names.map((name) => [name, name])]);
}

function eventPath() {
  const query = new URLSearchParams({ sink: byId("event-sink").value });
  if (byId("event-name").value) query.set("name", byId("event-name").value);
  if (picture.serial !== null) query.set("after", picture.serial);
  return `event.svg?${query}`;
}

/* Requests a picture; returns false after a failure. */
async function requestPicture() {
  const choice = picture.choice;
  let response;
  let text;
  try {
    response = await fetch(eventPath(), { cache: "no-store", signal: AbortSignal.timeout(TIMEOUT_MS) });
    text = response.status === 200 ? await response.text() : "";
  } catch (error) {
    setText(byId("event-text"), `no picture: ${error.message}`);
    return false;
  }
  if (choice !== picture.choice) return true; // another sink or name was chosen meanwhile
  if (response.status === 200) {
    showPicture(response, text);
  } else if (response.status === 204) {
    if (picture.serial === null || picture.isNextWanted)
      setText(byId("event-text"), byId("event-name").value ? `waiting for an event of ${byId("event-name").value}` : "waiting for an event");
  } else {
    setText(byId("event-text"), `no picture: ${await errorText(response)}`);
    return false;
  }
  return true;
}

function showPicture(response, text) {
  const event = response.headers.get("X-Sluice-Event") || "";
  const [run, number] = event.split(":");
  const words = number === undefined ? event : `run ${run}, event ${number}`;
  picture.serial = response.headers.get("X-Sluice-Serial") || "0";
  picture.isNextWanted = false;
  const before = picture.url;
  picture.url = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
  const image = byId("event-picture");
  image.src = picture.url;
  image.alt = `picture of ${words}`;
  if (before) URL.revokeObjectURL(before);
  byId("event-enlarge").hidden = false;
  byId("event-enlarge").dataset.serial = picture.serial;
  setText(byId("event-text"), words);
}

async function pollPicture() {
  for (;;) {
    const isWanted = picture.drawings && picture.drawings.sinks.length > 0 && picture.isVisible && !document.hidden &&
      (picture.serial === null || picture.isNextWanted || byId("event-automatic").checked);
    const isGood = !isWanted || (await requestPicture());
    await sleep(isGood ? PERIOD_MS : PERIOD_AFTER_FAILURE_MS);
  }
}

function chooseAgain() {
  picture.serial = null;
  picture.choice++;
  setText(byId("event-text"), "waiting for an event");
}

function startEvent() {
  watchVisible(byId("event"), (isVisible) => { picture.isVisible = isVisible; });
  for (const id of ["event-sink", "event-name"]) byId(id).addEventListener("change", chooseAgain);
  byId("event-next").addEventListener("click", () => { picture.isNextWanted = true; });
  byId("event-enlarge").addEventListener("click", () => byId("event-picture").requestFullscreen().catch(() => {}));
  document.addEventListener("keydown", (event) => {
    const isTyping = event.target.closest("input, select, textarea, dialog");
    if (event.key === "n" && !isTyping && !event.ctrlKey && !event.altKey && !event.metaKey) picture.isNextWanted = true;
  });
  pollPicture();
}
