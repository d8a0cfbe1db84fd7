/* histograms.js: the section of histograms. A histogram is drawn when it is in view and has changed; one is enlarged in a
 * dialog. */

const SMALL = { width: 330, height: 206, most: 10 };
const LARGE = { width: 1000, height: 560, most: Infinity };
const HIDDEN_PERIOD_MS = 10000; // how often to look for histograms while there are none

const histograms = {
  all: [], figures: new Map(), reference: new Map(), referenceEvents: 0, events: 0, isVisible: false, asked: 0, zoomed: null,
};

function areHistogramsWanted() {
  const isTimeToLook = byId("histograms").hidden && Date.now() - histograms.asked >= HIDDEN_PERIOD_MS;
  return !document.hidden && (histograms.isVisible || histograms.zoomed !== null || isTimeToLook);
}

function viewOf(size) {
  const isScaled = byId("histograms-scaled").checked && histograms.referenceEvents > 0;
  return {
    ...size, log: byId("histograms-log").checked, errors: byId("histograms-errors").checked,
    deviation: byId("histograms-deviation").checked, factor: isScaled ? histograms.events / histograms.referenceEvents : 1,
  };
}

/* The reference of a histogram, and why there is none to draw. */
function referenceOf(histogram) {
  const reference = histograms.reference.get(histogram.name);
  if (!reference) return [null, ""];
  return isComparable(histogram, reference) ? [reference, ""] : [null, "the reference has other bins"];
}

/* Draws into a <figure>: title, plot and caption. */
function drawFigure(figure, histogram, size) {
  const [reference, fault] = referenceOf(histogram);
  const drawn = drawHistogram(histogram, reference, viewOf(size));
  const holder = figure.firstElementChild;
  setText(holder.firstElementChild, histogram.title || histogram.name);
  holder.firstElementChild.title = histogram.name;
  if (holder.children[1]) holder.children[1].replaceWith(drawn);
  else holder.append(drawn);
  setLines(figure.lastElementChild, [...captionOf(histogram, reference), fault, drawn.dataset.left].filter(Boolean));
  figure.dataset.reference = reference ? "drawn" : "none";
}

function makeFigure(name) {
  const button = make("button", { type: "button", "aria-label": `enlarge the histogram ${name}` }, make("span", { class: "histogram-title" }));
  const figure = make("figure", { "data-histogram": name }, button, make("figcaption"));
  button.addEventListener("click", () => openZoom(name));
  watchVisible(figure, (isVisible) => {
    figure.dataset.visible = isVisible ? "yes" : "";
    if (isVisible) drawByName(name);
  });
  return figure;
}

const histogramOf = (name) => histograms.all.find((histogram) => histogram.name === name);

function drawByName(name) {
  const figure = histograms.figures.get(name);
  const histogram = histogramOf(name);
  if (figure && histogram && figure.dataset.visible) drawFigure(figure, histogram, SMALL);
}

function drawAll() {
  for (const histogram of histograms.all) drawByName(histogram.name);
  const hasReference = histograms.all.some((histogram) => referenceOf(histogram)[0]);
  byId("histograms-scaled-label").hidden = !hasReference;
  byId("histograms-deviation-label").hidden = !histograms.all.some((histogram) => histogram.y && referenceOf(histogram)[0]);
  const key = byId("histograms-key");
  key.hidden = !hasReference;
  if (!key.firstChild && hasReference)
    key.append(make("span", { class: "key-line" }), "this run", make("span", { class: "key-line reference" }), make("span"));
  if (hasReference) setText(key.lastChild, `reference of ${plural(histograms.referenceEvents, "event")}`);
  if (histograms.zoomed !== null) drawZoom();
}

function showHistograms(value) {
  histograms.all = value && value.histograms ? value.histograms : [];
  byId("histograms").hidden = histograms.all.length === 0;
  const names = new Set(histograms.all.map((histogram) => histogram.name));
  for (const name of histograms.figures.keys()) if (!names.has(name)) histograms.figures.delete(name);
  for (const name of names) if (!histograms.figures.has(name)) histograms.figures.set(name, makeFigure(name));
  setChildren(byId("histogram-grid"), [...names].map((name) => histograms.figures.get(name)));
  drawAll();
}

function showHistogramReference(value) {
  histograms.reference = new Map(((value && value.histograms) || []).map((histogram) => [histogram.name, histogram]));
  histograms.referenceEvents = (value && value.events) || 0;
  drawAll();
}

/* ------------------------------------------------------------------------------------------------- enlarged */

function openZoom(name) {
  histograms.zoomed = name;
  byId("zoom-plot").replaceChildren(make("figure", {}, make("div", {}, make("span", { class: "histogram-title" })), make("figcaption")));
  setText(byId("zoom-readout"), " ");
  byId("zoom").showModal();
  drawZoom();
}

function drawZoom() {
  const histogram = histogramOf(histograms.zoomed);
  if (!histogram) return byId("zoom").close();
  setText(byId("zoom-title"), histogram.title ? `${histogram.title} (${histogram.name})` : histogram.name);
  const scroll = byId("zoom-plot").querySelector(".categories");
  const top = scroll ? scroll.scrollTop : 0;
  drawFigure(byId("zoom-plot").firstElementChild, histogram, LARGE);
  if (scroll) byId("zoom-plot").querySelector(".categories").scrollTop = top;
}

function moveZoom(step) {
  const at = histograms.all.findIndex((histogram) => histogram.name === histograms.zoomed);
  const next = histograms.all[(at + step + histograms.all.length) % histograms.all.length];
  histograms.zoomed = next.name;
  setText(byId("zoom-readout"), " ");
  drawZoom();
}

function readZoom(event) {
  const plot = event.target.closest(".plot");
  const histogram = histogramOf(histograms.zoomed);
  if (!plot || !histogram) return;
  const box = plot.getBoundingClientRect();
  const [x, y] = [(event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height];
  const text = readBin(histogram, referenceOf(histogram)[0], viewOf(LARGE), x, y);
  setText(byId("zoom-readout"), text || " ");
}

function startHistograms() {
  for (const name of ["log", "errors", "scaled", "deviation"]) byId(`histograms-${name}`).addEventListener("change", drawAll);
  watchVisible(byId("histograms"), (isVisible) => { histograms.isVisible = isVisible; });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
  const zoom = byId("zoom");
  zoom.addEventListener("close", () => { histograms.zoomed = null; });
  zoom.addEventListener("click", (event) => { if (event.target === zoom) zoom.close(); });
  zoom.addEventListener("keydown", (event) => {
    if (event.key === "ArrowLeft") moveZoom(-1);
    if (event.key === "ArrowRight") moveZoom(1);
  });
  byId("zoom-plot").addEventListener("pointermove", readZoom);
  byId("zoom-before").addEventListener("click", () => moveZoom(-1));
  byId("zoom-after").addEventListener("click", () => moveZoom(1));
  byId("zoom-close").addEventListener("click", () => zoom.close());
  new Resource("histograms.json", showHistograms, {
    isWanted: areHistogramsWanted,
    onResponse: () => { histograms.asked = Date.now(); },
  }).poll();
}
