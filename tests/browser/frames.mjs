// What panning and zooming costs the page's main thread, as one line of JSON in ms: everything the thread does from one frame to the next,
// that is script, style, layout, paint, commit, and answers that come and are unpacked in between.
//   1. Times are the thread's own, or the clock's where that is less: a virtual machine's thread clock runs ahead at times.
//   2. Headless Chromium has no GPU and turns canvases into pixels on this same thread, which a browser with one leaves to another process:
//      that is left out of `frame_ms` and counted in `with_raster_ms`.
//   3. On a shared machine a loop of constant work takes five times as long now and then. So the same steps are walked several times, each
//      time in a new page: `step_ms` is, for each step, the median over the walks of its longest frame, `least_ms` that of the quietest walk.
//      What a step costs always stays in both.
// Exits with 1 when a step costs more than 8 ms.
import { close_all, open, open_browser, serve, settle, visit } from "./harness.mjs";

const kMost_ms = 8;
const kWalks = Number(process.env.WALKS ?? 5);
const path = process.argv[2];
if (!path) {
  console.error("usage: tests/browser/run frames.mjs TRACE");
  process.exit(2);
}

// [key that is held, wheel to the right, wheel down] or a move of the mouse with its middle button down; a rest lets the view be refined.
const wheel = (key, dx, dy, times) => Array(times).fill({ key, dx, dy });
const kGestures = [
  ...wheel("Control", 0, -60, 30),
  ...wheel("Shift", 0, 90, 12),
  ...wheel("Control", 0, -60, 20),
  { rest: true },
  ...wheel("Shift", 0, -90, 12),
  ...wheel("Control", 0, 60, 15),
  { rest: true },
  ...wheel("Control", 0, 60, 40),
  { rest: true },
];
const kScrolls = [...wheel(null, 0, 120, 12), ...wheel(null, 0, -120, 12), { rest: true }];

// Returns which of the gestures move the view: a mouse that only comes to its place does not.
async function walk(page, box) {
  const moves = [];
  const go = async (gestures) => {
    let held = null;
    for (const gesture of gestures) {
      if (!gesture.rest && gesture.key !== held) {
        if (held) await page.keyboard.up(held);
        held = gesture.key;
        if (held) await page.keyboard.down(held);
      }
      if (gesture.rest) await settle(page);
      else {
        await page.mouse.wheel(gesture.dx, gesture.dy);
        moves.push(true);
      }
    }
    if (held) await page.keyboard.up(held);
  };
  for (const x of [0.2, 0.5, 0.8]) {
    await page.mouse.move(box.x + box.width * x, box.y + 200);
    moves.push(false);
    await go(kGestures);
  }
  await go(kScrolls);
  await page.mouse.down({ button: "middle" });
  for (let i = 1; i <= 40; ++i) {
    await page.mouse.move(box.x + box.width * (0.8 - 0.01 * i), box.y + 200 - 2 * i);
    moves.push(true);
  }
  await page.mouse.up({ button: "middle" });
  await settle(page);
  return moves;
}

const ms = (event) => Math.min(event.tdur ?? event.dur, event.dur) / 1000;
const within = (outer, inner) => outer.ts <= inner.ts && inner.ts + inner.dur <= outer.ts + outer.dur;

// The frames of a walk in order: { ms, raster, script, step: how many gestures had begun }.
function frames_of(traceEvents) {
  const { pid, tid } = traceEvents.find((event) => event.name === "FireAnimationFrame");
  const events = traceEvents.filter((event) => event.pid === pid && event.tid === tid && event.ph === "X");
  const named = (name) => events.filter((event) => event.name === name);
  const gestures = named("EventDispatch").filter(({ args }) => ["wheel", "pointermove"].includes(args?.data?.type));
  const [drawn, raster] = [named("FireAnimationFrame"), named("LayerTreeHost::DoUpdateLayers")];
  const tasks = events.filter((event) => /RunTask$/.test(event.name)).sort((a, b) => a.ts - b.ts);
  const frames = [];
  let step = 0;
  const total = (list, task) => list.filter((each) => within(task, each)).reduce((sum, each) => sum + ms(each), 0);
  for (const task of tasks) {
    step += gestures.filter((each) => within(task, each)).length;
    const script = total(drawn, task);
    if (script || !frames.length) frames.push({ ms: 0, raster: 0, script: 0, step, tasks: [] });
    const frame = frames.at(-1);
    frame.tasks.push(task);
    const pixels = total(raster, task);
    frame.ms += ms(task) - pixels;
    frame.raster += pixels;
    frame.script += script;
  }
  for (const frame of frames) frame.parts = frame.ms > kMost_ms ? parts_of(frame.tasks, events) : null;
  return frames;
}

