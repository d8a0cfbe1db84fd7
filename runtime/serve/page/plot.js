/* plot.js: one histogram as a picture: steps in one dimension, a colour map in two, bars for categories. A view is
 * {log, errors, deviation, factor, width, height, most}: `factor` scales the counts of the reference, `most` limits the
 * categories, `deviation` makes a colour map one of differences from the reference. */

const MARGIN = { left: 50, right: 12, top: 8, bottom: 34 };
const SCALE_WIDTH = 58; // room for the scale of colours on the right
const DEVIATION_MAX = 5; // standard deviations at the ends of the colours

/* Colours of counts, and of differences, from the lowest to the highest; none needs red and green to be told apart. */
const COLOURS = {
  light: { counts: ["#dceaf5", "#7db5de", "#0b62a8", "#041d35"], deviation: ["#55369e", "#b9a9e0", "#f0f1f2", "#f0b27a", "#9a4200"] },
  dark: { counts: ["#17324a", "#1f77bd", "#7fc4f2", "#f6f8d8"], deviation: ["#bda6f7", "#5b4a94", "#252b32", "#8a5526", "#ffb070"] },
};

/* Positions of ticks at 1, 2 or 5 times a power of ten. */
function ticks(lower, upper, most) {
  const rough = (upper - lower) / most;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].find((factor) => factor * power >= rough * 0.999) * power;
  const found = [];
  for (let i = Math.ceil(lower / step - 1e-9); i * step <= upper + 1e-9 * step; i++) found.push(i * step);
  return found;
}

function logTicks(lower, upper) {
  const found = [];
  const stride = Math.max(1, Math.ceil(Math.log10(upper / lower) / 5));
  for (let power = Math.ceil(Math.log10(lower)); 10 ** power <= upper; power += stride) found.push(10 ** power);
  return found;
}

/* 12,500 is 12.5k. */
function tickText(value) {
  if (Math.abs(value) < 1e4) return formatNumber(value, 4);
  const [number, prefix] = withPrefix(value, "");
  return (number.includes(".") ? number.replace(/\.?0+$/, "") : number) + prefix;
}

function linearScale(lower, upper, from, to) {
  const scale = (value) => from + (to - from) * (value - lower) / (upper - lower);
  return Object.assign(scale, { lower, upper, isLog: false });
}

function logScale(lower, upper, from, to) {
  const scale = (value) => (value <= lower ? from : from + (to - from) * Math.log(value / lower) / Math.log(upper / lower));
  return Object.assign(scale, { lower, upper, isLog: true });
}

/* Scale of counts from 0, or from below the smallest count, to above the largest. The upper end is round, so that it changes
 * rarely while counts grow. */
function countScale(values, isLog, from, to) {
  let largest = 0;
  let smallest = 1;
  for (const value of values) {
    if (value > largest) largest = value;
    if (value > 0 && value < smallest) smallest = value;
  }
  if (largest <= 0) largest = 1;
  if (isLog) return logScale(10 ** Math.floor(Math.log10(smallest)) / 2, 2 * Math.max(largest, 1), from, to);
  const step = ticks(0, largest * 1.04, 8)[1] || largest;
  return linearScale(0, Math.ceil((largest * 1.04) / step) * step, from, to);
}

const withUnit = (text, axis) => (axis.unit ? `${text} ${axis.unit}` : text);

function axisText(axis) {
  return `${axis.field || axis.label || ""}${axis.unit ? ` [${axis.unit}]` : ""}`;
}

function makePlot(view, ...parts) {
  const plot = make("span", { class: "plot" });
  plot.style.setProperty("--aspect", `${view.width} / ${view.height}`);
  plot.append(...parts);
  return plot;
}

