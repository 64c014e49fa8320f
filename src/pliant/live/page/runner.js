// Runs in the worker, one at a time: the newest values win, and a run that takes long gives way to them.

const PATIENCE = 300; // ms: a run that takes longer shows how far it is
const LONG = 1000; // ms: one that takes longer is given up when there are newer values; shorter ones end first, to be seen on the way

class Runner {
  /** news: what to do when something is heard: ready(), run(raw, values), refused(sentence), progress(t or null), followed(row). */
  constructor(spec, code, memory, news) {
    this.news = news;
    this.id = 0; this.busy = false; this.next = null; this.lastRunMs = 0;
    const source = new Blob([element("worker").textContent], { type: "text/javascript" }), address = URL.createObjectURL(source);
    this.worker = new Worker(address);
    this.worker.onmessage = ({ data }) => this.hear(data);
    this.worker.onerror = event => { event.preventDefault(); this.news.refused(`the page cannot run: ${event.message}`); };
    this.worker.postMessage({ spec, code, memory });
  }

  /** Run with these values: at once, or when a quick run in progress has ended. */
  ask(values) {
    this.next = values;
    if (!this.busy || this.lastRunMs > LONG || this.elapsed > LONG) this.begin();
  }

  get elapsed() { return performance.now() - this.begun; }

  begin() {
    this.values = this.next; this.next = null;
    this.busy = true; this.begun = performance.now();
    this.worker.postMessage({ id: ++this.id, values: this.values });
  }

  stop() { if (this.busy) this.worker.postMessage({ stop: true }); }

  /** Give up what is running: the worker goes on by hand. */
  yield() {
    this.id++; this.busy = false; this.next = null;
    this.news.progress(null);
  }

  /** A message to the worker about a run by hand. */
  hand(message) { this.worker.postMessage(message); }

  hear(data) {
    if (data.ready) { this.news.ready(); return; }
    if (data.followed) { this.news.followed(data); return; }
    if (data.id !== undefined && data.id !== this.id) return; // of a run that was given up
    if (data.t !== undefined) {
      if (this.next && this.elapsed > LONG) this.begin();
      else if (this.elapsed > PATIENCE) this.news.progress(data.t);
      return;
    }
    this.busy = false;
    this.lastRunMs = this.elapsed;
    this.news.progress(null);
    if (data.run) this.news.run(data.run, this.values); else this.news.refused(data.refused || data.trouble);
    if (this.next && !this.busy) this.begin();
  }
}
