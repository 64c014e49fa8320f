// The mechanism on a canvas: an orthographic camera, flat for planar motion, orbiting for spatial.

const add = (a, b, s = 1) => [a[0] + s * b[0], a[1] + s * b[1], a[2] + s * b[2]];
const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const unit = k => [0, 1, 2].map(i => (i === k ? 1 : 0));

const MARGIN = [24, 18, 24, 48]; // pixels, of the picture: below stand the axes and the scale
const LEGEND = 96; // pixels, to the left: what colours of stress mean

class Camera {
  constructor(run) {
    this.run = run;
    this.flat = run.axes.length === 2;
    this.up = run.up;
    this.reset();
  }

  reset() {
    this.azimuth = -0.9; this.elevation = 0.38; this.zoom = 1; this.pan = [0, 0];
  }

  /** The direction of the vertical axis on the page: down if gravity would otherwise point up. */
  upward(k) {
    return unit(k).map(x => (this.run.upsideDown ? -x : x));
  }

  /** World axes to the right, up and towards the eye. */
  basis() {
    if (this.flat) {
      const right = unit(this.run.axes[0]), up = this.upward(this.run.axes[1]);
      return [right, up, cross(right, up)];
    }
    const pole = this.upward(this.up), a = unit((this.up + 1) % 3), b = unit((this.up + 2) % 3);
    const flat = add(a.map(x => x * Math.cos(this.azimuth)), b, Math.sin(this.azimuth));
    const eye = add(flat.map(x => x * Math.cos(this.elevation)), pole, Math.sin(this.elevation));
    const right = cross(pole, flat);
    return [right, cross(eye, right), eye];
  }

  /** Fit the box of all that moves into a canvas; beside, a margin for what is written there: left, top, right, bottom, pixels. */
  aim(width, height, margin = MARGIN) {
    const [low, high] = this.run.box, axes = this.basis();
    this.centre = low.map((x, k) => 0.5 * (x + high[k]));
    let w = 1e-9, h = 1e-9;
    for (let corner = 0; corner < 8; corner++) {
      const p = low.map((x, k) => ((corner >> k) & 1 ? high[k] : x) - this.centre[k]);
      w = Math.max(w, Math.abs(dot(p, axes[0]))); h = Math.max(h, Math.abs(dot(p, axes[1])));
    }
    const [left, top, right, bottom] = margin, room = [Math.max(width - left - right, 40), Math.max(height - top - bottom, 40)];
    this.pixels = this.zoom * Math.min(0.5 * room[0] / w, 0.5 * room[1] / h);
    this.home = [left + 0.5 * room[0], top + 0.5 * room[1]];
    this.middle = [this.home[0] + this.pan[0], this.home[1] + this.pan[1]];
    this.axes = axes;
  }

  project(p) {
    const d = [p[0] - this.centre[0], p[1] - this.centre[1], p[2] - this.centre[2]];
    return [this.middle[0] + this.pixels * dot(d, this.axes[0]), this.middle[1] - this.pixels * dot(d, this.axes[1]), dot(d, this.axes[2])];
  }

  drag(dx, dy, shift) {
    if (this.flat || shift) { this.pan[0] += dx; this.pan[1] += dy; return; }
    this.azimuth -= 0.008 * dx;
    this.elevation = Math.min(Math.max(this.elevation + 0.008 * dy, -1.5), 1.5);
  }

  /** Nearer or farther, with what is under the pointer staying there. */
  nearer(factor, x, y) {
    const before = this.zoom;
    this.zoom = Math.min(Math.max(this.zoom * factor, 0.05), 500);
    const grown = this.zoom / before;
    this.pan[0] = (x - this.home[0]) * (1 - grown) + this.pan[0] * grown;
    this.pan[1] = (y - this.home[1]) * (1 - grown) + this.pan[1] * grown;
  }
}

/** The pieces of a line between its points. */
const pieces = line => line.slice(1).map((point, k) => [line[k], point]);

/** A colour with so much of the first and the rest of the second, both as #rrggbb. */
function mixed(first, second, share) {
  const channel = (text, k) => parseInt(text.slice(1 + 2 * k, 3 + 2 * k), 16);
  return `rgb(${[0, 1, 2].map(k => Math.round(share * channel(first, k) + (1 - share) * channel(second, k))).join(",")})`;
}

