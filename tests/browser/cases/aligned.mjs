// Two traces on one time axis: the chosen iterations start at the same pixel, and whatever is looked at is said to be of its own trace.
import { pathToFileURL } from "node:url";
import { join } from "node:path";
import { check, equal, fixture, open, run_ridge, scratch, serve, settle, shoot, visit } from "../harness.mjs";

const fault = fixture("pair_sync_mask_fault.json.gz");
const mended = fixture("pair_sync_mask_mended.json.gz");

async function aligned(parameters = "with=1") {
  const server = await serve(fault, mended);
  const { page, finish } = await open(server.url);
  await visit(page, "timeline", parameters);
  await page.waitForFunction(() => window.__ridge?.state?.alignment);
  await settle(page);
  return { server, page, finish };
}

const traces_of = async (server) => (await server.api("traces")).traces;
const iteration = (trace, index) => trace.iterations.list.find((each) => each.index === index);

// The slice of a trace that is the iteration, as the API tells it.
async function step_of(server, t, index) {
  const { results } = await server.api(`search?t=${t}&q=${encodeURIComponent(`=ProfilerStep#${index}`)}&limit=100`);
  const start = iteration((await traces_of(server))[t], index).start_ns;
  return server.api(`slice?t=${t}&id=${results.find((each) => each.start_ns === start).id}`);
}

// The ids that the page has for tracks and slices of the second trace.
const second = (id) => 2 ** 31 + id;

// For each row the first painted pixel behind x: what lies there is a gap. All are read at once.
function first_painted(page, rows, x) {
  return page.evaluate(
    ([rows, x]) => {
      const canvas = document.querySelector(".tl-canvas");
      const ratio = canvas.width / canvas.clientWidth;
      const pixels = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
      return rows.map(([track, depth]) => {
        const row = window.__ridge.row_at(track, depth);
        const line = Math.round((row.y + row.height / 2) * ratio) * canvas.width;
        const colour = (at) => pixels.slice(4 * (line + at), 4 * (line + at) + 3).join();
        for (let at = x; at < canvas.width; ++at) if (colour(at) !== colour(x)) return at / ratio;
        return null;
      });
    },
    [rows, x],
  );
}

const place = (page, track, depth, time) =>
  page.evaluate(
    ([track, depth, time]) => {
      const { state, row_at } = window.__ridge;
      const box = document.querySelector(".tl-front").getBoundingClientRect();
      const row = row_at(track, depth);
      return { x: box.left + state.view.x(time), y: box.top + row.y + row.height / 2 };
    },
    [track, depth, time],
  );

export const cases = {
  "the chosen iterations of both traces start at the same pixel": async () => {
    const server = await serve(fault, mended);
    const [a, b] = await traces_of(server);
    for (const [i, j] of [
      [2, 2],
      [3, 5],
      [5, 3],
    ]) {
      const [start_a, start_b] = [iteration(a, i).start_ns, iteration(b, j).start_ns];
      const at = Math.max(start_a, start_b); // on the axis, which begins with the earlier trace
      const { page, finish } = await aligned(`with=1&at=${i}.${j}&tracks=python3&r=${at - 15000}-${at + 400000}`);
      equal(await page.getAttribute(".tl-offset", "data-ns"), String(start_a - start_b), `what is added to B, iterations ${i} and ${j}`);
      const [step_a, step_b] = [await step_of(server, 0, i), await step_of(server, 1, j)];
      const x = await page.evaluate((time) => window.__ridge.state.view.x(time), at);
      const before = i === 2 ? 0 : Math.round(x) - 10;
      const rows = [
        [step_a.track, step_a.depth],
        [second(step_b.track), step_b.depth],
      ];
      const drawn = await first_painted(page, rows, before);
      equal(drawn[0], drawn[1], `where iteration ${i} of A and ${j} of B begin, px`);
      equal(drawn[0], Math.round(x), "which is where the axis has it");
      await finish();
    }
  },

  "a slice of B shows B's details, a slice of A those of A, and the mouse is told whose they are": async () => {
    const { server, page, finish } = await aligned("with=1&at=3.5&tracks=python3");
    for (const [letter, t, index] of [
      ["A", 0, 4],
      ["B", 1, 4],
    ]) {
      const step = await step_of(server, t, index);
      const shift = await page.evaluate((part) => window.__ridge.state.alignment[part].shift_ns, t);
      const spot = await place(page, t ? second(step.track) : step.track, step.depth, step.start_ns + shift + 0.8 * step.dur_ns);
      await page.mouse.move(spot.x, spot.y);
      await page.waitForFunction((text) => document.querySelector(".tooltip:not([hidden])")?.textContent.includes(text), `${letter} · pair_sync_mask_`);
      await page.mouse.click(spot.x, spot.y);
      await page.waitForFunction((text) => document.querySelector(".details")?.textContent.includes(text), `${letter} · pair_sync_mask_${t ? "mended" : "fault"}`);
      const said = await page.evaluate(() => Object.fromEntries([...document.querySelectorAll(".details dt")].map((each) => [each.textContent, each.nextElementSibling.textContent])));
      const shown = await page.evaluate(() => window.__ridge.state.selection);
      equal(shown.name, step.name, "the slice");
      equal(shown.dur_ns, step.dur_ns, `how long it is in ${letter}`);
      equal(JSON.stringify(shown.args), JSON.stringify(step.args), "its arguments");
      equal(shown.start_ns - shift, step.start_ns, "when it began, in its own trace");
      check(said.Track.startsWith(`${letter} · `), "whose track it is on");
    }
    await shoot(page, "timeline-aligned");
    const chosen = await page.evaluate(() => window.__ridge.state.selection.id);
    await page.waitForFunction((id) => new URLSearchParams(location.hash.split("?")[1]).get("s") === String(id), chosen);  // not A's any more
    await page.reload();
    await page.waitForFunction((id) => window.__ridge?.state?.selection?.id === id, chosen);
    await finish();
  },

  "a search and an area count both traces and tell them apart": async () => {
    const { server, page, finish } = await aligned("with=1&at=3.5&q=ProfilerStep&r=0-9000000");
    const hits = await Promise.all([0, 1].map(async (t) => (await server.api(`search?t=${t}&q=ProfilerStep&limit=1000`)).hits));
    await page.waitForFunction((text) => document.querySelector(".tl-count").textContent === text, `${hits[0] + hits[1]} hits (A ${hits[0]}, B ${hits[1]})`);
    await page.focus(".tl-scroll");
    await page.keyboard.press("Control+a");
    await page.waitForSelector(".area");
    const both = await Promise.all([0, 1].map(async (t) => server.api(`area?t=${t}&from=0&to=${(await traces_of(server))[t].window_ns}`)));
    const shown = await page.textContent(".area");
    check(shown.includes(`${(both[0].slices + both[1].slices).toLocaleString("en-US")} slices`), `slices of both in "${shown.slice(0, 80)}"`);
    check(shown.includes("GPU 0 of A busy") && shown.includes("GPU 0 of B busy"), "how busy each was");
    await finish();
  },

  "a key puts the other trace below and takes it away, and the same part of A stays in view": async () => {
    const server = await serve(fault, mended);
    const { page, finish } = await open(server.url);
    await visit(page, "timeline", "r=1000000-2000000");
    const at = (alignment) => page.waitForFunction((wanted) => window.__ridge?.state && Boolean(window.__ridge.state.alignment) === wanted, alignment);
    const from = () => page.evaluate(() => Math.round(window.__ridge.state.view.from - (window.__ridge.state.alignment?.[0].shift_ns ?? 0)));
    await page.focus(".tl-scroll");
    await page.keyboard.press("b");
    await at(true);
    await settle(page);
    check((await page.evaluate(() => location.hash)).includes("with=1"), "the URL keeps it");
    equal(await from(), 1000000, "the same part of A");
    await page.selectOption(".tl-align-b", "5");
    await page.waitForFunction(() => window.__ridge?.state?.alignment?.[1].iteration.index === 5);
    await settle(page);
    equal(await from(), 1000000, "the same part of A, which is moved now");
    check(await page.evaluate(() => document.activeElement.classList.contains("tl-align-b")), "the keyboard is where it was");
    await page.focus(".tl-align-toggle");
    await page.keyboard.press("Enter");
    await at(false);
    await settle(page);
    equal(await from(), 1000000, "alone again");
    await finish();
  },

  "a report of two traces aligns them too, and one of a single trace offers nothing": async () => {
    const file = join(scratch, "aligned.html");
    run_ridge("report", fault, mended, "-o", file);
    const { page, finish } = await open(pathToFileURL(file).href);
    await visit(page, "timeline", "with=1&at=3.5&tracks=python3");
    await page.waitForFunction(() => window.__ridge?.state?.alignment);
    await settle(page);
    const server = await serve(fault, mended);
    const step = await step_of(server, 1, 4);
    const spot = await place(page, second(step.track), step.depth, step.start_ns + step.dur_ns / 2);
    await page.mouse.click(spot.x, spot.y);
    await page.waitForFunction((wanted) => window.__ridge.state.selection?.dur_ns === wanted, step.dur_ns);
    check((await page.textContent(".details")).includes("B · pair_sync_mask_mended"), "whose it is");
    await finish();
    const alone = await open((await serve(fault)).url);
    await visit(alone.page, "timeline", "with=1");
    equal(await alone.page.$(".tl-align-toggle"), null, "a button without another trace");
    await alone.finish();
  },
};
