// The page that runs: the module in a worker, sliders that begin a new run.

async function unpacked(id) {
  const bytes = Uint8Array.from(atob(element(id).textContent.trim()), c => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

async function openLive() {
  const scenery = JSON.parse(element("run").textContent), spec = JSON.parse(element("machine").textContent);
  const [code, memory] = await Promise.all([unpacked("module"), unpacked("memory")]);
  const source = new Blob([element("worker").textContent], { type: "text/javascript" });
  const worker = new Worker(URL.createObjectURL(source));
  worker.onmessage = ({ data }) => {
    if (data.ready) worker.postMessage({ id: 0, values: spec.sliders.map(slider => slider.value) });
    if (data.run) window.pliant = new Player(assembled(scenery, data.run));
    if (data.refused || data.trouble) element("message").textContent = data.refused || data.trouble;
  };
  worker.postMessage({ spec, code, memory });
}

openLive();
