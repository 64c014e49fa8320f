// A run of the module in the shape that the player draws.

/** scenery: what the page says of the mechanism and of its plots; raw: `Machine.result()`. */
function assembled(scenery, raw) {
  const { recipe, panels, pairs } = scenery, rows = raw.rows, n = recipe.n, m = recipe.observed;
  const at = (row, place) => (place >= 0 ? raw.observed[row * m + place] : raw.state[row * n - 1 - place]);
  const table = (width, value) => {
    const data = new Float32Array(rows * width);
    for (let row = 0; row < rows; row++) for (let k = 0; k < width; k++) data[row * width + k] = value(row, k);
    return { width, data };
  };
  const block = {};
  for (const name of ["root", "tip", "touch"]) block[name] = table(recipe.blocks[name].length, (row, k) => at(row, recipe.blocks[name][k]));
  block.turn = turns(rows, recipe.blocks.turn, at);
  block.weight = table(recipe.blocks.weight.length, (row, k) => recipe.blocks.weight[k].reduce((product, place) => product * at(row, place), 1));
  const touches = raw.touches.map(touch => ({ ...touch, pair: pairs[touch.pair], number: touch.pair, end: touch.end === null ? Infinity : touch.end }));
  touches.sort((a, b) => a.begin - b.begin);
  const drawn = panels.map((panel, k) => {
    const sum = (row, terms) => terms.reduce((total, [place, factor]) => total + factor * at(row, place), 0);
    const first = panel.terms.map(terms => (panel.relative && rows ? sum(0, terms) : 0));
    let made = null; // when the plot is drawn: most are not
    Object.defineProperty(block, `panel${k}`, { get: () => made ||= table(panel.terms.length, (row, j) => sum(row, panel.terms[j]) - first[j]) });
    const marks = panel.peaks ? touches.filter(touch => touch.number < panel.terms.length).map(touch => [touch.peak_time, touch.peak_force * panel.terms[touch.number][0][1], touch.number]) : [];
    return { title: panel.title, unit: panel.unit, series: panel.series, block: `panel${k}`, shown: panel.shown, marks };
  });
  const reach = reached(scenery.box, [block.root.data, block.tip.data]);
  const stress = stressed(scenery, raw, block, at);
  return {
    ...scenery, ...(raw.moved.some(Boolean) ? drawnAnew(scenery, raw.drawing) : {}), time: raw.time, rows, block, panels: drawn, touches,
    ...stress, begin: raw.time[0], end: raw.time[rows - 1], box: reach, reach,
    message: sentence(scenery, raw), ok: raw.ok, largestForce: Math.max(0, ...touches.map(touch => touch.peak_force)) || 1,
    raw,
  };
}

/** The box of all that moves, grown by where this run has gone beyond it. */
function reached([low, high], tables) {
  const box = [[...low], [...high]];
  for (const data of tables) for (let k = 0; k < data.length; k++) {
    if (data[k] < box[0][k % 3]) box[0][k % 3] = data[k];
    if (data[k] > box[1][k % 3]) box[1][k % 3] = data[k];
  }
  return box;
}

/** What the picture is made of where sliders have changed it: the numbers stand in the order of `drawn_numbers`. */
function drawnAnew({ bodies, ground, contacts, planes }, numbers) {
  let at = 0;
  const take = count => Array.from(numbers.subarray(at, at += count));
  const moved = bodies.map(body => ({
    ...body, rest: take(body.rest.length),
    fields: body.fields.map(field => ({ ...field, shape: take(field.shape.length), bow: take(field.bow.length) })),
  }));
  const fixed = ground.map(point => take(point.length)), floors = [];
  const pairs = contacts.map(contact => {
    const [radius, other, ...place] = take(8);
    if (contact.other === null && contact.ground) floors.push({ point: place.slice(0, 3), normal: place.slice(3) });
    return { ...contact, radius, other: contact.other === null ? null : other };
  });
  return { bodies: moved, ground: fixed, contacts: pairs, planes: planes.length ? floors : planes };
}

/** Quaternions without a change of sign from row to row. */
function turns(rows, places, at) {
  const width = places.length, data = new Float32Array(rows * width);
  for (let first = 0; first < width; first += 4) {
    let sign = 1;
    for (let row = 0; row < rows; row++) {
      let along = 0;
      for (let k = first; k < first + 4; k++) along += at(row, places[k]) * (row ? at(row - 1, places[k]) : at(row, places[k]));
      if (along < 0) sign = -sign;
      for (let k = first; k < first + 4; k++) data[row * width + k] = sign * at(row, places[k]);
    }
  }
  return { width, data };
}

/** Stresses at the drawn points of beams, from the curvature of their modes: rows are computed when they are drawn. */
function stressed({ stresses, stressMap }, raw, block, at) {
  const beams = Object.entries(stresses.beams);
  if (!beams.length || stresses.changing.some(k => raw.moved[k])) return { stress: null, fillStress: null };
  const first = {}, width = beams.reduce((count, [body, beam]) => { first[body] = count; return count + beam.loads.length; }, 0);
  const data = new Float32Array(raw.rows * width), known = new Uint8Array(raw.rows);
  const fillStress = row => {
    if (known[row]) return;
    known[row] = 1;
    for (const [body, beam] of beams) {
      const modes = beam.places.map(place => at(row, place));
      beam.loads.forEach((loads, k) => {
        const load = [0, 1, 2, 3, 4, 5].map(j => modes.reduce((sum, z, mode) => sum + z * loads[mode][j], 0));
        let worst = 0;
        for (const [normal, shearY, shearZ] of beam.points) {
          let a = 0, b = 0, c = 0;
          for (let j = 0; j < 6; j++) { a += normal[j] * load[j]; b += shearY[j] * load[j]; c += shearZ[j] * load[j]; }
          worst = Math.max(worst, a * a + 3 * (b * b + c * c)); // von Mises
        }
        data[row * width + first[body] + k] = Math.sqrt(worst);
      });
    }
  };
  let largest = 0;
  for (let row = 0; row < raw.rows; row += Math.max(1, Math.floor(raw.rows / 200))) {
    fillStress(row);
    for (let k = 0; k < width; k++) largest = Math.max(largest, data[row * width + k]);
  }
  const [factor, unit] = [[1e9, "GPa"], [1e6, "MPa"], [1e3, "kPa"], [1, "Pa"]].find(([size]) => largest >= size) || [1, "Pa"];
  block.stress = { width, data };
  return { stress: { largest: largest || 1, factor, unit, map: stressMap, first }, fillStress };
}

/** How, when and why the run ended. */
function sentence({ recipe }, raw) {
  const words = raw.code === null ? "the run was stopped at t = {t} s" : recipe.codes[raw.code] || `the run ended with code ${raw.code} at t = {t} s`;
  const known = { t: +raw.t.toPrecision(10), t_open: +raw.t.toPrecision(10), h: "a tiny amount", events: recipe.events[raw.event] || "an event",
                  method: "this method", limit: "so many", amount: "too much" };
  return words.replace(/\{(\w+)\}/g, (_, name) => known[name] ?? "it");
}

if (typeof module !== "undefined") module.exports = { assembled };
