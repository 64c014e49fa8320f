// What can be taken away: the run as a table, the picture, the model, and a link.

function download(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name.replace(/[^\w.-]+/g, "_");
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

/** Times and columns of a run, at full precision. */
function csvOf(run) {
  const { n, observed, columns } = run.recipe, { state, observed: seen } = run.raw;
  const quoted = text => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const lines = [["t", ...columns.map(column => quoted(column.name))].join(",")];
  for (let row = 0; row < run.rows; row++) {
    const values = columns.map(({ place }) => (place >= 0 ? seen[row * observed + place] : state[row * n - 1 - place]));
    lines.push([run.time[row], ...values].join(","));
  }
  return `${lines.join("\n")}\n`;
}

/** The model's text, with the values of sliders where they stand in it. */
function modelOf(parts, values) {
  const number = value => String(value).replace(/^(-?\d+)e/, "$1.0e"); // YAML reads 1e-7 as text
  return parts.map(part => (typeof part === "string" ? part : number(values[part.slider]))).join("");
}

/** The picture on paper, as it is on the screen. */
function pictureOf(canvas, paper) {
  const copy = document.createElement("canvas");
  copy.width = canvas.width; copy.height = canvas.height;
  const pen = copy.getContext("2d");
  pen.fillStyle = paper;
  pen.fillRect(0, 0, copy.width, copy.height);
  pen.drawImage(canvas, 0, 0);
  return new Promise(done => copy.toBlob(done, "image/png"));
}

/** Put text on the clipboard; whether that is allowed. */
async function copied(text) {
  try { await navigator.clipboard.writeText(text); return true; } catch { /* older browsers, and pages without a secure address */ }
  const area = document.createElement("textarea"), before = document.activeElement;
  area.value = text; area.className = "aside";
  document.body.append(area);
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  before?.focus();
  return done;
}
