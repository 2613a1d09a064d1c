// What a page began and did not finish ends with it, and an answer that comes late does not undo what was chosen since.
import { check, equal, fixture, frames, open, serve, settle, visit } from "../harness.mjs";

const trace = fixture("resnet18_eager_shapes.json.gz");

async function opened(where, before) {
  const server = await serve(trace);
  const { page, finish } = await open(server.url, { before });
  if (where) await visit(page, where);
  return { server, page, finish };
}

// Holds back the answers to some requests until `release` is called.
async function hold(page, pattern) {
  let release = null;
  const released = new Promise((done) => (release = done));
  await page.route(pattern, async (route) => {
    await released;
    await route.continue().catch(() => {}); // the page may have given it up
  });
  return release;
}

// What the browser itself notes about an answer that a test broke on purpose.
const noted = (pattern) => (error) => {
  if (error.message.split("\n").slice(1).some((line) => !pattern.test(line))) throw error;
};

export const cases = {
  "a timeline left before its first frame leaves the next page alone": async () => {
    const { page, finish } = await opened("kernels");
    await page.evaluate(() => {
      window.__held = [];
      window.__frame = window.requestAnimationFrame;
      window.requestAnimationFrame = (callback) => window.__held.push(callback);
      location.hash = "#/timeline";
    });
    await page.waitForSelector(".timeline");
    await visit(page, "ops");
    await page.evaluate(() => {
      window.requestAnimationFrame = window.__frame;
      for (const callback of window.__held) callback(performance.now());
    });
    check(await page.evaluate(() => Boolean(window.__ridge.table)), "the timeline has started although it was left");
    await finish();
  },

  "a key that is held while the timeline is left stops moving it": async () => {
    const { page, finish } = await opened("timeline");
    await page.keyboard.down("d");
    await page.waitForFunction(() => window.__ridge.state.moving);
    await visit(page, "kernels");
    const asked = await page.evaluate(async () => {
      const next = window.requestAnimationFrame;
      const frame = () => new Promise((done) => next.call(window, done));
      await frame();
      let count = 0;
      window.requestAnimationFrame = (callback) => (++count, next.call(window, callback));
      for (let i = 0; i < 3; ++i) await frame();
      return count;
    });
    equal(asked, 0, "frames asked for by the page that was left");
    await page.keyboard.up("d");
    await finish();
  },

  "requests of a timeline that is left are given up": async () => {
    let release = null;
    const { page, finish } = await opened("kernels", async (page) => (release = await hold(page, "**/api/v1/slices*")));
    const asked = page.waitForRequest("**/api/v1/slices*");
    await page.evaluate(() => (location.hash = "#/timeline"));
    await asked;
    equal(page.workers().length, 1, "workers that ask for slices");
    const ended = page.workers()[0].waitForEvent("close"); // and its requests with it
    await visit(page, "kernels");
    await ended;
    release();
    await finish();
  },

  "where no worker starts the page reads slices itself, and gives up its requests": async () => {
    const { page, finish } = await opened("kernels", (page) => page.route("**/assets/tile_worker.js", (route) => route.abort()));
    await visit(page, "timeline");
    equal(page.workers().length, 0, "workers");
    check((await page.evaluate(() => window.__ridge.state.tiles.held)) > 0, "slices have come");
    const release = await hold(page, "**/api/v1/slices*");
    const asked = page.waitForRequest("**/api/v1/slices*");
    await page.evaluate(() => (location.hash = "#/timeline?r=1000000-1200000"));
    await asked;
    const given_up = page.waitForEvent("requestfailed");
    await visit(page, "kernels");
    check((await given_up).url().includes("/slices"), "the request for slices is given up");
    release();
    await finish().catch(noted(/ERR_FAILED/));
  },

  "of two groupings asked for one after the other the last is shown": async () => {
    let release = null;
    const { page, finish } = await opened("kernels", async (page) => (release = await hold(page, "**/api/v1/kernels?by=op*")));
    await page.selectOption("select[aria-label='Group by']", "op");
    await page.selectOption("select[aria-label='Group by']", "shape");
    const first = () => page.evaluate(() => document.querySelector(".t-sort").dataset.column);
    await page.waitForFunction(() => document.querySelector(".t-sort").dataset.column === "shape");
    const late = page.waitForResponse("**/api/v1/kernels?by=op*");
    release();
    await (await late).finished();
    await frames(page, 2);
    equal(await first(), "shape", "the first column");
    await finish();
  },

  "regrouping keeps the filter that was typed": async () => {
    const { page, finish } = await opened("kernels");
    await page.fill("input[aria-label='Filter rows']", "conv");
    await page.selectOption("select[aria-label='Group by']", "op");
    await page.waitForFunction(() => document.querySelector(".t-sort").dataset.column === "op");
    equal(await page.inputValue("input[aria-label='Filter rows']"), "conv", "the filter");
    await finish();
  },

  "slices that did not come are asked for again though nothing moves": async () => {
    let broken = 0;
    const { page, finish } = await opened("kernels", (page) =>
      page.route("**/api/v1/slices*", (route) => (broken++ < 3 ? route.abort() : route.continue())),
    );
    await visit(page, "timeline");
    check(broken >= 3, "some requests were broken");
    const all = await page.evaluate(() => window.__ridge.state.tiles.held);
    await page.waitForFunction((before) => window.__ridge.state.tiles.held >= before + 3, all);
    await settle(page);
    await finish().catch(noted(/ERR_FAILED/));
  },

  "what went wrong stays to be read": async () => {
    const { page, finish } = await opened("kernels");
    await visit(page, "timeline", "s=999999999");
    await page.waitForFunction(() => document.querySelector(".tl-status").textContent);
    await page.keyboard.press("d");
    await settle(page);
    check(await page.textContent(".tl-status"), "the message is gone");
    await finish().catch(noted(/status of 40/));
  },
};
