// Runs in the background: one mechanism, a new run whenever values come, the old one given up.

let machine = null, wanted = null, running = false;
const pause = new MessageChannel(); // lets messages in between two portions of a run
pause.port1.onmessage = () => step();

onmessage = ({ data }) => {
  try {
    if (data.spec) {
      machine = new Machine(data.spec, data.code, data.memory);
      postMessage({ ready: true });
    } else if (data.stop) {
      if (running) finish(true);
    } else {
      wanted = data;
      begin();
    }
  } catch (trouble) { postMessage({ trouble: String(trouble) }); }
};

function begin() {
  running = false;
  const trouble = machine.begin(wanted.values);
  if (trouble) { postMessage({ id: wanted.id, refused: trouble }); return; }
  running = true;
  step();
}

function step() {
  if (!running) return;
  const until = performance.now() + 12; // ms: a portion, between two looks at messages
  try {
    while (machine.advance(2000)) {
      if (performance.now() >= until) {
        postMessage({ id: wanted.id, t: machine.t });
        pause.port2.postMessage(0);
        return;
      }
    }
    finish(false);
  } catch (trouble) { running = false; postMessage({ id: wanted.id, trouble: String(trouble) }); }
}

function finish(stopped) {
  running = false;
  if (stopped) machine.collect();
  const run = machine.result();
  postMessage({ id: wanted.id, run, stopped }, [run.time.buffer, run.state.buffer, run.observed.buffer, run.end.buffer]);
}
