// The player of a page that runs: two runs can be compared, forces are arrows, and the ledger stands below the picture.

const GHOST = 0.32; // opacity of the run that is kept

class LivePlot extends Plot {
  fit(first, last) {
    super.fit(first, last);
    const { pinned } = this.shared;
    if (!pinned) return;
    const [low, high] = this.span(pinned.block[this.panel.block], ...this.rows(pinned)), room = 0.06 * (high - low) || 0;
    this.low = Math.min(this.low, low - room); this.high = Math.max(this.high, high + room);
  }

  drawCurves(pen, first, last) {
    const { pinned } = this.shared;
    if (pinned) this.drawPinned(pen, pinned);
    super.drawCurves(pen, first, last);
  }

  drawPinned(pen, pinned) {
    const { width, data } = pinned.block[this.panel.block], [first, last] = this.rows(pinned);
    pen.globalAlpha = 0.65; pen.lineWidth = 1; pen.setLineDash([3, 2]);
    for (let k = 0; k < width; k++) {
      if (!this.shown[k]) continue;
      pen.beginPath();
      for (let row = first; row < last; row++) pen.lineTo(this.x(pinned.time[row]), this.y(data[row * width + k]));
      pen.strokeStyle = this.colour(k);
      pen.stroke();
    }
    pen.globalAlpha = 1; pen.setLineDash([]);
  }
}

class LiveView extends View {
  /** What the user pulls at: {body, tip, target}, or {body, tip} where it could be taken hold of. */
  grip = null;
  ghost = null;

  drawLinks() {
    if (this.ghost) this.drawGhost(this.ghost);
    super.drawLinks();
  }

  drawGhost(ghost) {
    this.pen.globalAlpha = GHOST;
    ghost.run.bodies.forEach((body, k) => {
      for (const line of body.lines) {
        const points = line.map(n => ghost.points[k].subarray(3 * n, 3 * n + 3));
        this.stroke(points, this.colour(k), 3, [7, 5]);
        if (line.length === 1 || body.kind === "payload") this.dot(points[0], 7, null, this.colour(k));
      }
    });
    this.pen.globalAlpha = 1;
  }

  /** An arrow as long as the root of the force, and, as long as the touch flashes, the outline of its peak. */
  drawForce(point, normal, force, touch, age) {
    const pen = this.pen, length = f => 0.25 * this.run.size * Math.sqrt(Math.min(f / this.run.largestForce, 1));
    pen.globalAlpha = 0.5 * (1 - 0.9 * age);
    this.arrow(point, add(point, normal, length(touch.peak_force)), 1.2);
    pen.globalAlpha = 1;
    if (force < 1e-4 * this.run.largestForce) return;
    const end = add(point, normal, length(force)), [x, y] = this.camera.project(end);
    this.arrow(point, end, 2.5);
    pen.font = "11px system-ui, sans-serif"; pen.textAlign = "left"; pen.textBaseline = "middle"; pen.fillStyle = this.colours.alarm;
    pen.fillText(`${short(force)} N`, x + 8, y);
    pen.textBaseline = "alphabetic";
  }

  arrow(from, to, width) {
    const [x0, y0] = this.camera.project(from), [x1, y1] = this.camera.project(to), long = Math.hypot(x1 - x0, y1 - y0), pen = this.pen;
    if (long < 3) return;
    const head = Math.min(9, 0.6 * long), u = [(x1 - x0) / long, (y1 - y0) / long];
    pen.beginPath(); pen.moveTo(x0, y0); pen.lineTo(x1, y1);
    for (const side of [-1, 1]) { pen.moveTo(x1 - head * u[0] - 0.5 * side * head * u[1], y1 - head * u[1] + 0.5 * side * head * u[0]); pen.lineTo(x1, y1); }
    pen.strokeStyle = this.colours.alarm; pen.lineWidth = width;
    pen.stroke();
  }

  drawJoints() {
    super.drawJoints();
    if (!this.grip) return;
    const { tip, target } = this.grip;
    if (target) this.drawSpring(tip, target);
    this.dot(tip, 9, null, this.colours.accent);
  }

  drawSpring(tip, target) {
    const [x0, y0] = this.camera.project(tip), [x1, y1] = this.camera.project(target), long = Math.hypot(x1 - x0, y1 - y0) || 1, pen = this.pen;
    const u = [(x1 - x0) / long, (y1 - y0) / long], coils = 9;
    pen.beginPath(); pen.moveTo(x0, y0);
    for (let k = 1; k <= 2 * coils; k++) {
      const along = long * (k - 0.5) / (2 * coils), aside = k % 2 ? 5 : -5;
      pen.lineTo(x0 + along * u[0] - aside * u[1], y0 + along * u[1] + aside * u[0]);
    }
    pen.lineTo(x1, y1);
    pen.strokeStyle = this.colours.accent; pen.lineWidth = 1.8;
    pen.stroke();
    this.dot(target, 4, this.colours.accent, null);
  }
}

class LivePlayer extends Player {
  constructor(run) {
    super(run);
    this.ledger = new Ledger(element("ledger"), run.recipe);
    this.ledger.load(run);
  }

  newView(run) { return new LiveView(element("view"), run, this.mechanism); }

  newPlot(panel, shared) {
    const player = this;
    return new LivePlot(element("plots"), this.run, panel, { ...shared, get pinned() { return player.pinned; } });
  }

  load(run) {
    run.box = [Math.min, Math.max].map((of, end) => this.run.box[end].map((x, k) => of(x, run.reach[end][k]))); // nothing leaves the picture
    super.load(run);
    this.ledger.load(run);
  }

  theme() {
    const dark = super.theme();
    this.colours.accent = getComputedStyle(document.documentElement).getPropertyValue("--accent").trim();
    return dark;
  }

  resetView() {
    this.run.box = this.run.reach;
    super.resetView();
  }

  /** The tip of a body at the cursor's time. */
  tip(body) {
    const { time, block: { tip: { width, data } } } = this.run, at = rowAt(time, this.t), of = row => data.subarray(row * width + 3 * body, row * width + 3 * body + 3);
    return [0, 1, 2].map(i => (1 - at.part) * of(at.low)[i] + at.part * of(at.high)[i]);
  }

  toggle() {
    if (this.hand?.going) this.hand.rest(); else super.toggle();
  }

  seek(t) {
    this.hand?.rest();
    super.seek(t);
  }

  /** Keep the present run in sight, or, without one, no other than the present. */
  pin(run) {
    this.pinned = run;
    this.view.ghost = run && new Mechanism(run);
    this.redraw();
  }

  frame() {
    if (this.view.grip) this.view.grip.tip = this.tip(this.view.grip.body);
    this.view.ghost?.update(Math.min(this.t, this.pinned.end), this.scale);
    super.frame();
    if (this.ledger && !element("ledger").hidden) this.ledger.draw(this.t, this.colours);
  }
}
