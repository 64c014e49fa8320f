// Runs in the background: one mechanism, a new run whenever values come, the old one given up.

let machine = null, wanted = null, running = false, hand = null;
const FRAME_MS = 16, LATE_MS = 50; // between rows of a run by hand; one that cannot keep up goes slower
const pause = new MessageChannel(); // lets messages in between two portions of a run
pause.port1.onmessage = () => step();

onmessage = ({ data }) => {
  try {
    if (data.spec) {
      machine = new Machine(data.spec, data.code, data.memory);
      postMessage({ ready: true });
    } else if (data.stop) {
      if (running) finish(true);
    } else if (data.from) {
      goOn(data);
    } else if (data.hold !== undefined) {
      if (hand) machine.pull(data.hold, data.place, data.stiffness);
    } else if (data.pace) {
      if (hand) hand.speed = data.pace;
    } else if (data.rest) {
      hand = null;
    } else {
      wanted = data;
      begin();
    }
  } catch (trouble) { postMessage({ trouble: String(trouble) }); }
};

function begin() {
  running = false; hand = null;
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

/** From a state on, with the hand's clock, row by row. */
function goOn({ from, t, speed, values, id }) {
  running = false;
  machine.values = values;
  hand = machine.restart(from, t) ? { id, t, speed, last: performance.now() - FRAME_MS } : null;
  if (hand) follow(hand); else postMessage({ id, followed: true, trouble: "there is no time left to go on from here" });
}

function follow(own) {
  if (hand !== own) return;
  const now = performance.now();
  try {
    const row = machine.follow(own.t + Math.min(now - own.last, LATE_MS) / 1000 * own.speed);
    own.last = now; own.t = row.t;
    postMessage({ id: own.id, followed: row });
    if (!row.ok) hand = null;
    else setTimeout(() => follow(own), Math.max(0, FRAME_MS - (performance.now() - now)));
  } catch (trouble) { hand = null; postMessage({ id: own.id, followed: true, trouble: String(trouble) }); }
}

function finish(stopped) {
  running = false;
  if (stopped) machine.collect();
  const run = machine.result();
  postMessage({ id: wanted.id, run, stopped }, [run.time.buffer, run.state.buffer, run.observed.buffer, run.end.buffer]);
}
