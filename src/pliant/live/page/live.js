// The page that runs: the module in a worker, sliders that begin a new run, and what is made of it.

const SMALL = "(max-width: 820px), (max-height: 480px)"; // as in style.css: phones

async function unpacked(id) {
  const bytes = Uint8Array.from(atob(element(id).textContent.trim()), c => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

class Live {
  constructor(scenery, spec, code, memory) {
    this.scenery = scenery; this.spec = spec; this.player = null;
    this.sliders = new Sliders(element("sliders"), spec.sliders, () => this.change());
    this.note = this.sliders.restore(location.hash);
    this.listen();
    this.change();
    this.runner = new Runner(spec, code, memory, {
      ready: () => {
        this.readyMs = performance.now();
        this.runner.ask(this.sliders.values);
      },
      run: (raw, values) => this.show(raw, values),
      refused: sentence => this.say(sentence, true),
      progress: t => this.progress(t),
      followed: data => this.hand?.follow(data),
    });
  }

  // ---- runs

  /** Sliders have moved: run again. */
  change() {
    element("reset").disabled = !this.sliders.moved.length;
    if (!this.runner) return;
    this.changed = performance.now();
    this.hand?.leave();
    this.runner.ask(this.sliders.values);
    clearTimeout(this.later);
    this.later = setTimeout(() => this.keepLink(), 250); // browsers allow a hundred changes in half a minute
  }

  show(raw, values) {
    if (raw.rows < 2) { this.say(sentence(this.scenery, raw), true); return; }
    const run = assembled(this.scenery, raw);
    run.values = values;
    if (this.player) this.player.load(run); else this.open(run);
    this.player.lastRunMs = this.runner.lastRunMs;
    this.player.runs = (this.player.runs || 0) + 1;
    this.say(this.note || (raw.ok ? "" : run.message), !raw.ok);
    this.note = "";
    if (this.changed) requestAnimationFrame(() => { this.player.lastChangeMs = performance.now() - this.changed; });
  }

  open(run) {
    const player = this.player = new LivePlayer(run);
    this.addLedger();
    new ResizeObserver(() => { if (player.view.width !== element("view").clientWidth || player.view.height !== element("view").clientHeight) player.resize(); })
      .observe(element("picture")); // panels have been folded or opened
    element("hint").textContent += " · k: keep to compare · c: sliders";
    player.live = this; player.sliders = this.sliders;
    player.set = (name, value) => this.sliders.set(name, value);
    player.reset = () => this.sliders.reset();
    player.stop = () => this.runner.stop();
    player.ready = true;
    player.readyMs = this.readyMs; player.shownMs = performance.now();
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) element("loop").checked = false;
    if (this.spec.pulls?.length) { this.hand = player.hand = new Hand(this, this.spec.pulls); element("hint").textContent += " · drag a tip (or h, arrows, Escape): pull"; }
    window.pliant = player;
  }

  progress(t) {
    element("running").hidden = t === null;
    element("said").hidden = t !== null;
    if (t === null) return;
    const [begin, end] = this.scenery.span;
    element("news").querySelector("progress").value = (t - begin) / (end - begin);
    element("news").querySelector("output").textContent = `${+t.toPrecision(3)} s of ${+end.toPrecision(4)} s`;
  }

  say(sentence, trouble = false) {
    if (!this.player && trouble) element("message").textContent = sentence;
    element("said").textContent = element("said").title = sentence;
    element("said").classList.toggle("trouble", trouble);
  }

  keepLink() {
    try { history.replaceState(null, "", this.sliders.hash || location.href.split("#")[0]); } catch { /* the address cannot be changed here */ }
  }

  // ---- what the user does

  listen() {
    const on = (id, deed) => element(id).addEventListener("click", deed);
    on("fold", () => this.fold());
    on("reset", () => this.sliders.reset());
    on("stop", () => this.runner.stop());
    on("pin", () => this.pin());
    on("link", () => this.copyLink());
    on("csv", () => download(new Blob([csvOf(this.player.run)], { type: "text/csv" }), `${this.scenery.name}.csv`));
    on("png", async () => download(await pictureOf(element("view"), this.player.colours.paper), `${this.scenery.name}.png`));
    on("yaml", () => download(new Blob([modelOf(this.scenery.model, this.sliders.values)], { type: "text/yaml" }), `${this.scenery.name}.yaml`));
    element("yaml").hidden = !this.scenery.model;
    document.addEventListener("keydown", event => {
      if (event.ctrlKey || event.altKey || event.metaKey || event.target.matches("select, input[type=number]")) return;
      if (event.key === "c") this.fold();
      if (event.key === "k" && this.player) this.pin();
    });
    window.addEventListener("hashchange", () => {
      this.note = this.sliders.restore(location.hash);
      this.change();
    });
  }

  /** The ledger is shown and hidden as plots are. */
  addLedger() {
    const chip = document.createElement("button"), ledger = element("ledger");
    chip.textContent = "ledger";
    chip.addEventListener("click", () => {
      ledger.hidden = !ledger.hidden;
      chip.setAttribute("aria-pressed", String(!ledger.hidden));
    });
    chip.setAttribute("aria-pressed", String(!ledger.hidden));
    element("chips").append(chip);
  }

  fold() {
    const folded = element("side").classList.toggle("folded");
    element("fold").setAttribute("aria-expanded", String(!folded));
  }

  pin() {
    const pinned = this.player.pinned ? null : this.player.run;
    this.player.pin(pinned);
    element("pin").setAttribute("aria-pressed", String(Boolean(pinned)));
    this.say(pinned ? "this run stays in sight, dashed, to compare others with it" : "");
  }

  async copyLink() {
    this.keepLink();
    this.say(await copied(location.href) ? "the link is copied" : `copy it by hand: ${location.href}`);
  }
}

async function openLive() {
  const scenery = JSON.parse(element("run").textContent), spec = JSON.parse(element("machine").textContent);
  const ledger = document.createElement("div");
  ledger.id = "ledger";
  ledger.setAttribute("aria-label", "the energy ledger");
  ledger.hidden = matchMedia(SMALL).matches;
  element("picture").after(ledger);
  try { new Live(scenery, spec, ...await Promise.all([unpacked("module"), unpacked("memory")])); } catch (trouble) {
    element("message").textContent = `this browser cannot run the page: ${trouble.message}`;
  }
}

openLive();