class View {
  constructor(canvas, run, mechanism) {
    this.canvas = canvas; this.run = run; this.mechanism = mechanism;
    this.camera = new Camera(run);
    this.trails = true;
    this.stress = run.stress !== null;
  }

  /** Another run of the same mechanism. */
  load(run, mechanism) {
    this.run = this.camera.run = run;
    this.mechanism = mechanism;
  }

  resize() {
    const ratio = window.devicePixelRatio || 1;
    this.width = this.canvas.clientWidth; this.height = this.canvas.clientHeight;
    this.canvas.width = Math.round(ratio * this.width); this.canvas.height = Math.round(ratio * this.height);
    this.pen = this.canvas.getContext("2d");
    this.pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  }

  draw(t, scale, speed, colours) {
    const pen = this.pen;
    this.colours = colours;
    this.camera.aim(this.width, this.height, this.run.stress ? [LEGEND, ...MARGIN.slice(1)] : MARGIN);
    pen.clearRect(0, 0, this.width, this.height);
    pen.lineCap = pen.lineJoin = "round";
    this.drawGround();
    if (this.trails) this.drawTrails(t);
    this.drawLinks();
    this.drawBodies(scale);
    this.drawJoints();
    const touching = this.drawContacts(t, speed);
    this.drawScale();
    if (this.stress && this.run.stress) this.drawLegend();
    this.drawTriad();
    this.drawGravity();
    return touching;
  }

  path(points, closed = false) {
    const pen = this.pen;
    pen.beginPath();
    points.forEach((p, k) => { const [x, y] = this.camera.project(p); if (k) pen.lineTo(x, y); else pen.moveTo(x, y); });
    if (closed) pen.closePath();
  }

  stroke(points, colour, width, dash = []) {
    this.path(points);
    this.pen.setLineDash(dash);
    this.pen.strokeStyle = colour; this.pen.lineWidth = width;
    this.pen.stroke();
    this.pen.setLineDash([]);
  }

  dot(p, radius, fill, edge, square = false) {
    const pen = this.pen, [x, y] = this.camera.project(p);
    pen.beginPath();
    if (square) pen.rect(x - radius, y - radius, 2 * radius, 2 * radius); else pen.arc(x, y, radius, 0, 2 * Math.PI);
    if (fill) { pen.fillStyle = fill; pen.fill(); }
    if (edge) { pen.strokeStyle = edge; pen.lineWidth = 1.6; pen.stroke(); }
  }

  drawGround() {
    const size = this.run.size, planes = this.run.planes;
    if (!planes.length && !this.camera.flat) this.drawSheet(this.run.box[0], unit(this.camera.up), 0);
    for (const { point, normal } of planes) {
      const centre = this.camera.centre;
      const foot = add(centre, normal, -dot(normal, add(centre, point, -1)));
      if (this.camera.flat) {
        const along = cross(normal, this.camera.axes[2]), far = 60 * size;
        const a = add(foot, along, far), b = add(foot, along, -far);
        this.path([a, b, add(b, normal, -far), add(a, normal, -far)], true);
        this.pen.fillStyle = this.colours.floor; this.pen.fill();
        this.stroke([a, b], this.colours.floorEdge, 1.5);
      } else this.drawSheet(point, normal, 0.7);
    }
  }

  /** A piece of a plane under the middle of all that moves, as a grid; in a space without planes, to see depth by. */
  drawSheet(point, normal, alpha) {
    const centre = this.camera.centre, foot = add(centre, normal, -dot(normal, add(centre, point, -1)));
    const first = cross(normal, Math.abs(normal[0]) < 0.9 ? [1, 0, 0] : [0, 1, 0]), length = Math.hypot(...first);
    const u = first.map(x => x / length), v = cross(normal, u), half = 0.6 * this.run.size, steps = 8;
    const corner = (i, j) => add(add(foot, u, i * half), v, j * half);
    this.path([corner(-1, -1), corner(1, -1), corner(1, 1), corner(-1, 1)], true);
    this.pen.globalAlpha = alpha; this.pen.fillStyle = this.colours.floor; this.pen.fill(); this.pen.globalAlpha = 1;
    for (let k = 0; k <= steps; k++) {
      const s = -1 + 2 * k / steps;
      this.stroke([corner(s, -1), corner(s, 1)], this.colours.grid, 1);
      this.stroke([corner(-1, s), corner(1, s)], this.colours.grid, 1);
    }
  }

