// Plots over time that follow the cursor: what does not move is drawn once, the cursor on a canvas above it.

const LEFT = 54, RIGHT = 8, TOP = 6, BOTTOM = 18;

class Plot {
  /** shared: the window of time that all plots show, and what to do when the user points at a time. */
  constructor(parent, run, panel, shared) {
    this.run = run; this.panel = panel; this.shared = shared;
    this.block = run.block[panel.block];
    this.shown = panel.series.map(() => true);
    this.root = document.createElement("section");
    this.root.className = "plot";
    const title = document.createElement("h2");
    title.append(`${panel.title} `);
    const small = document.createElement("small");
    small.textContent = panel.unit;
    title.append(small);
    this.legend = document.createElement("div");
    this.legend.className = "legend";
    this.values = panel.series.map((label, k) => this.entry(label, k));
    const room = document.createElement("div");
    room.className = "canvas";
    this.base = document.createElement("canvas");
    this.over = document.createElement("canvas");
    room.append(this.base, this.over);
    this.root.append(title, this.legend, room);
    parent.append(this.root);
    this.listen(room);
  }

  /** The same curves of another run. */
  load(run, panel) {
    this.run = run; this.panel = panel;
    this.block = run.block[panel.block];
  }

  entry(label, k) {
    const button = document.createElement("button"), line = document.createElement("i"), value = document.createElement("b");
    button.setAttribute("aria-pressed", "true");
    button.title = "show or hide";
    button.append(line, label, value);
    button.addEventListener("click", () => {
      this.shown[k] = !this.shown[k];
      button.setAttribute("aria-pressed", String(this.shown[k]));
      this.shared.changed();
    });
    this.legend.append(button);
    return { line, value };
  }

  listen(room) {
    const time = event => {
      const x = event.clientX - room.getBoundingClientRect().left;
      const { begin, end } = this.shared.window;
      return begin + (end - begin) * Math.min(Math.max((x - LEFT) / (this.width - LEFT - RIGHT), 0), 1);
    };
    room.addEventListener("pointerdown", event => { room.setPointerCapture(event.pointerId); this.shared.seek(time(event)); });
    room.addEventListener("pointermove", event => { if (event.buttons & 1) this.shared.seek(time(event)); });
    room.addEventListener("wheel", event => {
      event.preventDefault();
      this.shared.zoom(Math.exp(0.0015 * event.deltaY), time(event));
    }, { passive: false });
    room.addEventListener("dblclick", () => this.shared.zoom(Infinity, this.run.begin));
  }

  resize() {
    const ratio = window.devicePixelRatio || 1;
    this.width = this.base.clientWidth; this.height = this.base.clientHeight;
    for (const canvas of [this.base, this.over]) {
      canvas.width = Math.round(ratio * this.width); canvas.height = Math.round(ratio * this.height);
      canvas.getContext("2d").setTransform(ratio, 0, 0, ratio, 0, 0);
    }
  }

  x(t) {
    const { begin, end } = this.shared.window;
    return LEFT + (this.width - LEFT - RIGHT) * (t - begin) / (end - begin);
  }

  y(value) {
    return this.height - BOTTOM - (this.height - TOP - BOTTOM) * (value - this.low) / (this.high - this.low);
  }

  /** The rows in the window, with one on each side. */
  rows(run = this.run) {
    const { begin, end } = this.shared.window;
    return [rowAt(run.time, begin).low, Math.min(rowAt(run.time, end).low + 2, run.rows)];
  }

  fit(first, last) {
    let [low, high] = this.span(this.block, first, last);
    for (const [t, value, k] of this.panel.marks) {
      if (this.shown[k] && t >= this.run.time[first] && t <= this.run.time[last - 1]) { low = Math.min(low, value); high = Math.max(high, value); }
    }
    if (!(high >= low)) { low = 0; high = 1; }
    const room = 0.06 * (high - low) || Math.abs(high) * 0.5 || 1;
    this.low = low - room; this.high = high + room;
  }

  /** The least and the largest value of the curves shown. */
  span({ width, data }, first, last) {
    let low = Infinity, high = -Infinity;
    for (let row = first; row < last; row++) {
      for (let k = 0; k < width; k++) {
        const value = data[row * width + k];
        if (this.shown[k] && value < low) low = value;
        if (this.shown[k] && value > high) high = value;
      }
    }
    return [low, high];
  }

