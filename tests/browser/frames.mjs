// What a frame of the timeline costs the page's main thread: pans and zooms over a trace, and tells the distribution as one line of JSON, in
// ms of the thread's own time, which a busy machine lengthens less than the clock's. `script_ms` is the page's script; `cpu_ms` also what the
// browser does around it: style, layout, paint, commit. Headless Chromium has no GPU and turns canvases into pixels on this same thread, which a
// browser with one leaves to another process: `with_raster_ms` counts that too. Exits with 1 when the 99th percentile of cpu_ms is over 8 ms.
import { close_all, open, open_browser, serve, settle, visit } from "./harness.mjs";

const kMost_ms = 8;
const path = process.argv[2];
if (!path) {
  console.error("usage: tests/browser/run frames.mjs TRACE");
  process.exit(2);
}
await open_browser();
const began = performance.now();
const server = await serve(path);
const serving = performance.now();
const { page, finish } = await open(server.url);
await visit(page, "timeline");
const drawn = performance.now();
// The browser's own trace tells the thread's time of each frame, which a busy machine does not lengthen.
await page.evaluate(() => {
  window.__ridge.times.length = 0;
});
const browser = page.context().browser();
await browser.startTracing(page, { categories: ["devtools.timeline", "toplevel", "cc"] });
const box = await page.locator(".tl-front").boundingBox();
const frame = () => page.evaluate(() => new Promise((done) => requestAnimationFrame(done)));
for (const x of [0.2, 0.5, 0.8]) {
  await page.mouse.move(box.x + box.width * x, box.y + 200);
  for (const key of ["w", "d", "w", "a", "w", "d", "s", "a", "w", "w", "d", "s", "s", "s", "s", "s"])
    await page.keyboard.press(key, { delay: 250 });
  await settle(page);
}
// along the tracks with the wheel, and both ways with the middle button
for (const by of [300, 300, 300, -300, -300, -300]) {
  await page.mouse.wheel(0, by);
  await frame();
}
await page.mouse.down({ button: "middle" });
for (let i = 0; i < 40; ++i) await page.mouse.move(box.x + box.width * (0.8 - 0.01 * i), box.y + 200 - 2 * i);
await page.mouse.up({ button: "middle" });
await settle(page);
const { traceEvents } = JSON.parse((await browser.stopTracing()).toString());
const wall = await page.evaluate(() => window.__ridge.times);
const script = traceEvents.filter((event) => event.name === "FireAnimationFrame");
const { pid, tid } = script[0];
const on_thread = traceEvents.filter((event) => event.pid === pid && event.tid === tid && event.ph === "X");
const holds = (outer, inner) => outer.ts <= inner.ts && inner.ts + inner.dur <= outer.ts + outer.dur;
const tasks = on_thread.filter((event) => /RunTask$/.test(event.name) && script.some((each) => holds(event, each)));
const raster = on_thread.filter((event) => event.name === "LayerTreeHost::DoUpdateLayers");
const ms = (event) => (event.tdur ?? event.dur) / 1000;
const without_raster = (task) => raster.filter((each) => holds(task, each)).reduce((left, each) => left - ms(each), ms(task));
const spread = (times, most) => {
  const sorted = [...times].sort((a, b) => a - b).slice(-most);
  const at = (share) => Number(sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))].toFixed(2));
  return { p50: at(0.5), p90: at(0.9), p99: at(0.99), max: at(1) };
};
// Besides drawing, short callbacks run in frames too (keys that are held): the longest are the drawings.
const [cpu_ms, script_ms, with_raster_ms, wall_ms] = [tasks.map(without_raster), script.map(ms), tasks.map(ms), wall].map((times) =>
  spread(times, wall.length),
);
const figures = { trace: path, frames: wall.length, cpu_ms, script_ms, with_raster_ms, wall_ms };
console.log(JSON.stringify({ ...figures, serve_ms: Math.round(serving - began), first_draw_ms: Math.round(drawn - serving) }));
await finish();
await close_all();
process.exit(figures.cpu_ms.p99 <= kMost_ms ? 0 : 1);