/* Axes as SVG elements; `y` is a scale of counts or of the second field, `margin` the room on the right. */
function drawAxes(view, x, y, xText, yText, margin) {
  const { width, height } = view;
  const right = width - margin;
  const bottom = height - MARGIN.bottom;
  const parts = [];
  const yTicks = y.isLog ? logTicks(y.lower, y.upper) : ticks(y.lower, y.upper, height / 45);
  for (const value of yTicks) {
    const at = y(value);
    parts.push(makeSvg("path", { class: "grid", d: `M${MARGIN.left} ${at.toFixed(1)}H${right}` }),
      makeSvg("text", { x: MARGIN.left - 5, y: at + 3.5, "text-anchor": "end" }, tickText(value)));
  }
  for (const value of ticks(x.lower, x.upper, width / 70)) {
    const at = x(value).toFixed(1);
    parts.push(makeSvg("path", { class: "axis", d: `M${at} ${bottom}v4` }),
      makeSvg("text", { x: at, y: bottom + 15, "text-anchor": "middle" }, tickText(value)));
  }
  parts.push(makeSvg("path", { class: "axis", d: `M${MARGIN.left} ${bottom}H${right}` }),
    makeSvg("text", { x: right, y: height - 4, "text-anchor": "end" }, xText));
  parts.push(makeSvg("text", { transform: `translate(10 ${MARGIN.top}) rotate(-90)`, "text-anchor": "end" }, yText));
  return parts;
}

function stepsPath(counts, x, y, edge) {
  let path = `M${x(edge(0)).toFixed(1)} ${y(y.lower).toFixed(1)}`;
  counts.forEach((count, i) => { path += `V${y(count).toFixed(1)}H${x(edge(i + 1)).toFixed(1)}`; });
  return `${path}V${y(y.lower).toFixed(1)}`;
}

/* Statistical errors: the square root of each count. */
function errorsPath(counts, x, y, edge) {
  return counts.map((count, i) => {
    if (!(count > 0)) return "";
    const middle = x((edge(i) + edge(i + 1)) / 2).toFixed(1);
    return `M${middle} ${y(count - Math.sqrt(count)).toFixed(1)}V${y(count + Math.sqrt(count)).toFixed(1)}`;
  }).join("");
}

function drawSteps(histogram, reference, view) {
  const axis = histogram.x;
  const edge = (i) => axis.lower + i * (axis.upper - axis.lower) / axis.bins;
  const counts = histogram.counts;
  const scaled = reference ? reference.counts.map((count) => count * view.factor) : [];
  const tops = view.errors ? counts.map((count) => count + Math.sqrt(count)) : counts;
  const x = linearScale(axis.lower, axis.upper, MARGIN.left, view.width - MARGIN.right);
  const y = countScale([...tops, ...scaled], view.log, view.height - MARGIN.bottom, MARGIN.top);
  const svg = makeSvg("svg", { viewBox: `0 0 ${view.width} ${view.height}`, "aria-hidden": "true" }, 
    ...drawAxes(view, x, y, axisText(axis), `entries / ${withUnit(formatNumber((axis.upper - axis.lower) / axis.bins, 3), axis)}`, MARGIN.right));
  const steps = stepsPath(counts, x, y, edge);
  svg.append(makeSvg("path", { class: "area", d: steps }), makeSvg("path", { class: "steps", d: steps }));
  if (view.errors) svg.append(makeSvg("path", { class: "bars", d: errorsPath(counts, x, y, edge) }));
  if (reference) svg.append(makeSvg("path", { class: "reference", d: stepsPath(scaled, x, y, edge) }));
  return makePlot(view, svg);
}

/* Colour of a value between 0 and 1, as three bytes. */
function colourOf(value, stops) {
  const at = Math.min(Math.max(value, 0), 1) * (stops.length - 1);
  const i = Math.min(Math.floor(at), stops.length - 2);
  const byte = (stop, k) => parseInt(stops[stop].slice(1 + 2 * k, 3 + 2 * k), 16);
  return [0, 1, 2].map((k) => Math.round(byte(i, k) + (at - i) * (byte(i + 1, k) - byte(i, k))));
}