  draw(colours) {
    this.colours = colours;
    const pen = this.base.getContext("2d"), [first, last] = this.rows();
    this.fit(first, last);
    pen.clearRect(0, 0, this.width, this.height);
    this.drawAxes(pen);
    pen.save();
    pen.beginPath(); pen.rect(LEFT, 0, this.width - LEFT - RIGHT, this.height - BOTTOM + 1); pen.clip();
    this.drawCurves(pen, first, last);
    for (const [t, value, k] of this.panel.marks) if (this.shown[k]) this.drawPeak(pen, this.x(t), this.y(value), this.colour(k));
    pen.restore();
  }

  drawCurves(pen, first, last) {
    const { width, data } = this.block;
    for (let k = 0; k < width; k++) {
      this.values[k].line.style.borderTopColor = this.colour(k);
      this.values[k].line.style.borderTopStyle = ["solid", "dashed", "dotted"][this.dash(k)];
      if (!this.shown[k]) continue;
      pen.beginPath();
      for (let row = first; row < last; row++) pen.lineTo(this.x(this.run.time[row]), this.y(data[row * width + k]));
      pen.strokeStyle = this.colour(k); pen.lineWidth = 1.4; pen.lineJoin = "round";
      pen.setLineDash([[], [6, 4], [2, 3]][this.dash(k)]);
      pen.stroke();
    }
    pen.setLineDash([]);
  }

  drawPeak(pen, x, y, colour) {
    pen.beginPath(); pen.moveTo(x, y); pen.lineTo(x - 3.5, y - 6); pen.lineTo(x + 3.5, y - 6); pen.closePath();
    pen.strokeStyle = colour; pen.lineWidth = 1.2; pen.stroke();
  }

  colour(k) { return this.colours.palette[k % this.colours.palette.length]; }

  dash(k) { return Math.floor(k / this.colours.palette.length) % 3; }

  drawAxes(pen) {
    const { begin, end } = this.shared.window, floor = this.height - BOTTOM;
    pen.font = "10.5px system-ui, sans-serif"; pen.lineWidth = 1; pen.fillStyle = this.colours.quiet;
    pen.strokeStyle = this.colours.grid;
    pen.textAlign = "right"; pen.textBaseline = "middle";
    for (const [value, text] of ticks(this.low, this.high, Math.max(3, floor / 26))) {
      pen.beginPath(); pen.moveTo(LEFT, this.y(value)); pen.lineTo(this.width - RIGHT, this.y(value)); pen.stroke();
      pen.fillText(text, LEFT - 6, Math.min(this.y(value), floor - 4)); // clear of the times below
    }
    pen.textAlign = "center"; pen.textBaseline = "top";
    for (const [value, text] of ticks(begin, end, this.width / 70)) {
      pen.beginPath(); pen.moveTo(this.x(value), TOP); pen.lineTo(this.x(value), floor); pen.stroke();
      if (this.x(value) < this.width - 34) pen.fillText(text, this.x(value), floor + 4);
    }
    pen.textAlign = "right";
    pen.fillText("s", this.width - RIGHT, floor + 4);
  }

  /** The cursor, and the values under it. */
  follow(t) {
    const pen = this.over.getContext("2d"), at = rowAt(this.run.time, t), x = this.x(t), { width, data } = this.block;
    pen.clearRect(0, 0, this.width, this.height);
    const inside = x >= LEFT - 1 && x <= this.width - RIGHT + 1;
    if (inside) {
      pen.strokeStyle = this.colours.ink; pen.lineWidth = 1;
      pen.beginPath(); pen.moveTo(x, TOP); pen.lineTo(x, this.height - BOTTOM); pen.stroke();
    }
    for (let k = 0; k < width; k++) {
      const value = (1 - at.part) * data[at.low * width + k] + at.part * data[at.high * width + k];
      this.values[k].value.textContent = short(value);
      if (!inside || !this.shown[k]) continue;
      pen.beginPath(); pen.arc(x, this.y(value), 3, 0, 2 * Math.PI);
      pen.fillStyle = this.colour(k); pen.fill();
    }
  }
}

/** [value, text] of ticks between two numbers, about `count` of them. */
function ticks(low, high, count) {
  const least = (high - low) / Math.max(count, 1), step = [1, 2, 5, 10].map(n => n * niceStep(least)).find(s => s >= least), found = [];
  const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  const plain = digits <= 4 && Math.max(Math.abs(low), Math.abs(high)) < 1e5;
  for (let n = Math.ceil(low / step - 1e-9); n * step <= high + 1e-9 * step; n++) {
    const value = n * step;
    found.push([value, plain ? value.toFixed(digits) : value === 0 ? "0" : value.toExponential(1).replace("e", "·10^").replace("+", "")]);
  }
  return found;
}

function short(value) {
  if (value === 0) return "0";
  const size = Math.abs(value);
  return size >= 1e5 || size < 1e-3 ? value.toExponential(2) : value.toPrecision(4);
}
