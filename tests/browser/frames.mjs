// What a frame of the timeline costs the page's main thread: pans and zooms over a trace, and tells the distribution as one line of JSON.
// Exits with 1 when the 99th percentile of the thread's own time is over 8 ms. Counted is all that the thread does for a frame: the page's
// script (`script_ms`), and layout, paint and commit around it (`cpu_ms`). Headless Chromium has no GPU: what is drawn on a canvas is turned
// into pixels on this thread too, which a browser with a GPU leaves to another process.
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
await browser.startTracing(page, { categories: ["devtools.timeline", "toplevel"] });
const box = await page.locator(".tl-front").boundingBox();
for (const x of [0.2, 0.5, 0.8]) {
  await page.mouse.move(box.x + box.width * x, box.y + 200);
  for (const key of ["w", "d", "w", "a", "w", "d", "s", "a", "w", "w", "d", "s", "s", "s", "s", "s"])
    await page.keyboard.press(key, { delay: 250 });
  await settle(page);
}
const { traceEvents } = JSON.parse((await browser.stopTracing()).toString());
const wall = await page.evaluate(() => window.__ridge.times);
const script = traceEvents.filter((event) => event.name === "FireAnimationFrame");
const { pid, tid } = script[0];
const tasks = traceEvents.filter((event) => event.pid === pid && event.tid === tid && /RunTask$/.test(event.name) && event.tdur > 0);
// Besides drawing, short callbacks run in frames too (keys that are held): the longest are the drawings.
const whole = script.map((each) => tasks.find((task) => task.ts <= each.ts && each.ts + each.dur <= task.ts + task.dur) ?? each);
const thread_ms = (events) => [...new Set(events)].map((event) => event.tdur / 1000);
const spread = (times, most) => {
  const sorted = [...times].sort((a, b) => a - b).slice(-most);
  const at = (share) => Number(sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))].toFixed(2));
  return { p50: at(0.5), p90: at(0.9), p99: at(0.99), max: at(1) };
};
const [cpu_ms, script_ms, wall_ms] = [thread_ms(whole), thread_ms(script), wall].map((times) => spread(times, wall.length));
const figures = { trace: path, frames: wall.length, cpu_ms, script_ms, wall_ms };
console.log(JSON.stringify({ ...figures, serve_ms: Math.round(serving - began), first_draw_ms: Math.round(drawn - serving) }));
await finish();
await close_all();
process.exit(figures.cpu_ms.p99 <= kMost_ms ? 0 : 1);
