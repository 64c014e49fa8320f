// The run: numbers out of the page, and where every drawn point is at a time. The same formulas as pliant.show.scene.

function readRun() {
  const run = JSON.parse(document.getElementById("run").textContent);
  const text = atob(document.getElementById("numbers").textContent.trim());
  const bytes = new Uint8Array(text.length);
  for (let k = 0; k < text.length; k++) bytes[k] = text.charCodeAt(k);
  run.time = new Float64Array(bytes.buffer, 0, run.rows);
  run.block = {};
  for (const [name, [offset, width]] of Object.entries(run.blocks)) {
    run.block[name] = { width, data: new Float32Array(bytes.buffer, offset, run.rows * width) };
  }
  run.begin = run.time[0];
  run.end = run.time[run.rows - 1];
  for (const touch of run.touches) touch.end = touch.end === null ? Infinity : touch.end;
  return run;
}

/** The row at or before t, and how far it is to the next one, 0 to 1. */
function rowAt(time, t) {
  let low = 0, high = time.length - 1;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (time[middle] <= t) low = middle; else high = middle;
  }
  const width = high > low ? time[high] - time[low] : 0;
  return { low, high, part: width > 0 ? Math.min(Math.max((t - time[low]) / width, 0), 1) : 0 };
}

/** One row of a block, linear between rows. */
function blend(block, at, out) {
  const { width, data } = block, a = at.low * width, b = at.high * width;
  for (let k = 0; k < width; k++) out[k] = (1 - at.part) * data[a + k] + at.part * data[b + k];
  return out;
}

/** The mechanism at a time: world positions of all points, with deformation magnified. */
class Mechanism {
  constructor(run) {
    this.run = run;
    const room = name => new Float64Array(run.block[name].width);
    this.root = room("root"); this.turn = room("turn"); this.weight = room("weight"); this.touch = room("touch");
    this.stress = run.stress ? room("stress") : null;
    this.points = run.bodies.map(body => new Float64Array(body.rest.length));
    this.still = run.bodies.map(body => new Float64Array(body.rest.length)); // as if no beam were deformed
    this.moved = run.bodies.map(body => new Float64Array(body.rest.length)); // by magnification
  }

  update(t, scale) {
    const at = rowAt(this.run.time, t);
    for (const name of ["root", "turn", "weight", "touch"]) blend(this.run.block[name], at, this[name]);
    if (this.stress) blend(this.run.block.stress, at, this.stress);
    this.run.bodies.forEach((body, k) => this.place(body, k, scale));
  }

  /** Equivalent stress at the points of a body, Pa; null where it is not known. */
  stressOf(k) {
    const first = this.stress ? this.run.stress.first[k] : undefined;
    return first === undefined ? null : this.stress.subarray(first, first + this.points[k].length / 3);
  }

  place(body, k, scale) {
    const R = rotation(this.turn.subarray(4 * k, 4 * k + 4)), o = this.root.subarray(3 * k, 3 * k + 3);
    const points = this.points[k], still = this.still[k], moved = this.moved[k];
    const [carrier, spot] = body.on;
    const shift = carrier < 0 ? [0, 0, 0] : this.moved[carrier].subarray(3 * spot, 3 * spot + 3);
    for (let n = 0; n < points.length; n += 3) {
      const r = [0, 0, 0], s = [0, 0, 0], bow = [0, 0, 0];
      for (let i = 0; i < 3; i++) {
        r[i] = s[i] = body.rest[n + i];
        for (const field of body.fields) {
          const w = this.weight[field.weight];
          r[i] += w * field.shape[n + i];
          bow[i] += (scale - 1) * w * field.bow[n + i];
          if (field.rigid) s[i] += w * field.shape[n + i];
        }
      }
      for (let i = 0; i < 3; i++) {
        moved[n + i] = shift[i] + R[3 * i] * bow[0] + R[3 * i + 1] * bow[1] + R[3 * i + 2] * bow[2];
        points[n + i] = o[i] + R[3 * i] * r[0] + R[3 * i + 1] * r[1] + R[3 * i + 2] * r[2] + moved[n + i];
        still[n + i] = o[i] + R[3 * i] * s[0] + R[3 * i + 1] * s[1] + R[3 * i + 2] * s[2] + shift[i];
      }
    }
  }

  spot([body, point]) {
    return body < 0 ? this.run.ground[point] : this.points[body].subarray(3 * point, 3 * point + 3);
  }

  /** Where a contact pair is: its point, its normal, its gap and its force. */
  contact(k) {
    const row = this.touch.subarray(8 * k, 8 * k + 8);
    return { point: row.subarray(0, 3), normal: row.subarray(3, 6), gap: row[6], force: row[7] };
  }
}

function rotation(q) {
  const s = 1 / Math.hypot(q[0], q[1], q[2], q[3]), w = q[0] * s, x = q[1] * s, y = q[2] * s, z = q[3] * s;
  return [
    1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y),
    2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x),
    2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y),
  ];
}
