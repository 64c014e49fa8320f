// A hand in the mechanism: a tip is pulled by a spring, and the run goes on from the cursor's time for as long as it is wanted.

const REACH = { mouse: 16, touch: 32, pen: 22 }; // pixels around a tip, by the kind of pointer
const RECORDED = 1200; // rows: older ones are forgotten
const PART_OF_SIZE = 0.04; // of the mechanism: how far a key moves the hand

class Hand {
  constructor(live, pulls) {
    this.live = live; this.player = live.player; this.pulls = pulls;
    this.id = 0; this.going = false; this.computed = null; this.held = null; this.rows = [];
    this.badge = document.createElement("div");
    this.badge.id = "hand"; this.badge.hidden = true;
    this.words = document.createElement("span");
    const again = document.createElement("button");
    again.textContent = "run again";
    again.addEventListener("click", () => this.runAgain());
    this.badge.append(this.words, again);
    element("picture").append(this.badge);
    this.listen(element("picture"));
  }

  // ---- what the user does

  listen(picture) {
    picture.addEventListener("pointerdown", event => {
      const pull = event.target === element("view") && event.button === 0 && !this.held && this.near(event);
      if (!pull) return;
      event.stopPropagation();
      picture.setPointerCapture(event.pointerId);
      this.take(pull, event.pointerId);
    }, true);
    picture.addEventListener("pointermove", event => {
      if (this.held?.pointer === event.pointerId) this.lead(this.under(event));
      else if (!event.buttons && !this.held) this.hover(event.target === element("view") ? this.near(event) : null);
    }, true);
    for (const end of ["pointerup", "pointercancel"]) picture.addEventListener(end, event => { if (this.held?.pointer === event.pointerId) this.release(); }, true);
    picture.addEventListener("pointerleave", () => { if (!this.held) this.hover(null); });
    document.addEventListener("keydown", event => this.key(event), true);
  }