  drawTrails(t) {
    const { width, data } = this.run.block.tip, last = rowAt(this.run.time, t).low;
    const stride = Math.max(1, Math.floor(last / 1500));
    for (const k of this.run.leaves) {
      const points = [];
      for (let row = 0; row <= last; row += stride) points.push(data.subarray(row * width + 3 * k, row * width + 3 * k + 3));
      this.pen.globalAlpha = 0.45;
      if (points.length > 1) this.stroke(points, this.colour(k), 1);
      this.pen.globalAlpha = 1;
    }
  }

  colour(k) {
    const index = this.run.bodies[k].colour;
    return index < 0 ? this.colours.solid : this.colours.palette[index % (this.colours.palette.length - 1)];
  }

  drawLinks() {
    const { run, mechanism } = this;
    run.bodies.forEach((body, k) => {
      if (body.joint !== "free") this.stroke([mechanism.spot(body.on), mechanism.spot([k, 0])], this.colours.floorEdge, 1.4);
    });
    for (const [kind, a, b] of run.closures) {
      const strut = kind === "strut";  // a line; what holds two places together is dashed
      this.stroke([mechanism.spot(a), mechanism.spot(b)], this.colours.floorEdge, strut || kind === "distance" ? 2 : 1.2,
                  strut ? [] : [5, 4]);
    }
  }

  drawBodies(scale) {
    const strokes = [];
    for (const line of this.run.groundLines) this.stroke(line.map(n => this.mechanism.spot([-1, n])), this.colours.floorEdge, 2.5);
    this.run.bodies.forEach((body, k) => {
      if (body.skin.length) this.skin(k, body, strokes);
      for (const line of body.skin.length ? body.lines.flatMap(pieces) : body.lines) {
        const of = points => line.map(n => points.subarray(3 * n, 3 * n + 3));
        const points = of(this.mechanism.points[k]);
        const depth = points.reduce((sum, p) => sum + this.camera.project(p)[2], 0) / points.length;
        strokes.push({ k, body, line, points, still: of(this.mechanism.still[k]), depth });
      }
    });
    strokes.sort((a, b) => a.depth - b.depth);
    for (const { k, body, line, points, still, shade } of strokes) {
      const colour = this.colour(k);
      if (shade !== undefined) { this.face(points, colour, shade); continue; }
      if (body.elastic && scale !== 1) this.stroke(still, this.colours.quiet, 1, [2, 4]);
      if (line.length > 2 && line[0] === line[line.length - 1]) {
        this.path(points, true);
        this.pen.globalAlpha = 0.25; this.pen.fillStyle = colour; this.pen.fill(); this.pen.globalAlpha = 1;
      }
      const sleeve = body.kind === "telescopic" && line.length === 2, stress = this.stress && this.run.stress ? this.mechanism.stressOf(k) : null;
      if (stress && !sleeve) this.strokeStressed(points, line.map(n => stress[n]));
      else this.stroke(points, colour, sleeve ? 8 : body.skin.length ? 1.2 : 4);
      if (line.length === 1 || body.kind === "payload") this.dot(points[points.length - 1], 8, colour, null, body.joint === "prismatic");
    }
  }

  /** The triangles of a skin that are turned towards the eye, with how steeply they are. */
  skin(k, body, strokes) {
    const points = this.mechanism.points[k], eye = this.camera.axes[2], of = n => points.subarray(3 * n, 3 * n + 3);
    for (const triangle of body.skin) {
      const corners = triangle.map(of), normal = cross(add(corners[1], corners[0], -1), add(corners[2], corners[0], -1));
      const shade = dot(normal, eye) / (Math.hypot(...normal) || 1);
      if (shade <= 0) continue;
      const depth = corners.reduce((sum, p) => sum + this.camera.project(p)[2], 0) / 3;
      strokes.push({ k, body, points: corners, depth, shade });
    }
  }

  /** A face, lighter where it looks at the eye; its own edge closes the seam to the next one. */
  face(points, colour, shade) {
    const pen = this.pen;
    this.path(points, true);
    pen.fillStyle = pen.strokeStyle = mixed(colour, this.colours.paper, 0.85 - 0.55 * shade); pen.lineWidth = 0.7;
    pen.fill(); pen.stroke();
  }

