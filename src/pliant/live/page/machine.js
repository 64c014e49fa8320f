// The mechanism: a WebAssembly module with the memory of a run. Runs are started, advanced in portions, and read.

const GO_ON = 0, FULL = 1, AT_STOP = 2, AT_EVENT = 3, PAUSED = 12; // codes of the loop; others end the run with a sentence
const PORTION = 20000; // evaluations of the equations between two looks at what else is to be done
const FINISHED = 10; // numbers of a contact that has ended: its pair, then those of `touchOf`

class Machine {
  /** spec: what the page says of the module and its memory; code, memory: their bytes. */
  constructor(spec, code, memory) {
    this.spec = spec;
    this.memory = new WebAssembly.Memory({ initial: spec.pages });
    const table = new WebAssembly.Table({ initial: spec.slots, element: "anyfunc" });
    const stack = new WebAssembly.Global({ value: "i32", mutable: true }, spec.begin);
    const env = { __linear_memory: this.memory, __indirect_function_table: table, __stack_pointer: stack, sin: Math.sin, cos: Math.cos };
    this.calls = new WebAssembly.Instance(new WebAssembly.Module(code), { env }).exports;
    this.floats = new Float64Array(this.memory.buffer);
    this.words = new Int32Array(this.memory.buffer);
    this.contents = memory.subarray(0, spec.contents);
    this.numbers = new Float64Array(memory.slice(spec.contents).buffer); // of tables
    this.code = null;
  }

  // ---- memory

  array(name, count) { return this.floats.subarray(this.spec.places[name] / 8, this.spec.places[name] / 8 + count); }
  /** Fields of the run's record: doubles, or whole numbers, which are small. */
  real(name) { return this.floats[this.spec.places.run / 8 + this.spec.fields[name]]; }
  whole(name) { return this.words[2 * (this.spec.places.run / 8 + this.spec.fields[name])]; }
  setReal(name, value) { this.floats[this.spec.places.run / 8 + this.spec.fields[name]] = value; }
  setWhole(name, value) { this.setWord(this.spec.places.run + 8 * this.spec.fields[name], value); }
  setWord(address, value) { this.words[address / 4] = value; this.words[address / 4 + 1] = value < 0 ? -1 : 0; }

  // ---- a run

  /** Put everything at the start: values of the sliders, in order. Returns a sentence if there can be no such run. */
  begin(values) {
    const { spec, calls } = this;
    new Uint8Array(this.memory.buffer, spec.begin, spec.end - spec.begin).fill(0);
    new Uint8Array(this.memory.buffer).set(this.contents, spec.begin);
    for (const [field, name] of spec.kernels) this.setWord(spec.places[field], Number(calls["address_of_" + name]()));
    const made = this.made = this.ingredients(values), part = name => made.subarray(spec.parts[name][0], spec.parts[name][1]);
    this.array("numbers", part("numbers").length).set(part("numbers"));
    this.prepare();
    const prepared = this.array("prepared", spec.prepared), count = spec.constants[1];
    for (let k = 0; k < spec.answers.length; k++) {
      const found = prepared[count + k], asked = spec.answers[k];
      if (!(Math.abs(found - asked) <= 1e-14 * Math.abs(asked))) return "with these values the mechanism has other equations; write a page for them";
    }
    for (let k = 0; k < count; k++) if (!Number.isFinite(prepared[k])) return "with these values the equations have no finite numbers";
    const p = this.array("batch.p", spec.parameters);
    p.set(this.array("run.p", spec.parameters));
    p.set(prepared.subarray(0, count), spec.constants[0]);
    p.set(part("heads").subarray(0, spec.head));
    const start = this.array("batch.y", spec.n);
    start.set(part("start"));
    spec.sliders.forEach((slider, k) => { if (slider.place !== null) start[slider.place] = values[k]; });
    this.array("batch.numbers", part("pairs").length).set(part("pairs"));
    this.array("batch.weight", 1).set(part("weight"));
    this.array("run.piece_head", part("heads").length).set(part("heads"));
    if (spec.pieces === part("ends").length) this.array("run.piece_end", spec.pieces).set(part("ends"));
    this.setReal("t_stop", this.array("run.piece_end", 1)[0]);
    calls.take_up(spec.places.run, spec.places.batch, 0n);
    if (this.words[spec.places["batch.start"] / 4] !== 0) return "with these values no mass resists some motion, or bodies begin inside each other";
    if (calls.project && spec.sliders.some((slider, k) => slider.place === null && values[k] !== slider.value)) this.project();
    this.code = null; this.touches = []; this.values = [...values];
    return "";
  }

