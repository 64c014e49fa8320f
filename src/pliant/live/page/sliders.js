// Sliders: one row each, with its name, its place in its range, and its value as a number in a unit that is easy to read.

const STEPS = 150; // of a range, at least: a key's step is the largest round number with that many
const PREFIXES = [[1e9, "G"], [1e6, "M"], [1e3, "k"], [1, ""], [1e-3, "m"], [1e-6, "µ"]];

/** The unit that a slider is shown in, and how much of SI it is. */
function shownUnit({ unit, low, high }) {
  if (unit === "rad") return { unit: "°", factor: Math.PI / 180 };
  const largest = Math.max(Math.abs(low), Math.abs(high)), plain = { unit, factor: 1 };
  if (!/^(Pa|N|J|W|Hz|m|kg|s)(?![\w^])/.test(unit) || largest === 0 || (largest >= 0.05 && largest < 2e4)) return plain;
  if (/^(kg|m|s)/.test(unit) && largest >= 1) return plain;
  const grams = unit.startsWith("kg") ? 1e3 : 1, [size, prefix] = PREFIXES.find(([size]) => largest * grams >= size) || PREFIXES.at(-1);
  return { unit: prefix + (grams > 1 ? unit.slice(1) : unit), factor: size / grams };
}

class Sliders {
  /** sliders: of the page's spec; changed: called when the reader has changed a value. */
  constructor(root, sliders, changed) {
    this.changed = changed;
    this.rows = sliders.map((slider, k) => this.row(root, slider, k));
  }

  get values() { return this.rows.map(row => row.value); }

  get moved() { return this.rows.filter(row => row.value !== row.slider.value); }

  /** Set one by name, in SI units; whether there is such a slider and the value is in its range. */
  set(name, value, tell = true) {
    const row = this.rows.find(row => row.slider.name === name);
    if (!row || !(value >= row.slider.low && value <= row.slider.high)) return false;
    this.put(row, value, tell);
    return true;
  }

  reset() {
    for (const row of this.rows) this.put(row, row.slider.value, false);
    this.changed();
  }

  // ---- one row

  row(root, slider, k) {
    const { unit, factor } = shownUnit(slider), step = niceStep((slider.high - slider.low) / factor / STEPS || 1);
    const line = document.createElement("div"), name = document.createElement("label");
    line.className = "slider";
    name.textContent = name.title = slider.name;
    name.htmlFor = `slider${k}`;
    const range = document.createElement("input"), number = document.createElement("input"), back = document.createElement("button");
    range.type = "range"; range.id = name.htmlFor;
    range.min = slider.low / factor; range.max = slider.high / factor; range.step = "any";
    number.type = "number"; number.step = "any"; number.inputMode = "decimal";
    number.setAttribute("aria-label", `${slider.name}, ${unit || "a number"}`);
    const units = document.createElement("span");
    units.className = "unit"; units.textContent = unit;
    back.textContent = "↺"; back.className = "back";
    back.title = "as the page began"; back.setAttribute("aria-label", `reset ${slider.name}`);
    line.append(name, range, number, units, back);
    root.append(line);
    const row = { slider, factor, step, unit, range, number, back, value: slider.value };
    range.addEventListener("input", () => this.put(row, this.round(row, Number(range.value)), true));
    range.addEventListener("dblclick", () => this.put(row, slider.value, true));
    number.addEventListener("change", () => this.put(row, number.value === "" ? row.value : this.within(row, Number(number.value)), true));
    back.addEventListener("click", () => { this.put(row, slider.value, true); range.focus(); });
    for (const input of [range, number]) input.addEventListener("keydown", event => this.key(event, row));
    this.show(row);
    return row;
  }

  /** Arrows and pages move by round steps; no key of a slider is one of the player's. */
  key(event, row) {
    const number = event.target === row.number, far = event.shiftKey ? 10 : 1;
    const steps = { ArrowUp: far, ArrowDown: -far, PageUp: 10, PageDown: -10, ...(number ? {} : { ArrowRight: far, ArrowLeft: -far, Home: -Infinity, End: Infinity }) }[event.key];
    if (steps === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    this.put(row, this.round(row, row.value / row.factor + steps * row.step), true);
  }

  /** A shown number as an SI value in the range; by `round`, on a round step, if it is not at an end. */
  within({ slider, factor }, shown) { return Math.min(Math.max(shown * factor, slider.low), slider.high); }

  round(row, shown) {
    return this.within(row, Number.isFinite(shown) ? +(Math.round(shown / row.step) * row.step).toPrecision(12) : shown);
  }

  put(row, value, tell) {
    const changed = value !== row.value;
    row.value = value;
    this.show(row);
    if (changed && tell) this.changed();
  }

  show({ slider, value, factor, unit, range, number, back }) {
    const text = String(+(value / factor).toPrecision(4));
    range.value = value / factor;
    range.setAttribute("aria-valuetext", `${text} ${unit}`);
    number.value = text;
    back.style.visibility = value === slider.value ? "hidden" : "visible";
  }

  // ---- a link that restores them

  get hash() {
    const parts = this.moved.map(({ slider, value }) => `${encodeURIComponent(slider.name)}=${value}`);
    return parts.length ? `#${parts.join("&")}` : "";
  }

  /** Take values from a link, all others as the page began; a sentence about what is not understood. */
  restore(hash) {
    for (const row of this.rows) this.put(row, row.slider.value, false);
    const bad = hash.replace(/^#/, "").split("&").filter(part => part && !this.restoreOne(part));
    return bad.length ? `ignored in the link: ${bad.join(", ").slice(0, 120)}` : "";
  }

  restoreOne(part) {
    const [name, value] = part.split("=");
    try { return Boolean(value) && this.set(decodeURIComponent(name), Number(value), false); } catch { return false; }
  }
}
