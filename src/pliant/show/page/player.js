// The clock, the controls and the keyboard.

const DARK = ["#4fa3db", "#f28c45", "#35c79a", "#e3a2c8", "#f2b84b", "#8ad0f7", "#e8e8e8"];
const SPEEDS = [0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100];
const FRAME = 1 / 60; // s
const STEP = 1 / 300; // of the run: an arrow key

class Player {
  constructor(run) {
    this.run = run;
    this.t = run.begin; this.playing = false; this.speed = run.speed; this.scale = run.scale; this.frames = 0;
    this.mechanism = new Mechanism(run);
    this.view = this.newView(run);
    this.window = { begin: run.begin, end: run.end > run.begin ? run.end : run.begin + 1 };
    this.plots = [];
    this.theme();
    this.fillPage();
    this.listen();
    this.resize();
    requestAnimationFrame(now => this.tick(now));
  }

  newView(run) { return new View(element("view"), run, this.mechanism); }

  newPlot(panel, shared) { return new Plot(element("plots"), this.run, panel, shared); }

  /** Another run of the same mechanism: time, camera, window of time and what is shown stay as they are. */
  load(run) {
    const { window: shown, run: before } = this;
    const whole = shown.begin <= before.begin && shown.end >= before.end;
    run.panels.forEach((panel, k) => { panel.shown = before.panels[k].shown; });
    this.run = run;
    this.mechanism = new Mechanism(run);
    this.view.load(run, this.mechanism);
    if (whole) { shown.begin = run.begin; shown.end = run.end > run.begin ? run.end : run.begin + 1; }
    run.panels.filter(panel => panel.shown).forEach((panel, k) => this.plots[k].load(run, panel));
    this.t = Math.min(Math.max(this.t, run.begin), run.end);
    element("message").textContent = run.message;
    element("stressed").hidden = run.stress === null;
    this.drawMarks();
    this.redraw();
  }

  // ---- what is on the page

  fillPage() {
    const { run } = this;
    element("name").textContent = run.name;
    element("message").textContent = run.message;
    element("hint").textContent = `space: play · ← →: step · ↑ ↓: speed${run.touches.length ? " · n, p: next and previous touch" : ""}${run.stress ? " · s: stress" : ""} · ` +
      `drag: ${this.view.camera.flat ? "move" : "turn (shift: move)"} · wheel: zoom · r: reset view · in plots: click, drag, wheel, double click`;
    element("scale").value = this.scale;
    element("magnify").hidden = !run.bodies.some(body => body.elastic);
    element("stressed").hidden = run.stress === null;
    const select = element("speed");
    for (const speed of new Set([...SPEEDS, run.speed].sort((a, b) => a - b))) select.add(new Option(`× ${speed}`, speed, false, speed === run.speed));
    run.panels.forEach((panel, k) => {
      const chip = document.createElement("button");
      chip.textContent = panel.title;
      chip.setAttribute("aria-pressed", String(panel.shown));
      chip.addEventListener("click", () => {
        const own = this.run.panels[k];
        own.shown = !own.shown;
        chip.setAttribute("aria-pressed", String(own.shown));
        this.buildPlots();
      });
      element("chips").append(chip);
    });
    this.buildPlots();
  }

  buildPlots() {
    element("plots").replaceChildren();
    const shared = { window: this.window, seek: t => this.seek(t), zoom: (factor, t) => this.zoom(factor, t), changed: () => this.redraw() };
    this.plots = this.run.panels.filter(panel => panel.shown).map(panel => this.newPlot(panel, shared));
    this.resize();
  }

  theme() {
    const css = getComputedStyle(document.documentElement), of = name => css.getPropertyValue(name).trim();
    const paper = of("--paper");
    const dark = parseInt(paper.slice(1, 3), 16) < 128;
    this.colours = {
      paper, ink: of("--ink"), quiet: of("--quiet"), grid: of("--grid"), solid: of("--solid"), floor: of("--floor"),
      floorEdge: of("--floor-edge"), alarm: of("--alarm"), palette: dark ? DARK : this.run.palette,
    };
    return dark;
  }

  switchTheme() {
    document.documentElement.dataset.theme = this.theme() ? "light" : "dark";
    this.theme();
    this.redraw();
  }