  /** A line whose colour follows the stress along it, on an edge that shows it on any paper. */
  strokeStressed(points, stress) {
    this.stroke(points, this.colours.quiet, 7.5);
    for (let k = 1; k < points.length; k++) {
      const [x0, y0] = this.camera.project(points[k - 1]), [x1, y1] = this.camera.project(points[k]), pen = this.pen;
      const along = pen.createLinearGradient(x0, y0, x1, y1);
      along.addColorStop(0, this.stressColour(stress[k - 1])); along.addColorStop(1, this.stressColour(stress[k]));
      this.stroke([points[k - 1], points[k]], along, 5.5);
    }
  }

  stressColour(value) {
    const { map, largest } = this.run.stress, at = Math.min(Math.max(value / largest, 0), 1) * (map.length - 1);
    const low = Math.min(Math.floor(at), map.length - 2), part = at - low;
    return mixed(map[low + 1], map[low], part);
  }

  /** What the colours of stress mean, from none to the largest of the run. */
  drawLegend() {
    const pen = this.pen, { map, largest, factor, unit } = this.run.stress, width = 12, height = Math.min(140, this.height - 110), x = 14, y = 24;
    const bar = pen.createLinearGradient(0, y + height, 0, y);
    map.forEach((colour, k) => bar.addColorStop(k / (map.length - 1), colour));
    pen.fillStyle = bar; pen.fillRect(x, y, width, height);
    pen.strokeStyle = this.colours.quiet; pen.lineWidth = 1; pen.strokeRect(x, y, width, height);
    pen.fillStyle = this.colours.ink; pen.font = "11px system-ui, sans-serif"; pen.textAlign = "left"; pen.textBaseline = "middle";
    for (const share of [0, 0.25, 0.5, 0.75, 1]) {
      pen.fillText(`${+(share * largest / factor).toPrecision(3)}`, x + width + 6, y + (1 - share) * height);
    }
    pen.textBaseline = "alphabetic";
    pen.fillText("equivalent", x, y + height + 18);
    pen.fillText(`stress, ${unit}`, x, y + height + 31);
  }

  drawJoints() {
    for (const [kind, a] of this.run.closures) {
      if (["point", "spherical", "revolute"].includes(kind)) this.dot(this.mechanism.spot(a), 4.5, this.colours.paper, this.colours.ink);
    }
    this.run.bodies.forEach((body, k) => {
      if (body.joint === "free" || body.joint === "weld") return;
      const root = this.mechanism.spot([k, 0]);
      if (body.on[0] < 0 && body.joint !== "prismatic") this.drawFoot(root);
      this.dot(root, 4.5, this.colours.paper, this.colours.ink, body.joint === "prismatic");
    });
  }

  /** What a joint on the ground stands on. */
  drawFoot(p) {
    const pen = this.pen, [x, y] = this.camera.project(p);
    pen.beginPath(); pen.moveTo(x, y); pen.lineTo(x - 9, y + 15); pen.lineTo(x + 9, y + 15); pen.closePath();
    pen.fillStyle = this.colours.floor; pen.fill(); pen.strokeStyle = this.colours.floorEdge; pen.lineWidth = 1.4; pen.stroke();
  }

  /** Balls and planes; what touches flashes for a moment, however short the touch was. */
  drawContacts(t, speed) {
    const linger = 0.25 * speed, touching = [];
    this.run.contacts.forEach((contact, k) => {
      const { point, normal, gap, force } = this.mechanism.contact(k);
      const touch = this.run.touches.findLast(c => c.pair === contact.pair && c.begin <= t && t <= c.end + linger);
      const edge = touch ? this.colours.alarm : this.colours.solid;
      if (contact.radius > 0) this.ball(add(point, normal, contact.radius), contact.radius, edge);
      if (contact.other !== null) this.ball(add(point, normal, -(gap + contact.other)), contact.other, edge);
      else if (!contact.ground) this.movingPlane(add(point, normal, -gap), normal);
      if (!touch) return;
      touching.push(touch);
      const age = Math.max(0, t - Math.min(touch.end, t)) / linger;
      this.pen.globalAlpha = 1 - 0.9 * age;
      this.dot(point, 5, this.colours.alarm, null);
      this.dot(point, 8 + 16 * age, null, this.colours.alarm);
      this.pen.globalAlpha = 1;
      this.drawForce(point, normal, Math.max(force, 0), touch, age);
    });
    return touching;
  }

