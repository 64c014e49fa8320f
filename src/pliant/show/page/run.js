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
    this.placed = []; // of every body: as it is, and where magnification carries it
  }

  update(t, scale) {
    const at = rowAt(this.run.time, t);
    for (const name of ["root", "turn", "weight", "touch"]) blend(this.run.block[name], at, this[name]);
    if (this.stress) {
      if (this.run.fillStress) { this.run.fillStress(at.low); this.run.fillStress(at.high); }
      blend(this.run.block.stress, at, this.stress);
    }
    this.run.bodies.forEach((body, k) => this.place(body, k, scale));
  }

  /** Equivalent stress at the points of a body, Pa; null where it is not known. */
  stressOf(k) {
    const first = this.stress ? this.run.stress.first[k] : undefined;
    return first === undefined ? null : this.stress.subarray(first, first + this.points[k].length / 3);
  }

  place(body, k, scale) {
    const R = rotation(this.turn.subarray(4 * k, 4 * k + 4)), o = this.root.subarray(3 * k, 3 * k + 3);
    const { root, turn } = this.carried(body, o), drawn = product(turn, R);
    const points = this.points[k], still = this.still[k], local = new Float64Array(points.length), large = new Float64Array(points.length);
    for (let n = 0; n < points.length; n += 3) {
      const s = [0, 0, 0];
      for (let i = 0; i < 3; i++) {
        local[n + i] = s[i] = body.rest[n + i];
        let bow = 0;
        for (const field of body.fields) {
          const w = this.weight[field.weight];
          local[n + i] += w * field.shape[n + i];
          bow += w * field.bow[n + i];
          if (field.rigid) s[i] += w * field.shape[n + i];
        }
        large[n + i] = local[n + i] + (scale - 1) * bow;
      }
      points.set(add(root, times(drawn, large.subarray(n, n + 3))), n);
      still.set(add(root, times(drawn, s)), n);
    }
    this.placed[k] = { o: [...o], R, local, large, root, turn, drawn };
  }

  /** Where magnification carries the root of a body, and how it turns the body. */
  carried(body, o) {
    const [number, point] = body.on;
    if (number < 0) return { root: [...o], turn: AS_IT_IS };
    const carrier = this.placed[number], n = 3 * point, of = points => points.subarray(n, n + 3);
    const before = add(carrier.o, times(carrier.R, of(carrier.local))), after = add(carrier.root, times(carrier.drawn, of(carrier.large)));
    const turn = body.joint === "free" ? AS_IT_IS : turnedAt(carrier, body.slope);
    return { root: add(after, times(turn, add(o, before, -1))), turn: body.keepsAngle ? turn : AS_IT_IS };
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

const AS_IT_IS = [1, 0, 0, 0, 1, 0, 0, 0, 1];

function times(M, v) {
  return [0, 3, 6].map(i => M[i] * v[0] + M[i + 1] * v[1] + M[i + 2] * v[2]);
}

function product(A, B) {
  return A.map((_, k) => [0, 1, 2].reduce((sum, j) => sum + A[3 * Math.floor(k / 3) + j] * B[3 * j + k % 3], 0));
}

/** How a drawn body is turned at one of its points: with its line, where that is bent more than it is. */
function turnedAt({ R, local, large, turn }, slope) {
  if (!slope) return turn;
  const along = points => slope.reduce((sum, [point, weight]) => add(sum, points.subarray(3 * point, 3 * point + 3), weight), [0, 0, 0]);
  const back = R.map((_, k) => R[3 * (k % 3) + Math.floor(k / 3)]);
  return product(turn, product(R, product(turnBetween(along(local), along(large)), back)));
}

/** The smallest rotation that turns one direction into another. */
function turnBetween(before, after) {
  const a = before.map(x => x / Math.hypot(...before)), b = after.map(x => x / Math.hypot(...after));
  const [x, y, z] = cross(a, b), skew = [0, -z, y, z, 0, -x, -y, x, 0], square = product(skew, skew), s = 1 / (1 + dot(a, b));
  return AS_IT_IS.map((one, k) => one + skew[k] + s * square[k]);
}
