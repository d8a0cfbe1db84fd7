/* dom.js: elements, tables that are updated in place, bars and sparklines. Text from the run enters the page as text nodes
 * only. */

const byId = (id) => document.getElementById(id);

/* make("td", { class: "right" }, "text", element): properties that are null or false are left out. */
function make(tag, properties = {}, ...children) {
  return fill(document.createElement(tag), properties, children);
}

function makeSvg(tag, properties = {}, ...children) {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), properties, children);
}

function fill(element, properties, children) {
  for (const [name, value] of Object.entries(properties))
    if (value !== null && value !== undefined && value !== false) element.setAttribute(name, value === true ? "" : value);
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

/* Sets the text of an element that has no element children; unchanged text causes no work for the browser. Unknown text is a
 * dash. */
function setText(element, text) {
  const value = text === null || text === undefined ? DASH : String(text);
  if (element.childElementCount > 0 || element.textContent !== value) element.textContent = value;
}

function setLines(element, lines) {
  while (element.childElementCount > lines.length) element.lastElementChild.remove();
  while (element.childElementCount < lines.length) element.append(make("span"));
  lines.forEach((line, i) => setText(element.children[i], line));
}

/* A number and its unit, aligned with those of other rows. */
function setValue(element, value) {
  if (!Array.isArray(value)) return setText(element, value);
  if (element.childElementCount !== 2) element.replaceChildren(make("span"), make("span", { class: "unit" }));
  setText(element.firstChild, value[0]);
  setText(element.lastChild, value[1]);
}

function setAttribute(element, name, value) {
  if (value === null) element.removeAttribute(name);
  else if (element.getAttribute(name) !== value) element.setAttribute(name, value);
}

/* Makes the options of a <select> the given ones, and keeps the choice if it is still offered. */
function setOptions(select, options) {
  const wanted = JSON.stringify(options);
  if (select.dataset.options === wanted) return;
  const chosen = select.value;
  select.replaceChildren(...options.map(([value, text]) => make("option", { value }, text)));
  if (options.some(([value]) => value === chosen)) select.value = chosen;
  select.dataset.options = wanted;
}

/* Puts the elements into the list in this order, and moves none that is in place: a moved button would lose the focus. */
function setChildren(list, elements) {
  for (const child of [...list.children]) if (!elements.includes(child)) child.remove();
  elements.forEach((element, index) => {
    if (list.children[index] !== element) list.insertBefore(element, list.children[index] || null);
  });
}

function setPairs(list, pairs) {
  const shown = pairs.filter(([, value]) => value !== null && value !== undefined && value !== "" && value !== DASH);
  while (list.children.length > 2 * shown.length) list.lastElementChild.remove();
  while (list.children.length < 2 * shown.length) list.append(make("dt"), make("dd"));
  shown.forEach(([name, value], i) => {
    setText(list.children[2 * i], name);
    setText(list.children[2 * i + 1], value);
  });
}

/* A table of keyed rows. A column has:
 *   head, width (CSS, of the column), right (aligned to the right), wrap (several lines), title (help text of the head)
 *   text(row): text or [number, unit];  draw(cell, row): instead of text;  hint(row): title of the cell
 *   mark(row): class of the cell;  order(row): makes the column sortable;  first: 1 or -1, order of the first click
 * `narrowest`: width below which the table scrolls; `sorted`: {index, direction}.
 * Rows are sorted again when a head is clicked, when rows come or go, and every SORT_MS while the pointer and the focus are
 * elsewhere, so that rows do not move under the reader.
 */
const SORT_MS = 10000;

class Table {
  constructor(parent, caption, columns, { narrowest = null, sorted = null } = {}) {
    this.columns = columns;
    this.rows = new Map(); // <tr> by key
    this.sorted = sorted;
    this.order = new Map(); // position by key, of the last sort
    this.sortedAt = 0;
    this.last = [[], null];
    this.heads = columns.map((column, index) => this.head(column, index));
    this.body = make("tbody");
    this.element = make("table", {}, make("caption", {}, caption),
      make("colgroup", {}, ...columns.map((column) => this.col(column))),
      make("thead", {}, make("tr", {}, ...this.heads)), this.body);
    if (narrowest) this.element.style.setProperty("--narrowest", narrowest);
    parent.append(this.element);
    this.showSorted();
  }

  col(column) {
    const col = make("col");
    if (column.width) col.style.width = column.width;
    return col;
  }

  head(column, index) {
    const properties = { scope: "col", class: column.right ? "right" : null, title: column.title || null };
    if (!column.order) return make("th", properties, column.head);
    const button = make("button", { type: "button" }, column.head, make("span", { "aria-hidden": "true" }));
    button.addEventListener("click", () => {
      const isSame = this.sorted && this.sorted.index === index;
      this.sorted = { index, direction: isSame ? -this.sorted.direction : column.first || 1 };
      this.showSorted();
      this.sortedAt = 0;
      this.update(...this.last);
    });
    return make("th", properties, button);
  }

  showSorted() {
    this.heads.forEach((head, index) => {
      const column = this.columns[index];
      if (!column.order) return;
      const direction = this.sorted && this.sorted.index === index ? this.sorted.direction : 0;
      setAttribute(head, "aria-sort", direction > 0 ? "ascending" : direction < 0 ? "descending" : null);
      setText(head.querySelector("span"), direction > 0 ? " ▴" : direction < 0 ? " ▾" : "");
    });
  }

  /* Rows in the chosen order, or in that of the last sort. */
  inOrder(rows, key) {
    if (!this.sorted) return rows;
    const isBusy = this.element.matches(":hover") || this.element.contains(document.activeElement);
    const isSame = rows.length === this.order.size && rows.every((row) => this.order.has(key(row)));
    if (isSame && this.sortedAt > 0 && (isBusy || Date.now() - this.sortedAt < SORT_MS))
      return [...rows].sort((a, b) => this.order.get(key(a)) - this.order.get(key(b)));
    const sorted = this.bySort(rows);
    this.order = new Map(sorted.map((row, position) => [key(row), position]));
    this.sortedAt = Date.now();
    return sorted;
  }

  /* Unknown values are last. */
  bySort(rows) {
    const { index, direction } = this.sorted;
    const value = this.columns[index].order;
    const isUnknown = (v) => v === null || v === undefined || Number.isNaN(v);
    return rows.map((row) => [value(row), row]).sort(([a], [b]) => {
      if (isUnknown(a) || isUnknown(b)) return isUnknown(a) - isUnknown(b);
      return direction * (typeof a === "string" ? a.localeCompare(b, "en", { numeric: true }) : a - b);
    }).map(([, row]) => row);
  }

  /* Shows `rows`; key(row) identifies a row between calls. */
  update(rows, key) {
    const left = new Map(this.rows);
    this.last = [rows, key];
    const elements = this.inOrder(rows, key).map((row) => {
      let name = key(row);
      while (this.rows.has(name) && !left.has(name)) name += " "; // rows of equal keys
      if (!this.rows.has(name)) this.rows.set(name, this.makeRow());
      left.delete(name);
      const tr = this.rows.get(name);
      this.columns.forEach((column, index) => this.showCell(tr.cells[index], column, row));
      return tr;
    });
    for (const [name, tr] of left) {
      tr.remove();
      this.rows.delete(name);
    }
    elements.forEach((tr, index) => {
      if (this.body.children[index] !== tr) this.body.insertBefore(tr, this.body.children[index] || null);
    });
  }

  makeRow() {
    return make("tr", {}, ...this.columns.map((column) =>
      make("td", { class: [column.right && "right", column.wrap && "wrap"].filter(Boolean).join(" ") || null })));
  }

  showCell(cell, column, row) {
    if (column.draw) column.draw(cell, row);
    else setValue(cell, column.text(row));
    if (column.mark) cell.classList.toggle("bad", column.mark(row) === "bad");
    const hint = column.hint ? column.hint(row) : !column.draw && !column.wrap && !column.right ? cell.textContent : null;
    if (hint !== null) setAttribute(cell, "title", hint);
  }
}

/* A column drawn as a horizontal bar of `fraction(row)`, 0 to 1; mark(row) is "", "warn" or "bad". */
function barColumn(head, width, fraction, mark = () => "") {
  return {
    head, width,
    draw(cell, row) {
      if (!cell.firstChild) cell.append(make("span", { class: "bar" }, make("i")));
      setBar(cell.firstChild, fraction(row));
      setAttribute(cell.firstChild, "class", `bar ${mark(row)}`.trim());
    },
  };
}

function setBar(bar, fraction) {
  bar.firstChild.style.width = `${(100 * Math.min(Math.max(fraction || 0, 0), 1)).toFixed(1)}%`;
}

const HISTORY_SECONDS = 120;

/* Draws the values of the last seconds, newest last, as a line into `parent`, from 0 to the largest; null is a gap. `level`
 * is a dashed line. */
function drawSparkline(parent, history, level = null) {
  if (!parent.firstChild) {
    const properties = { class: "spark", "aria-hidden": "true", preserveAspectRatio: "none", viewBox: `0 0 ${HISTORY_SECONDS - 1} 20` };
    parent.append(makeSvg("svg", properties, makeSvg("path"), makeSvg("line")));
  }
  const svg = parent.firstChild;
  const values = [...Array(Math.max(HISTORY_SECONDS - history.length, 0)).fill(null), ...history.slice(-HISTORY_SECONDS)];
  const known = values.filter(isNumber);
  const largest = Math.max(...known, level || 0) || 1;
  const y = (value) => (19 - 18 * value / largest).toFixed(2);
  let path = "";
  let isOpen = false;
  values.forEach((value, x) => {
    if (isNumber(value)) path += `${isOpen ? "L" : "M"}${x} ${y(value)}`;
    isOpen = isNumber(value);
  });
  setAttribute(svg.firstChild, "d", path);
  const line = svg.lastChild;
  line.toggleAttribute("hidden", !isNumber(level));
  for (const [name, value] of [["x1", 0], ["x2", values.length], ["y1", y(level || 0)], ["y2", y(level || 0)]])
    setAttribute(line, name, String(value));
}

/* True while any part of an element is in view; `onChange` is called when that changes. */
function watchVisible(element, onChange) {
  new IntersectionObserver((entries) => onChange(entries[entries.length - 1].isIntersecting)).observe(element);
}
