/* format.js: numbers, sizes and times as text. null, an unknown value, is a dash. A pair [number, unit] is drawn with the
 * numbers of a column aligned. */

const DASH = "–";
const grouped = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });

const isNumber = (value) => typeof value === "number" && Number.isFinite(value);

const formatCount = (value) => (isNumber(value) ? grouped.format(value) : DASH);

/* `digits` significant digits, without an exponent for values between 1e-4 and 1e9. */
function formatNumber(value, digits = 4) {
  if (!isNumber(value)) return DASH;
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-4 || size >= 1e9)) return value.toExponential(digits - 1).replace("-", "−");
  const rounded = Number(value.toPrecision(digits));
  return new Intl.NumberFormat("en", { maximumSignificantDigits: digits }).format(rounded).replace("-", "−");
}

const PREFIXES = [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"]];

/* Three significant digits and an SI prefix, with at most two decimals: ["1.23", "kHz"]. */
function withPrefix(value, unit) {
  if (!isNumber(value)) return [DASH, ""];
  const size = Math.abs(value);
  const [scale, prefix] = PREFIXES.find(([limit]) => size >= limit * 0.9995) || [1, ""];
  const scaled = value / scale;
  const decimals = Math.abs(scaled) >= 99.95 ? 0 : Math.abs(scaled) >= 9.995 ? 1 : 2;
  return [scaled.toFixed(decimals).replace("-", "−"), prefix + unit];
}

const formatRate = (hz) => withPrefix(hz, "Hz");
const joined = ([number, unit]) => (unit ? `${number} ${unit}` : number);
const formatBytes = (bytes) => (isNumber(bytes) && bytes < 1000 ? [formatCount(bytes), "B"] : withPrefix(bytes, "B"));

/* Percent with a fixed number of decimals, so that the digits of a column are aligned. */
function formatPercent(fraction, decimals = 3) {
  if (!isNumber(fraction)) return DASH;
  const least = 10 ** -decimals;
  const percent = 100 * fraction;
  return percent > 0 && percent < least / 2 ? `<${least.toFixed(decimals)}` : percent.toFixed(decimals).replace("-", "−");
}

function formatSigned(value) {
  const size = Math.abs(value).toFixed(1);
  return size === "0.0" ? size : `${value > 0 ? "+" : "−"}${size}`;
}

function formatDuration(seconds, decimals = 1) {
  if (!isNumber(seconds)) return DASH;
  if (seconds < 9.95) return `${seconds.toFixed(decimals)} s`;
  const s = Math.round(seconds);
  const two = (value) => String(value).padStart(2, "0");
  if (s < 60) return `${s} s`;
  if (s < 3600) return `${Math.floor(s / 60)} min ${two(s % 60)} s`;
  if (s < 86400) return `${Math.floor(s / 3600)} h ${two(Math.floor(s / 60) % 60)} min`;
  return `${Math.floor(s / 86400)} d ${two(Math.floor(s / 3600) % 24)} h`;
}

/* `date` is a Date or text such as "2026-11-29T15:00:00Z". */
function formatDate(date) {
  const time = date ? new Date(date) : null;
  if (!time || Number.isNaN(time.getTime())) return date ? String(date) : DASH;
  return `${time.toISOString().slice(0, 19).replace("T", " ")} UTC`;
}

const formatTime = (date) => `${date.toISOString().slice(11, 19)} UTC`;

/* The name of a graph file without folder and suffix. */
const formatGraph = (name) => (name ? name.replace(/^.*\//, "").replace(/\.yaml$/, "") : "Sluice");

const formatEvent = (event) => (event ? `run ${event.run}, event ${event.number}` : DASH);

const plural = (count, one, many = `${one}s`) => `${formatCount(count)} ${count === 1 ? one : many}`;