  drawForce(point, normal, force) {
    const share = force / this.run.largestForce;
    if (share > 0.02) this.stroke([point, add(point, normal, 0.25 * this.run.size * share)], this.colours.alarm, 2.5);
  }

  ball(centre, radius, edge) {
    if (radius !== 0) this.dot(centre, Math.abs(radius) * this.camera.pixels, null, edge);
  }

  movingPlane(foot, normal) {
    const along = cross(normal, this.camera.axes[2]), length = Math.hypot(...along) || 1, reach = 0.15 * this.run.size / length;
    this.stroke([add(foot, along, reach), add(foot, along, -reach)], this.colours.floorEdge, 2);
  }

  /** A length of the world, to read sizes by. */
  drawScale() {
    const pen = this.pen, length = niceStep(110 / this.camera.pixels), pixels = length * this.camera.pixels;
    const x = this.width - 16 - pixels, y = this.height - 14;
    pen.strokeStyle = this.colours.quiet; pen.lineWidth = 1.5;
    pen.beginPath(); pen.moveTo(x, y - 4); pen.lineTo(x, y); pen.lineTo(x + pixels, y); pen.lineTo(x + pixels, y - 4); pen.stroke();
    pen.fillStyle = this.colours.quiet; pen.font = "11px system-ui, sans-serif"; pen.textAlign = "center";
    pen.fillText(metres(length), x + 0.5 * pixels, y - 6);
  }

  drawTriad() {
    const pen = this.pen, flat = this.camera.flat, length = flat ? 18 : 15, [right, up] = this.camera.axes;
    const x = flat ? 16 : 30, y = this.height - (flat ? (this.run.upsideDown ? 38 : 12) : 24);
    pen.font = "11px system-ui, sans-serif"; pen.textAlign = "center"; pen.textBaseline = "middle";
    for (const k of this.run.axes) {
      const dx = length * right[k], dy = -length * up[k];
      pen.strokeStyle = pen.fillStyle = this.colours.quiet; pen.lineWidth = 1.4;
      pen.beginPath(); pen.moveTo(x, y); pen.lineTo(x + dx, y + dy); pen.stroke();
      pen.fillText("xyz"[k], x + 1.45 * dx, y + 1.45 * dy);
    }
    pen.textBaseline = "alphabetic";
  }

  /** An arrow beside the axes; a circle with a cross, or a dot, where gravity points into, or out of, the page. */
  drawGravity() {
    const g = this.run.gravity, size = Math.hypot(...g);
    if (size === 0) return;
    const pen = this.pen, [right, up, eye] = this.camera.axes, x = 76, y = this.height - 24;
    const dx = dot(g, right) / size, dy = -dot(g, up) / size, shown = Math.hypot(dx, dy);
    pen.strokeStyle = pen.fillStyle = this.colours.quiet; pen.lineWidth = 1.6;
    pen.beginPath();
    if (shown > 0.05) {
      const [tx, ty] = [x + 14 * dx, y + 14 * dy], [ux, uy] = [dx / shown, dy / shown];
      pen.moveTo(x - 14 * dx, y - 14 * dy); pen.lineTo(tx, ty);
      for (const side of [-1, 1]) { pen.moveTo(tx - 6 * ux - 4 * side * uy, ty - 6 * uy + 4 * side * ux); pen.lineTo(tx, ty); }
    } else {
      pen.arc(x, y, 6, 0, 2 * Math.PI);
      if (dot(g, eye) > 0) { pen.moveTo(x + 1.5, y); pen.arc(x, y, 1.5, 0, 2 * Math.PI); }
      else for (const side of [-1, 1]) { pen.moveTo(x - 4, y - 4 * side); pen.lineTo(x + 4, y + 4 * side); }
    }
    pen.stroke();
    pen.font = "11px system-ui, sans-serif"; pen.textAlign = "center"; pen.textBaseline = "middle";
    pen.fillText("g", x - 14, y);
    pen.textBaseline = "alphabetic";
  }
}

function metres(length) {
  if (length < 1e-3) return `${+(1e6 * length).toPrecision(3)} µm`;
  return length < 1 ? `${+(1e3 * length).toPrecision(3)} mm` : `${+length.toPrecision(3)} m`;
}

/** The largest of 1, 2, 5 times a power of ten that is not more than x. */
function niceStep(x) {
  const power = 10 ** Math.floor(Math.log10(x));
  return (x >= 5 * power ? 5 : x >= 2 * power ? 2 : 1) * power;
}