  /** Put a start that was looked up exactly onto closed loops: Newton's steps. */
  project() {
    const { n, places } = this.spec;
    for (let k = 0; k < 3; k++) {
      this.calls.project(this.real("t"), places["run.y"], places["run.p"], places["run.y_try"], places["run.work"]);
      this.array("run.y", n).set(this.array("run.y_try", n));
    }
  }

  /** The constants of the equations, from the numbers. */
  prepare() {
    const { places } = this.spec;
    this.calls.prepare(0, places.numbers, places.numbers, places.prepared, places["run.work"]);
  }

  /** Run on for one portion; whether the run has not ended. */
  advance(portion = PORTION) {
    this.setWhole("budget", portion);
    const code = Number(this.calls.advance(this.spec.places.run));
    if (code === GO_ON || code === FULL) {
      if (code === FULL) { this.collect(); this.setWhole("flushed", 1); }
      return true;
    }
    this.collect();
    this.code = code;
    return false;
  }

  /** Contacts and events that the loop has finished with. */
  collect() {
    const count = this.whole("flushed") ? 0 : this.whole("n_touches");
    const done = count ? this.array("run.finished", FINISHED * count) : [];
    for (let k = 0; k < count; k++) this.touches.push(touchOf(done.slice(FINISHED * k, FINISHED * (k + 1))));
  }

  get t() { return this.real("t"); }

  /** What the run has left: rows so far, contacts, and how it ended. */
  result() {
    const { spec } = this, rows = this.whole("n_rows");
    return {
      code: this.code, t: this.t, rows, ok: this.code === AT_STOP || this.code === AT_EVENT,
      time: this.array("run.row_t", rows).slice(), state: this.array("run.row_y", rows * spec.n).slice(),
      observed: this.array("run.row_observed", rows * spec.observed).slice(), end: this.array("run.y", spec.n).slice(),
      touches: [...this.touches, ...this.lasting()], drawing: this.made.slice(...spec.parts.drawing), moved: this.spec.sliders.map((slider, k) => this.values[k] !== slider.value), steps: this.whole("accepted"), refused: this.whole("rejected"),
      evaluations: this.whole("rhs_evaluations"), event: this.code === AT_EVENT ? this.hitEvent() : -1,
    };
  }

  hitEvent() {
    const at = this.spec.places["run.hit"] / 4;
    for (let e = 0; e < this.spec.events; e++) if (this.words[at + 2 * e] !== 0) return e;
    return -1;
  }

  /** Contacts that are still closed at the end. */
  lasting() {
    const { spec } = this, p = this.array("run.p", spec.parameters), y = this.array("run.y", spec.n), found = [];
    spec.pairs.forEach((pair, k) => {
      if (p[pair.closed] === 0) return;
      const [begin, entry, impulse, lost, rubbed, force, time] = this.array("run.touch", spec.pairs.length * spec.touch).subarray(spec.touch * k);
      found.push({ pair: k, begin, end: null, entry_speed: entry, exit_speed: null, peak_force: force, peak_time: time,
                   impulse: y[pair.impulse] - impulse, normal_loss: lost - y[pair.lost], friction_loss: rubbed - y[pair.rubbed] });
    });
    return found;
  }

  // ---- a run that goes on as long as it is wanted, pulled by a hand