/* A canvas with one pixel per bin, stretched over the axes. colourAt(i, j) is null for a transparent bin. */
function drawBins(histogram, view, colourAt) {
  const { bins: columns } = histogram.x;
  const { bins: rows } = histogram.y;
  const canvas = make("canvas", { width: columns, height: rows });
  const context = canvas.getContext("2d");
  const image = context.createImageData(columns, rows);
  for (let j = 0; j < rows; j++)
    for (let i = 0; i < columns; i++) {
      const colour = colourAt(i, j);
      if (colour) image.data.set([...colour, 255], 4 * ((rows - 1 - j) * columns + i));
    }
  context.putImageData(image, 0, 0);
  const percent = (part, whole) => `${(100 * part / whole).toFixed(3)}%`;
  Object.assign(canvas.style, {
    left: percent(MARGIN.left, view.width), top: percent(MARGIN.top, view.height),
    width: percent(view.width - MARGIN.left - SCALE_WIDTH, view.width),
    height: percent(view.height - MARGIN.top - MARGIN.bottom, view.height),
  });
  return canvas;
}

/* Difference from the scaled reference in standard deviations; null if both are empty. */
function deviationOf(count, expected, factor) {
  return count > 0 || expected > 0 ? (count - factor * expected) / Math.sqrt(count + factor * factor * expected) : null;
}

/* scaleTo(from, to) is the scale of the colours; valueAt(i, j) is null for a bin without a colour. */
function mapOf(histogram, reference, view, colours) {
  if (reference && view.deviation)
    return { stops: colours.deviation, scaleTo: (from, to) => linearScale(-DEVIATION_MAX, DEVIATION_MAX, from, to),
      valueAt: (i, j) => deviationOf(histogram.counts[j][i], reference.counts[j][i], view.factor) };
  const counts = histogram.counts.flat();
  return { stops: colours.counts, scaleTo: (from, to) => countScale(counts, view.log, from, to),
    valueAt: (i, j) => histogram.counts[j][i] || null };
}