  // ---- what the user does

  listen() {
    element("play").addEventListener("click", () => this.toggle());
    element("theme").addEventListener("click", () => this.switchTheme());
    element("scrub").addEventListener("input", event => {
      this.seek(this.run.begin + (this.run.end - this.run.begin) * event.target.value / event.target.max);
    });
    element("speed").addEventListener("change", event => { this.speed = Number(event.target.value); this.dirty = true; });
    element("scale").addEventListener("input", event => { if (event.target.validity.valid) this.setScale(Number(event.target.value)); });
    element("trails").addEventListener("change", event => { this.view.trails = event.target.checked; this.dirty = true; });
    element("stress").addEventListener("change", event => { this.view.stress = event.target.checked; this.dirty = true; });
    window.addEventListener("resize", () => this.resize());
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { this.theme(); this.redraw(); });
    document.addEventListener("keydown", event => this.key(event));
    this.listenToView(element("view"));
  }

  listenToView(canvas) {
    const fingers = new Map(), at = event => [event.offsetX, event.offsetY];
    canvas.addEventListener("pointerdown", event => { canvas.setPointerCapture(event.pointerId); fingers.set(event.pointerId, at(event)); });
    for (const end of ["pointerup", "pointercancel"]) canvas.addEventListener(end, event => fingers.delete(event.pointerId));
    canvas.addEventListener("pointermove", event => {
      const before = fingers.get(event.pointerId);
      if (!event.buttons || !before) return;
      fingers.set(event.pointerId, at(event));
      const moved = [event.offsetX - before[0], event.offsetY - before[1]];
      const other = [...fingers].find(([id]) => id !== event.pointerId);
      if (other) this.pinch(before, at(event), other[1], moved);
      else this.view.camera.drag(...moved, event.shiftKey || event.buttons !== 1);
      this.dirty = true;
    });
    canvas.addEventListener("contextmenu", event => event.preventDefault());
    canvas.addEventListener("wheel", event => {
      event.preventDefault();
      this.view.camera.nearer(Math.exp(-0.0015 * event.deltaY), event.offsetX, event.offsetY);
      this.dirty = true;
    }, { passive: false });
    canvas.addEventListener("dblclick", () => this.resetView());
  }

  /** Two fingers: nearer or farther by their distance, moved by half of what one of them moves. */
  pinch(before, now, other, moved) {
    const apart = p => Math.hypot(p[0] - other[0], p[1] - other[1]) || 1;
    this.view.camera.nearer(apart(now) / apart(before), 0.5 * (now[0] + other[0]), 0.5 * (now[1] + other[1]));
    this.view.camera.drag(0.5 * moved[0], 0.5 * moved[1], true);
  }

  key(event) {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.target.matches("select, input[type=number]")) return;
    if (event.key === " " && event.target.matches("button:focus-visible, summary:focus-visible, input[type=checkbox]:focus-visible")) return;
    const step = (event.shiftKey ? 10 : 1) * STEP * (this.window.end - this.window.begin);
    const deeds = {
      " ": () => this.toggle(),
      ArrowLeft: () => this.seek(this.t - step),
      ArrowRight: () => this.seek(this.t + step),
      ArrowUp: () => this.faster(1),
      ArrowDown: () => this.faster(-1),
      Home: () => this.seek(this.run.begin),
      End: () => this.seek(this.run.end),
      n: () => this.nextTouch(1),
      p: () => this.nextTouch(-1),
      d: () => this.switchTheme(),
      r: () => this.resetView(),
      t: () => element("trails").click(),
      l: () => element("loop").click(),
      s: () => { if (this.run.stress) element("stress").click(); },
    };
    const deed = deeds[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (!deed) return;
    event.preventDefault();
    deed();
  }

  toggle() {
    if (!this.playing && this.t >= this.run.end) this.seek(this.run.begin);
    this.playing = !this.playing;
    this.last = null;
    this.showPlaying(this.playing);
  }

  showPlaying(playing) {
    element("play").textContent = playing ? "❚❚" : "▶";
    element("play").setAttribute("aria-label", playing ? "pause" : "play");
  }

  seek(t) {
    this.t = Math.min(Math.max(t, this.run.begin), this.run.end);
    this.dirty = true;
  }

  setScale(scale) {
    this.scale = scale;
    this.dirty = true;
  }

  faster(way) {
    const select = element("speed");
    select.selectedIndex = Math.min(Math.max(select.selectedIndex + way, 0), select.options.length - 1);
    this.speed = Number(select.value);
  }

  nextTouch(way) {
    const begins = this.run.touches.map(touch => touch.begin);
    const next = way > 0 ? begins.find(t => t > this.t + 1e-9) : begins.findLast(t => t < this.t - 1e-9);
    if (next !== undefined) this.seek(next);
  }

  resetView() {
    this.view.camera.reset();
    this.dirty = true;
  }

  /** The window of time of all plots, around a time that stays where it is. */
  zoom(factor, t) {
    const { run, window: shown } = this, width = Math.min((shown.end - shown.begin) * factor, run.end - run.begin || 1);
    const part = (t - shown.begin) / (shown.end - shown.begin || 1);
    this.show(t - part * width, width);
  }

  show(begin, width) {
    const { run } = this;
    this.window.begin = Math.min(Math.max(begin, run.begin), run.end - width);
    this.window.end = this.window.begin + width;
    this.redraw();
  }

  // ---- drawing

  resize() {
    this.view.resize();
    this.plots.forEach(plot => plot.resize());
    this.drawMarks();
    this.redraw();
  }

  /** All that does not move; what moves follows in the next frame. */
  redraw() {
    this.plots.forEach(plot => plot.draw(this.colours));
    this.dirty = true;
  }

  /** Touches along the track. */
  drawMarks() {
    const canvas = element("marks"), ratio = window.devicePixelRatio || 1, { run } = this;
    canvas.width = Math.round(ratio * canvas.clientWidth); canvas.height = Math.round(ratio * canvas.clientHeight);
    const pen = canvas.getContext("2d"), thumb = 8;
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.fillStyle = this.colours.alarm;
    for (const touch of run.touches) {
      const x = thumb + (canvas.clientWidth - 2 * thumb) * (touch.begin - run.begin) / (run.end - run.begin || 1);
      pen.fillRect(x - 0.75, 0, 1.5, 6);
    }
  }

  tick(now) {
    if (this.playing) this.advance(this.last ? Math.min((now - this.last) / 1000, 0.25) : FRAME);
    this.last = now;
    if (this.dirty) this.frame();
    requestAnimationFrame(later => this.tick(later));
  }

  advance(seconds) {
    let t = this.t + this.speed * seconds;
    if (t > this.run.end) {
      if (element("loop").checked && this.t >= this.run.end) t = this.run.begin;
      else if (!element("loop").checked) this.toggle();
    }
    this.seek(t);
    const { begin, end } = this.window;
    if (this.t > end || this.t < begin) this.show(this.t - (this.t > end ? 0.02 : 0) * (end - begin), end - begin);
  }

  /** What is not where it is: said whenever deformation is drawn other than it is. */
  magnification() {
    if (this.scale === 1 || !this.run.bodies.some(body => body.elastic)) return "";
    const contacts = this.run.contacts.length ? "; contacts are drawn where they are" : "";
    return `deformation × ${+this.scale.toPrecision(4)}, dotted: undeformed${contacts}`;
  }

  frame() {
    this.dirty = false;
    this.frames++;
    this.mechanism.update(this.t, this.scale);
    const touching = this.view.draw(this.t, this.scale, this.speed, this.colours);
    element("touching").textContent = touching.map(c => `${c.pair}: ${short(c.peak_force)} N at most`).join(" · ");
    element("magnified").textContent = this.magnification();
    this.plots.forEach(plot => plot.follow(this.t));
    const { run } = this, digits = Math.min(Math.max(3 - Math.floor(Math.log10(run.end - run.begin || 1)), 0), 9);
    element("clock").textContent = `${this.t.toFixed(digits)} s of ${+run.end.toFixed(digits)} s`;
    element("scrub").value = Math.round(element("scrub").max * (this.t - run.begin) / (run.end - run.begin || 1));
  }
}

function element(id) { return document.getElementById(id); }