  /** By keys: h takes hold of one tip after the other, arrows move the hand, Escape lets go. */
  key(event) {
    if (event.ctrlKey || event.altKey || event.metaKey || event.target.matches("input:not([type=checkbox]), select")) return;
    const [right, up] = this.player.view.camera.axes, far = PART_OF_SIZE * this.player.run.size * (event.shiftKey ? 4 : 1);
    const ways = { ArrowRight: [right, far], ArrowLeft: [right, -far], ArrowUp: [up, far], ArrowDown: [up, -far] }, way = ways[event.key];
    if (event.key.toLowerCase() === "h") {
      const next = this.held ? this.pulls.indexOf(this.held.pull) + 1 : 0;
      this.release();
      if (next < this.pulls.length) this.take(this.pulls[next], "keys");
    } else if (this.held && event.key === "Escape") this.release();
    else if (this.held && way) this.lead(add(this.held.target, ...way));
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** The pull whose tip is nearest to the pointer, if one is near. */
  near(event) {
    const { camera } = this.player.view, box = element("picture").getBoundingClientRect();
    let least = REACH[event.pointerType] || REACH.mouse, found = null;
    for (const pull of this.pulls) {
      const [x, y] = camera.project(this.player.tip(pull.body)), far = Math.hypot(event.clientX - box.left - x, event.clientY - box.top - y);
      if (far < least) { least = far; found = pull; }
    }
    return found;
  }

  /** The place of the world under the pointer, as deep in the picture as the tip is. */
  under(event) {
    const { camera } = this.player.view, box = element("picture").getBoundingClientRect(), tip = this.player.tip(this.held.pull.body);
    const [x, y] = camera.project(tip), { axes, pixels } = camera;
    return add(add(tip, axes[0], (event.clientX - box.left - x) / pixels), axes[1], -(event.clientY - box.top - y) / pixels);
  }

  hover(pull) {
    element("view").style.cursor = pull ? "pointer" : "";
    if ((this.player.view.grip?.body ?? null) === (pull ? pull.body : null)) return;
    this.player.view.grip = pull && { body: pull.body };
    this.player.dirty = true;
  }

  // ---- pulling

  take(pull, pointer) {
    if (!this.going) this.start();
    const target = this.player.tip(pull.body);
    this.held = { pull, pointer, target };
    this.player.view.grip = { body: pull.body, target };
    this.lead(target);
  }

  lead(target) {
    this.held.target = this.player.view.grip.target = target;
    this.tell({ hold: this.pulls.indexOf(this.held.pull), place: target, stiffness: this.stiffness });
    this.player.dirty = true;
  }

  release() {
    if (!this.held) return;
    this.tell({ hold: this.pulls.indexOf(this.held.pull), place: null });
    this.held = this.player.view.grip = null;
    this.player.dirty = true;
  }

  tell(message) { this.live.runner.hand(message); }

  /** Go on from the row before the cursor. */
  start() {
    const { player } = this, { run } = player, { n, observed } = run.recipe, row = rowAt(run.time, player.t).low;
    if (player.playing) player.toggle();
    const first = { t: run.time[row], state: run.raw.state.slice(row * n, (row + 1) * n), observed: run.raw.observed.slice(row * observed, (row + 1) * observed) };
    if (!this.computed) {
      this.computed = run; this.rows = [];
      this.stiffness = 8 * (player.ledger.longest || 1) / run.size ** 2; // N/m: stretched by half the size, it holds the energy of the run
    }
    this.rows = [...this.rows.filter(own => own.t < first.t), first];
    this.going = true; this.speed = player.speed;
    this.live.runner.yield();
    this.tell({ from: first.state, t: first.t, speed: this.speed, values: this.computed.values, id: ++this.id });
    this.words.textContent = `by hand since ${+this.rows[0].t.toPrecision(4)} s`;
    this.badge.hidden = false;
    player.showPlaying(true);
  }

  /** A row of the worker. */
  follow({ id, followed, trouble }) {
    if (id !== this.id || !this.going) return;
    if (followed?.observed) this.rows.push(followed);
    if (this.rows.length > RECORDED) this.rows.splice(0, this.rows.length - RECORDED);
    if (trouble || !followed.ok) {
      this.rest();
      this.live.say(trouble || sentence(this.live.scenery, { ...followed, event: -1 }), true);
    }
    if (!this.drawing) this.drawing = requestAnimationFrame(() => this.draw());
  }

  draw() {
    this.drawing = 0;
    if (!this.computed || !this.rows.length) return;
    const { player } = this, run = assembled(this.live.scenery, this.raw());
    run.values = this.computed.values;
    run.message = this.words.textContent;
    run.largestForce = Math.max(run.largestForce, this.computed.largestForce);
    player.load(run);
    if (this.going) player.t = run.end;
    if (this.going && player.speed !== this.speed) this.tell({ pace: this.speed = player.speed });
  }

  /** The rows as a run, with the touches that are seen in them. */
  raw() {
    const { rows } = this, { n, observed, blocks } = this.live.scenery.recipe, last = rows.at(-1);
    const raw = { ...this.computed.raw, rows: rows.length, code: null, ok: true, t: last.t, event: -1, touches: [], time: Float64Array.from(rows, row => row.t),
                  state: new Float64Array(n * rows.length), observed: new Float64Array(observed * rows.length) };
    rows.forEach((row, k) => { raw.state.set(row.state, n * k); raw.observed.set(row.observed, observed * k); });
    for (let pair = 0; 8 * pair < blocks.touch.length; pair++) {
      let touch = null;
      for (const row of rows) {
        const place = blocks.touch[8 * pair + 7], force = place >= 0 ? row.observed[place] : row.state[-1 - place];
        if (!(force > 0)) { if (touch) touch.end = row.t; touch = null; continue; }
        if (!touch) raw.touches.push(touch = { pair, begin: row.t, end: null, peak_force: 0, peak_time: row.t });
        if (force > touch.peak_force) { touch.peak_force = force; touch.peak_time = row.t; }
      }
    }
    return raw;
  }

  /** Stop where it is: what was recorded can be looked at, and gone on from. */
  rest() {
    if (!this.going) return;
    this.release();
    this.going = false;
    this.tell({ rest: true });
    this.player.showPlaying(false);
  }

  /** Back to runs of the sliders. */
  leave() {
    this.rest();
    this.computed = null; this.rows = [];
    this.badge.hidden = true;
  }

  runAgain() {
    const { computed } = this;
    this.leave();
    this.player.load(computed);
    this.player.seek(this.player.run.begin);
  }
}