function drawMap(histogram, reference, view) {
  const colours = COLOURS[matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light"];
  const { stops, scaleTo, valueAt } = mapOf(histogram, reference, view, colours);
  const bottom = view.height - MARGIN.bottom;
  const left = view.width - SCALE_WIDTH;
  const x = linearScale(histogram.x.lower, histogram.x.upper, MARGIN.left, left);
  const y = linearScale(histogram.y.lower, histogram.y.upper, bottom, MARGIN.top);
  const colour = scaleTo(0, 1);
  const level = scaleTo(bottom, MARGIN.top);
  const svg = makeSvg("svg", { viewBox: `0 0 ${view.width} ${view.height}`, "aria-hidden": "true" },
    ...drawAxes(view, x, y, axisText(histogram.x), axisText(histogram.y), SCALE_WIDTH));
  const steps = 32;
  for (let i = 0; i < steps; i++)
    svg.append(makeSvg("rect", { x: left + 8, width: 9, height: (bottom - MARGIN.top) / steps + 0.5,
      y: bottom - (i + 1) * (bottom - MARGIN.top) / steps, fill: `rgb(${colourOf((i + 0.5) / steps, stops)})` }));
  for (const value of level.isLog ? logTicks(level.lower, level.upper) : ticks(level.lower, level.upper, view.height / 45))
    svg.append(makeSvg("text", { x: left + 20, y: level(value) + 3.5 }, tickText(value) + (stops === colours.deviation ? " σ" : "")));
  return makePlot(view, svg, drawBins(histogram, view, (i, j) => {
    const value = valueAt(i, j);
    return value === null ? null : colourOf(colour(value), stops);
  }));
}

/* Bars in the order of the names. Names without counts are counted; of more than `most` names the largest are shown. */
function drawCategories(histogram, reference, view) {
  const names = histogram.x.names;
  const before = new Map(reference ? reference.x.names.map((name, i) => [name, reference.counts[i] * view.factor]) : []);
  const all = names.map((name, i) => ({ name, count: histogram.counts[i], expected: before.get(name) }));
  const filled = all.filter((one) => one.count > 0 || one.expected > 0);
  const least = filled.map((one) => one.count).sort((a, b) => b - a)[view.most - 1] || 0;
  const shown = filled.filter((one) => one.count >= least).slice(0, view.most);
  const scale = countScale(shown.flatMap((one) => [one.count, one.expected || 0]), view.log, 0, 1);
  const parts = shown.flatMap((one) => {
    const bar = make("span", { class: "bar" }, make("i"), one.expected > 0 ? make("b") : null);
    setBar(bar, scale(one.count));
    if (one.expected > 0) bar.lastChild.style.left = `calc(${(100 * scale(one.expected)).toFixed(2)}% - 1px)`;
    return [make("span", { class: "name", title: one.name }, one.name), bar, make("span", { class: "number" }, formatCount(one.count))];
  });
  const element = make("span", { class: "categories" }, ...parts);
  element.dataset.left = [filled.length > shown.length && `${formatCount(filled.length - shown.length)} smaller not shown`,
    all.length > filled.length && `${formatCount(all.length - filled.length)} empty`].filter(Boolean).join(", ");
  return element;
}

const isSameAxis = (a, b) => (!a && !b) || (a && b && a.bins === b.bins && a.lower === b.lower && a.upper === b.upper);

/* The reference can be drawn if it has the same bins; categories are found by name. */
function isComparable(histogram, reference) {
  if (!reference) return false;
  if (histogram.x.names) return Boolean(reference.x.names);
  return isSameAxis(histogram.x, reference.x) && isSameAxis(histogram.y, reference.y);
}

function drawHistogram(histogram, reference, view) {
  if (histogram.x.names) return drawCategories(histogram, reference, view);
  return histogram.y ? drawMap(histogram, reference, view) : drawSteps(histogram, reference, view);
}

const outside = (axis) => `below ${formatCount(axis.below)}, above ${formatCount(axis.above)}, not finite ${formatCount(axis.not_finite)}`;

function moments(axis, unit) {
  return `mean ${formatNumber(axis.mean)}, std dev ${formatNumber(axis.standard_deviation)}${unit ? ` ${unit}` : ""}`;
}

/* Lines below a plot: entries and those outside of the bins; mean and standard deviation, also of the reference. */
function captionOf(histogram, reference) {
  const entries = plural(histogram.entries, "entry", "entries");
  const { x, y } = histogram;
  if (x.names) return [entries];
  if (!y) return [`${entries}, ${outside(x)}`, moments(x, x.unit), ...(reference ? [`reference: ${moments(reference.x, x.unit)}`] : [])];
  return [entries, ...[["x", x], ["y", y]].flatMap(([name, axis]) => [
    `${name}: ${outside(axis)}`, `${name}: ${moments(axis, axis.unit)}`,
    ...(reference ? [`${name}, reference: ${moments(reference[name], axis.unit)}`] : [])])];
}

/* The bin at a position of the plot (fractions of its width and height), as text. */
function readBin(histogram, reference, view, fractionX, fractionY) {
  if (histogram.x.names) return "";
  const right = histogram.y ? SCALE_WIDTH : MARGIN.right;
  const binOf = (axis, part) => Math.floor(part * axis.bins);
  const i = binOf(histogram.x, (fractionX * view.width - MARGIN.left) / (view.width - MARGIN.left - right));
  const bottom = view.height - MARGIN.bottom;
  const j = histogram.y ? binOf(histogram.y, (bottom - fractionY * view.height) / (bottom - MARGIN.top)) : 0;
  if (i < 0 || i >= histogram.x.bins || (histogram.y && (j < 0 || j >= histogram.y.bins))) return "";
  const range = (axis, bin) => {
    const width = (axis.upper - axis.lower) / axis.bins;
    const [from, to] = [bin, bin + 1].map((i) => formatNumber(axis.lower + i * width));
    return `${axis.field} ${from} to ${withUnit(to, axis)}`;
  };
  const at = (h) => (h.y ? h.counts[j][i] : h.counts[i]);
  const expected = reference ? `, reference ${formatNumber(at(reference) * view.factor)}` : "";
  return `${range(histogram.x, i)}${histogram.y ? `, ${range(histogram.y, j)}` : ""}: ${formatCount(at(histogram))}${expected}`;
}