// What the tasks of a frame did: [what, ms] of the largest parts, each without what is inside it.
const kOuter = /RunTask$|^ThreadControllerImpl|^TaskGraphRunner|^SequenceManager/;
function parts_of(tasks, events) {
  const sums = new Map();
  for (const task of tasks) {
    const inside = events.filter((each) => each !== task && within(task, each)).sort((a, b) => a.ts - b.ts || b.dur - a.dur);
    const open = [{ name: "(task)", end: Infinity, self: ms(task) }];
    const close = (before) => {
      while (open.length > 1 && open.at(-1).end <= before) {
        const { name, self } = open.pop();
        sums.set(name, (sums.get(name) ?? 0) + self);
      }
    };
    for (const each of inside) {
      if (kOuter.test(each.name)) continue;
      close(each.ts);
      open.at(-1).self -= ms(each);
      const about = each.args?.data?.type ?? each.args?.data?.functionName ?? "";
      open.push({ name: about ? `${each.name} ${about}` : each.name, end: each.ts + each.dur, self: ms(each) });
    }
    close(Infinity);
    sums.set("(task)", (sums.get("(task)") ?? 0) + open[0].self);
  }
  return [...sums].sort((a, b) => b[1] - a[1]).slice(0, 8).map(([name, cost]) => [name, Number(cost.toFixed(2))]);
}

// By gesture that moves the view: its longest frame.
function steps_of({ frames, moves }) {
  const steps = moves.map(() => 0);
  for (const { step, ms } of frames) if (step > 0 && step <= steps.length) steps[step - 1] = Math.max(steps[step - 1], ms);
  return steps.filter((_, i) => moves[i]);
}

const sorted = (values) => [...values].sort((a, b) => a - b);
const median = (values) => sorted(values)[Math.floor(values.length / 2)];
function spread(values) {
  const order = sorted(values);
  const at = (share) => Number(order[Math.min(order.length - 1, Math.floor(share * order.length))].toFixed(2));
  return { p50: at(0.5), p90: at(0.9), p99: at(0.99), max: at(1) };
}

await open_browser();
const server = await serve(path);
const walks = [];
for (let i = 0; i < kWalks; ++i) {
  const { page, finish } = await open(server.url);
  await visit(page, "timeline");
  const box = await page.locator(".tl-front").boundingBox();
  await page.mouse.move(box.x + 100, box.y + 100);
  await settle(page);
  await page.waitForFunction(() => window.__ridge.stats.rehearsed !== false); // what a page does in its first idle moments is nobody's frame
  const browser = page.context().browser();
  await browser.startTracing(page, { categories: ["devtools.timeline", "toplevel", "cc"] });
  const moves = await walk(page, box);
  walks.push({ moves, frames: frames_of(JSON.parse((await browser.stopTracing()).toString()).traceEvents) });
  await finish();
}
await close_all();
const steps = walks.map(steps_of);
const longest = Math.min(...steps.map((each) => each.length));
const over_walks = (of) => Array.from({ length: longest }, (_, i) => of(steps.map((each) => each[i] ?? 0)));
const step_ms = over_walks(median);
const frames = walks.flatMap((each) => each.frames);
const longest_frames = frames.filter((frame) => frame.parts).sort((a, b) => b.ms - a.ms).slice(0, 12);
const figures = {
  trace: path,
  walks: kWalks,
  steps: longest,
  frames: frames.length,
  step_ms: spread(step_ms),
  least_ms: spread(over_walks((costs) => Math.min(...costs))),
  frame_ms: spread(frames.map((frame) => frame.ms)),
  script_ms: spread(frames.map((frame) => frame.script)),
  with_raster_ms: spread(frames.map((frame) => frame.ms + frame.raster)),
  longest_of_each_walk_ms: walks.map((each) => Number(Math.max(...each.frames.map((frame) => frame.ms)).toFixed(2))),
  frames_over_8_ms: frames.filter((frame) => frame.ms > kMost_ms).length,
  longest_steps: step_ms.map((cost, step) => [Number(cost.toFixed(2)), step]).sort((a, b) => b[0] - a[0]).slice(0, 5),
  longest_frames: longest_frames.map(({ ms, step, parts }) => ({ ms: Number(ms.toFixed(2)), step, parts })),
};
console.log(JSON.stringify(figures));
process.exit(figures.step_ms.max <= kMost_ms ? 0 : 1);
