// The ledger as a bar: what the mechanism holds and has lost, against what it began with and was given. Equal lengths: it closes.

const HELD_COLOURS = { kinetic: 0, gravity: 5, strain: 2, spring: 4, contact: 1 }; // of the palette, as in the plots of energy
const LOST = ["#b8b8b8", "#8f8f8f", "#d9c7b0", "#a58f77", "#cfcfe6", "#7d7da6"]; // as in pliant.show.plot.energy

class Ledger {
  constructor(root, recipe) {
    this.recipe = recipe;
    const { held, works } = recipe.ledger;
    this.terms = [...Object.keys(held).map(name => ({ name, places: [held[name]], work: false })),
                  ...Object.entries(works).map(([name, places], k) => ({ name, places, work: true, grey: LOST[k % LOST.length] }))];
    this.root = root;
    this.rows = ["holds + lost", "began + given"].map(title => this.bar(title));
    this.begun = this.part(this.rows[1], "at the start");
    for (const term of this.terms) term.parts = this.rows.map(row => this.part(row, term.name));
    this.gaps = this.rows.map(row => this.part(row, "unexplained"));
    for (const gap of this.gaps) gap.className = "gap";
    this.names = document.createElement("div");
    this.names.className = "names";
    for (const term of this.terms) term.entry = this.entry(term);
    this.error = document.createElement("output");
    this.error.setAttribute("aria-label", "what the balance leaves unexplained");
    this.root.append(this.error, this.names);
  }

  bar(title) {
    const name = document.createElement("span"), bar = document.createElement("div");
    name.textContent = title;
    bar.className = "bar";
    this.root.append(name, bar);
    return bar;
  }

  part(bar, name) {
    const part = document.createElement("i");
    part.title = name;
    bar.append(part);
    return part;
  }

  entry({ name, work }) {
    const entry = document.createElement("span"), line = document.createElement("i"), label = document.createElement("span"), value = document.createElement("b");
    label.textContent = work ? `work: ${name}` : name;
    entry.append(line, label, value);
    this.names.append(entry);
    return { entry, line, value };
  }

  /** A run: where gravity is lowest, what there is at the start, and the longest the bar will be. */
  load(run) {
    this.raw = run.raw;
    this.time = run.time;
    for (const term of this.terms) {
      term.zero = 0;
      const values = Array.from({ length: run.rows }, (_, row) => this.value(term, row));
      term.zero = term.work ? values[0] : term.name === "gravity" ? Math.min(...values) : 0;
      term.used = values.some(value => value !== term.zero);
      term.entry.entry.hidden = !term.used;
    }
    this.start = this.terms.reduce((sum, term) => sum + (term.work ? 0 : this.value(term, 0)), 0);
    this.longest = 0;
    for (let row = 0; row < run.rows; row++) this.longest = Math.max(this.longest, ...this.sums(term => this.value(term, row)));
  }

  value({ places, zero }, row) {
    const { n, observed } = this.recipe, { state, observed: seen } = this.raw;
    let sum = -zero;
    for (const place of places) sum += place >= 0 ? seen[row * observed + place] : state[row * n - 1 - place];
    return sum;
  }

  /** Lengths of the two bars. What is held or lost stands in the first, what was given in the second. */
  sums(value) {
    const sums = [0, this.start];
    for (const term of this.terms) {
      const amount = (term.work ? -1 : 1) * value(term);
      sums[amount < 0 ? 1 : 0] += Math.abs(amount);
    }
    return sums;
  }

  colour({ name, work, grey }, palette) {
    if (work) return name === "hand" ? palette[3] : grey;
    return palette[HELD_COLOURS[name] ?? 3];
  }

  draw(t, colours) {
    const at = rowAt(this.time, t), of = term => (1 - at.part) * this.value(term, at.low) + at.part * this.value(term, at.high);
    const width = amount => `${100 * Math.abs(amount) / (this.longest || 1)}%`;
    for (const term of this.terms) {
      const value = of(term), amount = term.work ? -value : value, colour = this.colour(term, colours.palette);
      term.parts.forEach((part, row) => {
        part.style.width = (amount < 0) === (row === 1) ? width(amount) : "0";
        part.style.background = colour;
      });
      term.entry.line.style.background = colour;
      term.entry.value.textContent = `${short(value)} J`;
    }
    const [first, second] = this.sums(of), open = first - second;
    this.begun.style.width = width(this.start);
    this.begun.style.background = colours.solid;
    this.gaps.forEach((gap, row) => { gap.style.width = (open < 0) === (row === 0) ? width(open) : "0"; });
    this.error.textContent = `unexplained: ${open === 0 ? "0" : Math.abs(open) < 1e-12 * this.longest ? "round-off" : open.toExponential(1)} J of ${short(first)} J`;
  }
}