  /** Go on from a state of the run that began last, at time t: contacts are judged anew. Returns whether there is time left. */
  restart(state, t) {
    const { spec } = this, ends = this.array("run.piece_end", spec.pieces), heads = this.array("run.piece_head", spec.pieces * spec.head);
    if (!this.values || this.begin(this.values)) return false;
    if (!spec.updates) ends[spec.pieces - 1] = 1e9; // nothing of the mechanism ends with the run
    const piece = ends.findIndex(end => end > t);
    if (piece < 0) return false;
    this.setWhole("piece", piece);
    this.setReal("t_stop", ends[piece]);
    this.array("run.p", spec.head).set(heads.subarray(piece * spec.head, (piece + 1) * spec.head));
    this.array("run.y", spec.n).set(state);
    this.setReal("t", t);
    return true;
  }

  /** Spring k to a place in the world, with a stiffness in N/m; without one the hand lets go. */
  pull(k, place, stiffness = 0) {
    const numbers = this.array("numbers", this.spec.parts.numbers[1] - this.spec.parts.numbers[0]);
    const values = place ? [stiffness, ...place] : [0, 0, 0, 0];
    this.spec.pulls[k].numbers.forEach((places, j) => places.forEach(at => { numbers[at] = values[j]; }));
    this.prepare();
    this.array("run.p", this.spec.parameters).set(this.array("prepared", this.spec.constants[1]), this.spec.constants[0]);
    if (this.whole("waiting")) { // the step that was made with other forces
      this.setWhole("waiting", 0);
      this.setReal("h", Math.max(this.real("h"), 1e-6));
    }
    this.setWhole("entering", 1);
    this.setWhole("restart", 1);
  }

  /** Advance to time t: the row there. */
  follow(t) {
    const { spec } = this;
    this.array("run.plan", 1)[0] = t;
    for (const [name, value] of [["n_plan", 1], ["next_save", 0], ["pausing", 1], ["n_rows", 0], ["first_row", 0]]) this.setWhole(name, value);
    this.setReal("max_step", Math.max(t - this.t, 1e-6));
    let code = GO_ON;
    for (let portions = 0; (code === GO_ON || code === FULL) && portions < 200; portions++) {
      if (code === FULL) { this.collect(); this.setWhole("n_touches", 0); }
      this.setWhole("budget", PORTION);
      code = Number(this.calls.advance(spec.places.run));
    }
    const rows = this.whole("n_rows"), state = rows ? this.array("run.row_y", spec.n) : this.array("run.y", spec.n);
    return { t: rows ? t : this.t, state: state.slice(), observed: rows ? this.array("run.row_observed", spec.observed).slice() : null,
             ok: code === PAUSED, code };
  }

  // ---- numbers that follow from those of sliders

  /** The table's vector: at the values that the page was made with as they are, else by polynomials of Chebyshev. */
  ingredients(values) {
    const { table, sliders } = this.spec, vector = this.numbers.slice(table.base[0], table.base[1]);
    const own = sliders.map((slider, k) => ({ ...slider, now: values[k] })).filter(slider => slider.place === null);
    if (own.every(slider => slider.now === slider.value)) return vector;
    const s = own.map(({ now, low, high }) => (2 * now - low - high) / (high - low || 1));
    for (const { numbers, entries, shape, first } of table.changes) {
      const terms = numbers.map((k, axis) => Array.from({ length: shape[axis] }, (_, j) => Math.cos(j * Math.acos(Math.min(Math.max(s[k], -1), 1)))));
      const width = entries.length;
      let at = first;
      const add = (axis, weight) => {
        if (axis < numbers.length) { for (const term of terms[axis]) add(axis + 1, weight * term); return; }
        for (let k = 0; k < width; k++) vector[entries[k]] += weight * this.numbers[at + k];
        at += width;
      };
      add(0, 1);
    }
    return vector;
  }
}

function touchOf([pair, begin, end, entry_speed, exit_speed, peak_force, peak_time, impulse, normal_loss, friction_loss]) {
  return { pair, begin, end, entry_speed, exit_speed, peak_force, peak_time, impulse, normal_loss, friction_loss };
}

if (typeof module !== "undefined") module.exports = { Machine };
