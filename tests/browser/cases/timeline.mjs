// The timeline: what is drawn is what the API says, and every way of moving, selecting and searching does what it should.
import { after_timers, check, equal, fixture, near, open, serve, settle, shoot, visit } from "../harness.mjs";

const trace = fixture("resnet18_compiled_stack_mem.json.gz");

async function timeline(parameters = "") {
  const server = await serve(trace);
  const { page, finish } = await open(server.url);
  await visit(page, "timeline", parameters);
  return { server, page, finish };
}

const view = (page) =>
  page.evaluate(() => ({ from: window.__ridge.state.view.from, to: window.__ridge.state.view.to, width: window.__ridge.state.view.width }));
const selection = (page) => page.evaluate(() => window.__ridge.state.selection?.id ?? null);
const selected = (page, id) => page.waitForFunction((wanted) => window.__ridge?.state?.selection?.id === wanted, id);

// Where a slice stands on the screen.
function place(page, track, depth, time) {
  return page.evaluate(
    ([track, depth, time]) => {
      const { state, row_at } = window.__ridge;
      const box = document.querySelector(".tl-front").getBoundingClientRect();
      const row = row_at(track, depth);
      return { x: box.left + state.view.x(time), y: box.top + row.y + row.height / 2 };
    },
    [track, depth, time],
  );
}

const streams = async (server) =>
  (await server.api("tracks?t=0")).groups.flatMap((group) => group.tracks).filter((track) => track.kind === "stream");

// A kernel with a launch.
async function launched(server) {
  const [stream] = await streams(server);
  const { results } = await server.api("search?t=0&q=triton_&limit=200");
  for (const hit of results.filter((each) => each.track === stream.id)) {
    const slice = await server.api(`slice?t=0&id=${hit.id}`);
    const flow = slice.flows.find((each) => each.direction === "in" && each.kind === "launch");
    if (flow) return { slice, flow };
  }
  throw new Error("no kernel with a launch");
}

// For every pixel of a row, which part of its height is painted.
async function painted(page, track, depth) {
  const row = await page.evaluate(([track, depth]) => window.__ridge.row_at(track, depth), [track, depth]);
  return page.evaluate(({ y, height }) => {
    const canvas = document.querySelector(".tl-canvas");
    const ratio = canvas.width / canvas.clientWidth;
    const [wide, tall] = [canvas.width, Math.round(height * ratio)];
    const pixels = canvas.getContext("2d").getImageData(0, Math.round(y * ratio), wide, tall).data;
    const probe = document.createElement("canvas").getContext("2d");
    probe.fillStyle = getComputedStyle(document.documentElement).getPropertyValue("--panel").trim();
    const empty = [1, 3, 5].map((at) => parseInt(probe.fillStyle.slice(at, at + 2), 16));
    const share = (x) => {
      let full = 0;
      for (let line = 0; line < tall; ++line)
        if ([0, 1, 2].some((c) => Math.abs(pixels[4 * (line * wide + x) + c] - empty[c]) > 24)) ++full;
      return full / tall;
    };
    return Array.from({ length: Math.floor(wide / ratio) }, (_, x) => share(Math.round(x * ratio)));
  }, row);
}

// What the API has in a row over the view, as fine as it gets.
async function lane_of(server, track, depth, { from, to }) {
  const answer = await server.api(`slices?t=0&track=${track}&from=${Math.floor(from)}&to=${Math.ceil(to)}&px=8192`);
  return { ...answer.depths.find((each) => each.depth === depth), bucket_ns: answer.bucket_ns };
}

const other_url = (url) => `${url.split("#")[0]}#/timeline?fold=all`;

export const cases = {
  "what is drawn covers as much as the API's slices do": async () => {
    const { server, page, finish } = await timeline();
    const drawn = await page.evaluate(() => [...window.__ridge.stats.covered]);
    const seen = await view(page);
    check(drawn.length > 0, "some track is in sight");
    const answers = new Map();
    for (const [row, share] of drawn) {
      const [id, depth] = row.split("/").map(Number);
      if (!answers.has(id)) answers.set(id, await server.api(`slices?t=0&track=${id}&from=0&to=${Math.round(seen.to)}&px=8192`));
      const answer = answers.get(id);
      const lane = answer.depths.find((each) => each.depth === depth) ?? { slices: { start: [] }, buckets: { busy: [] } };
      const exact = lane.slices.start.reduce(
        (sum, start, i) => sum + Math.min(start + lane.slices.dur[i], seen.to) - Math.max(0, start),
        0,
      );
      const rest = lane.buckets.busy.reduce((sum, busy) => sum + (busy / 255) * answer.bucket_ns, 0);
      near(share, (exact + rest) / (seen.to - seen.from), 0.01, `covered share of row ${row}`);
    }
    await finish();
  },

  "idle stays empty and busy is painted, pixel by pixel": async () => {
    const { server, page, finish } = await timeline();
    const { slice } = await launched(server);
    await visit(page, "timeline", `r=${slice.start_ns - 150_000}-${slice.start_ns + 150_000}`);
    await page.click("text=Marks"); // gaps are hatched
    await settle(page);
    const now = await view(page);
    const paint = (await painted(page, slice.track, slice.depth)).map((height) => height > 0.5);
    const lane = await lane_of(server, slice.track, slice.depth, now);
    check(lane.slices.start.length > 0, "the API has slices here");
    const per_px = (now.to - now.from) / now.width;
    const busy_in = (from, to) =>
      lane.slices.start.reduce((sum, start, i) => sum + Math.max(0, Math.min(to, start + lane.slices.dur[i]) - Math.max(from, start)), 0);
    let wrong = 0;
    for (let x = 1; x + 1 < paint.length; ++x) {
      const covered = busy_in(now.from + x * per_px, now.from + (x + 1) * per_px) / per_px;
      if ((covered > 0.98 && !paint[x]) || (covered === 0 && paint[x] && paint[x - 1] && paint[x + 1])) ++wrong;
    }
    check(wrong <= paint.length * 0.03, `${wrong} of ${paint.length} pixels differ from the API`);
    check(paint.some((each) => each) && paint.some((each) => !each), "both busy and idle are in sight");
    await finish();
  },

  "zoomed out, a lane is painted no busier than it was": async () => {
    const { server, page, finish } = await timeline();
    const { slice } = await launched(server);
    await page.click("text=Marks");
    await settle(page);
    const now = await view(page);
    const paint = await painted(page, slice.track, slice.depth);
    const lane = await lane_of(server, slice.track, slice.depth, now);
    const busy =
      lane.slices.dur.reduce((sum, dur) => sum + dur, 0) +
      lane.buckets.busy.reduce((sum, share) => sum + (share / 255) * lane.bucket_ns, 0);
    const wanted = busy / (now.to - now.from);
    const found = paint.reduce((sum, height) => sum + height, 0) / paint.length;
    const least = paint.filter((height) => height > 0).length / paint.length / 12; // whatever happened shows at least a pixel high
    check(wanted < 0.3 && wanted > 0, `the lane is mostly idle (${wanted})`);
    check(found >= wanted - 0.02 && found <= wanted + least + 0.02, `painted ${found}, busy ${wanted}`);
    await finish();
  },

  "w and s zoom at the mouse, a and d move, f fits": async () => {
    const { page, finish } = await timeline();
    const whole = await view(page);
    const box = await page.locator(".tl-front").boundingBox();
    await page.mouse.move(box.x + 300, box.y + 200);
    const under = whole.from + (300 * (whole.to - whole.from)) / whole.width;
    await page.keyboard.press("w", { delay: 120 });
    const closer = await view(page);
    check(closer.to - closer.from < 0.9 * (whole.to - whole.from), "w zooms in");
    near(
      closer.from + (300 * (closer.to - closer.from)) / closer.width,
      under,
      (whole.to - whole.from) * 0.002,
      "the time under the mouse",
    );
    await page.keyboard.press("d");
    const right = await view(page);
    check(right.from > closer.from, "d moves right");
    near(right.to - right.from, closer.to - closer.from, 1, "moving keeps the scale");
    await page.keyboard.press("a");
    check((await view(page)).from < right.from, "a moves left");
    await page.keyboard.press("s", { delay: 60 });
    check((await view(page)).to - (await view(page)).from > right.to - right.from, "s zooms out");
    await page.keyboard.press("Escape");
    await page.keyboard.press("f");
    near((await view(page)).to, whole.to, 1, "f shows all");
    await finish();
  },

  "zooming stays at the mouse after the view was moved under it": async () => {
    const { page, finish } = await timeline();
    const box = await page.locator(".tl-front").boundingBox();
    await page.mouse.move(box.x + 300, box.y + 200);
    await page.keyboard.press("w", { delay: 200 });
    await page.keyboard.press("d", { delay: 200 });
    const before = await view(page);
    await page.keyboard.press("w", { delay: 100 });
    const after = await view(page);
    const at = (seen) => seen.from + (300 * (seen.to - seen.from)) / seen.width;
    near(at(after), at(before), (before.to - before.from) * 0.002, "the time under the mouse");
    await finish();
  },

  "wheel with Ctrl zooms, a drag with Shift or the middle button moves, the minimap's brush moves": async () => {
    const { page, finish } = await timeline("r=20000000-40000000");
    const box = await page.locator(".tl-front").boundingBox();
    await page.mouse.move(box.x + 400, box.y + 150);
    const before = await view(page);
    await page.keyboard.down("Control");
    await page.mouse.wheel(0, -300);
    await page.keyboard.up("Control");
    await page.waitForFunction(
      (length) => window.__ridge.state.view.to - window.__ridge.state.view.from < length,
      (before.to - before.from) * 0.8,
    );
    const zoomed = await view(page);
    await page.keyboard.down("Shift");
    await page.mouse.down();
    await page.mouse.move(box.x + 300, box.y + 150, { steps: 4 });
    await page.mouse.up();
    await page.keyboard.up("Shift");
    await page.mouse.move(box.x + 400, box.y + 150);
    await page.mouse.down({ button: "middle" });
    await page.mouse.move(box.x + 300, box.y + 150, { steps: 4 });
    await page.mouse.up({ button: "middle" });
    const dragged = await view(page);
    near(
      dragged.from - zoomed.from,
      (200 * (zoomed.to - zoomed.from)) / zoomed.width,
      (zoomed.to - zoomed.from) * 0.02,
      "dragged by 100 px twice",
    );
    const map = await page.locator(".tl-minimap").boundingBox();
    await page.mouse.click(map.x + map.width * 0.8, map.y + 20);
    const moved = await view(page);
    check(moved.from > dragged.from, "a click on the minimap moves there");
    await finish();
  },

  "a click selects the slice that is there, with all its arguments": async () => {
    const { server, page, finish } = await timeline();
    const { slice } = await launched(server);
    await visit(page, "timeline", `r=${slice.start_ns - 20000}-${slice.start_ns + slice.dur_ns + 20000}`);
    const at = await place(page, slice.track, slice.depth, slice.start_ns + slice.dur_ns / 2);
    await page.mouse.click(at.x, at.y);
    await selected(page, slice.id);
    const shown = await page.textContent(".details");
    check(shown.includes(slice.name), "the panel has the name");
    for (const [key, value] of Object.entries(slice.args)) {
      check(shown.includes(key), `the panel has the argument ${key}`);
      if (typeof value !== "object") check(shown.includes(String(value).slice(0, 100)), `the panel has ${key} = ${value}`);
    }
    await shoot(page, "timeline_selected_light");
    await page.click("text=About this kernel");
    await page.waitForSelector('html[data-ready="kernel"]');
    check((await page.textContent("main .pairs")).includes(slice.name), "the page of the kernel");
    await finish();
  },

  "a replayed kernel shows its op and where that was recovered from": async () => {
    const server = await serve(fixture("cudagraph_with_warmup.json.gz"));
    const { page, finish } = await open(server.url);
    const { results } = await server.api("search?t=0&q=nvjet&limit=200");
    const slices = await Promise.all(results.map((hit) => server.api(`slice?t=0&id=${hit.id}`)));
    const replayed = slices.find((slice) => slice.op_from);
    const eager = slices.find((slice) => !slice.op_from && slice.op);
    check(replayed && eager, "the trace has the kernel in a graph and outside");
    equal([replayed.op_from, replayed.op.name], ["eager_run", eager.op.name], "the op of the replay");
    await visit(page, "timeline", `s=${replayed.id}`);
    await selected(page, replayed.id);
    const shown = await page.textContent(".details .pairs");
    check(shown.includes(replayed.op.name) && shown.includes("an eager run of the same kernels"), `the panel says: ${shown}`);
    await visit(page, "timeline", `s=${eager.id}`);
    await selected(page, eager.id);
    check(!(await page.textContent(".details .pairs")).includes("Op known from"), "an op that the trace names is not called recovered");
    await finish();
  },

  "flows are followed there and back": async () => {
    const { server, page, finish } = await timeline();
    const { slice, flow } = await launched(server);
    await visit(page, "timeline", `s=${slice.id}`);
    await selected(page, slice.id);
    await page.keyboard.press("[");
    await selected(page, flow.id);
    await shoot(page, "timeline_flow_light");
    await page.keyboard.press("]");
    await selected(page, slice.id);
    await finish();
  },

  "next and previous walk along the row": async () => {
    const { server, page, finish } = await timeline();
    const { slice } = await launched(server);
    await visit(page, "timeline", `s=${slice.id}`);
    await selected(page, slice.id);
    const next = (await server.api(`neighbour?t=0&id=${slice.id}&dir=next`)).id;
    check(next !== null, "there is a next slice");
    await page.keyboard.press(".");
    await selected(page, next);
    await page.keyboard.press(",");
    await selected(page, slice.id);
    await finish();
  },

  "search counts as the API does and walks through the hits": async () => {
    const { server, page, finish } = await timeline();
    await page.keyboard.press("/");
    await page.keyboard.type("convolution_backward");
    const answer = await server.api("search?t=0&q=convolution_backward&limit=1000");
    await page.waitForFunction(
      (hits) => document.querySelector(".tl-count").textContent.startsWith(hits),
      answer.hits.toLocaleString("en-US"),
    );
    await page.keyboard.press("Enter");
    await selected(page, answer.results[0].id);
    await page.keyboard.press("Enter");
    await selected(page, answer.results[1].id);
    await page.keyboard.press("Shift+Enter");
    await selected(page, answer.results[0].id);
    await shoot(page, "timeline_search_light");
    await page.keyboard.press("Escape");
    await page.waitForFunction(() => window.__ridge.state.query === "");
    await finish();
  },

  "of more hits than one answer holds every one can be walked to, forwards and round the corner": async () => {
    const { server, page, finish } = await timeline();
    const everything = await server.api("search?t=0&q=cuda&limit=10000");
    const counted = everything.hits;
    check(counted > 2000 && everything.results.length === counted, `${counted} hits in this trace`);
    const said = (number) => `${number.toLocaleString("en-US")} of ${counted.toLocaleString("en-US")}`;
    await page.fill(".tl-tools input", "cuda");
    await page.keyboard.press("Enter");
    await selected(page, everything.results[0].id);
    equal(await page.textContent(".tl-count"), said(1), "the first");
    await page.keyboard.press("Shift+Enter"); // to the last, in a page that nobody has seen
    await selected(page, everything.results[counted - 1].id);
    equal(await page.textContent(".tl-count"), said(counted), "the last");
    await page.keyboard.press("Enter");
    await selected(page, everything.results[0].id);
    await page.evaluate(() => (window.__ridge.state.hit = 998));
    await page.keyboard.press("Enter");
    await selected(page, everything.results[999].id);
    await page.keyboard.press("Enter"); // over the end of the first answer
    await selected(page, everything.results[1000].id);
    equal(await page.textContent(".tl-count"), said(1001), "the first of the second answer");
    for (let i = 0; i < 5; ++i) await page.keyboard.press("Enter"); // faster than answers come
    await selected(page, everything.results[1005].id);
    await finish();
  },

  "an area shows the API's sums": async () => {
    const { server, page, finish } = await timeline("r=10000000-30000000");
    const box = await page.locator(".tl-front").boundingBox();
    await page.mouse.move(box.x + 200, box.y + 30);
    await page.mouse.down();
    await page.mouse.move(box.x + 600, box.y + 260, { steps: 5 });
    await page.mouse.up();
    await page.waitForSelector(".area .t-row");
    const area = await page.evaluate(() => window.__ridge.state.area);
    const per_px = 20_000_000 / (await view(page)).width;
    near(area.to - area.from, 400 * per_px, 4 * per_px, "the area's length");
    const answer = await server.api(
      `area?t=0&from=${area.from}&to=${area.to}${area.tracks.length ? `&tracks=${area.tracks.join(",")}` : ""}`,
    );
    check((await page.textContent(".area")).includes(answer.slices.toLocaleString("en-US")), "the number of slices");
    const first = await page.$eval(".area .t-row .t-c", (node) => node.textContent);
    check(answer.by_name[0].name.startsWith(first.replace(/…$/, "")), `the largest is ${first}, the API has ${answer.by_name[0].name}`);
    for (const [device, share] of Object.entries(answer.busy_pct))
      near(parseFloat(await page.textContent(`[data-busy="${device}"]`)), share, 0.06, `busy % of device ${device}`);
    await shoot(page, "timeline_area_light");
    await finish();
  },

  "the ruler selects a time of all tracks, r the time of a slice, Ctrl+a all": async () => {
    const { server, page, finish } = await timeline("r=10000000-30000000");
    const area = () => page.evaluate(() => window.__ridge.state.area);
    const ruler = await page.locator(".tl-ruler").boundingBox();
    await page.mouse.move(ruler.x + 100, ruler.y + 20);
    await page.mouse.down();
    await page.mouse.move(ruler.x + 500, ruler.y + 20, { steps: 4 });
    await page.mouse.up();
    const per_px = 20_000_000 / (await view(page)).width;
    near((await area()).to - (await area()).from, 400 * per_px, 4 * per_px, "the time selected on the ruler");
    equal((await area()).tracks, [], "of all tracks");
    const { slice } = await launched(server);
    await visit(page, "timeline", `s=${slice.id}`);
    await selected(page, slice.id);
    await page.keyboard.press("r");
    equal(await area(), { from: slice.start_ns, to: slice.start_ns + slice.dur_ns, tracks: [] }, "the slice's time");
    await page.keyboard.press("Control+a");
    near((await area()).to, (await server.api("traces")).traces[0].window_ns, 1, "all");
    await page.waitForSelector(".area .t-row");
    await finish();
  },

  "every slice of the name under the mouse is lit": async () => {
    const server = await serve(fixture("gpt_compiled_train.json.gz")); // its kernels are long enough to be seen side by side
    const { page, finish } = await open(server.url);
    const { results } = await server.api("search?t=0&q=nvjet&limit=200");
    const hit = results[Math.floor(results.length / 2)];
    const range = { from: hit.start_ns - 400_000, to: hit.start_ns + 400_000 };
    await visit(page, "timeline", `r=${range.from}-${range.to}`);
    const lane = await lane_of(server, hit.track, hit.depth, range);
    const wide = [];
    for (const [i, id] of lane.slices.id.entries()) {
      const inside = lane.slices.start[i] > range.from && lane.slices.start[i] + lane.slices.dur[i] < range.to;
      if (inside && lane.slices.dur[i] > 5000) wide.push(await server.api(`slice?t=0&id=${id}`));
    }
    const twice = wide.find((each) => wide.some((other) => other.id !== each.id && other.name === each.name));
    check(twice, "a name is there twice");
    const at = await place(page, twice.track, twice.depth, twice.start_ns + twice.dur_ns / 2);
    await page.mouse.move(at.x, at.y);
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
    const places = [];
    for (const each of wide) places.push(await place(page, each.track, each.depth, each.start_ns + each.dur_ns / 2));
    const lit = await page.evaluate((points) => {
      const canvas = document.querySelectorAll(".tl-canvas")[1];
      const box = canvas.getBoundingClientRect();
      const ratio = canvas.width / canvas.clientWidth;
      const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
      return points.map(({ x, y }) => data[4 * (Math.round((y - box.top) * ratio) * canvas.width + Math.round((x - box.left) * ratio)) + 3] > 40);
    }, places);
    equal(
      lit,
      wide.map((each) => each.name === twice.name),
      "which are lit",
    );
    check(wide.some((each) => each.name !== twice.name), "and others are there, which are not");
    await finish();
  },

  "a deep link brings the same range, selection, search, marks and pins": async () => {
    const { server, page, finish } = await timeline();
    const { slice } = await launched(server);
    await visit(page, "timeline", `r=${slice.start_ns - 50000}-${slice.start_ns + 90000}&s=${slice.id}`);
    await selected(page, slice.id);
    await page.keyboard.press("m");
    await page.keyboard.press("p");
    await page.fill(".tl-tools input", "triton");
    await page.waitForFunction(() => window.__ridge.state.hits);
    await page.waitForFunction(() => location.hash.includes("q=triton") && location.hash.includes("pin=") && location.hash.includes("m="));
    const url = page.url();
    const before = await view(page);
    const { page: other, finish: finish_other } = await open(url);
    await other.waitForFunction(() => window.__ridge?.state?.selection && window.__ridge.state.hits);
    const after = await view(other);
    near(after.from, before.from, 2, "from");
    near(after.to, before.to, 2, "to");
    equal(await selection(other), slice.id, "selection");
    const kept = await other.evaluate(() => ({ pins: [...window.__ridge.state.lanes.pinned], notes: window.__ridge.state.notes }));
    equal(kept.pins, [slice.track], "pinned tracks");
    equal(kept.notes, [{ from: slice.start_ns, to: slice.start_ns + slice.dur_ns }], "marks");
    await finish_other();
    await finish();
  },

  "a deep link brings what is collapsed and how far the tracks are scrolled": async () => {
    const { server, page, finish } = await timeline();
    const folds = (of) => of.evaluate(() => [...window.__ridge.state.lanes.collapsed].sort());
    const { groups } = await server.api("tracks?t=0");
    const first = groups.find((group) => group.kind === "device"); // the others stay, to be scrolled
    const track = first.tracks[0];
    await page.click(`.tl-track .tl-fold[aria-label="Track ${track.name}"]`);
    await page.click(`.tl-group .tl-fold[aria-label="Group ${first.name}"]`);
    equal(await folds(page), [`g:${first.id}`, `t:${track.id}`].sort(), "what is collapsed");
    await page.setViewportSize({ width: 1280, height: 320 }); // so that there is something to scroll
    await page.mouse.move(700, 250);
    await page.mouse.wheel(0, 47);
    await page.waitForFunction(() => window.__ridge.state.scroll === 47);
    await page.waitForFunction(() => location.hash.includes("y=47") && location.hash.includes("fold="));
    const { page: other, finish: finish_other } = await open(page.url(), { viewport: { width: 1280, height: 320 } });
    await settle(other);
    equal(await folds(other), await folds(page), "what is collapsed after the link");
    equal(await other.evaluate(() => window.__ridge.state.scroll), 47, "how far it is scrolled");
    equal(await other.evaluate(() => document.querySelector(".tl-scroll").scrollTop), 47, "the scrolling box");
    await other.focus(".tl-scroll");
    await other.keyboard.press("c"); // opens all
    await other.keyboard.press("c"); // collapses all
    await other.waitForFunction(() => location.hash.includes("fold=all"));
    await finish_other();
    const { page: third, finish: finish_third } = await open(other_url(page.url()));
    await settle(third);
    const counters = await third.evaluate(() => window.__ridge.state.counters.map((_, i) => `t:${-1 - i}`));
    const all = [...groups.flatMap((group) => group.tracks.map((each) => `t:${each.id}`)), ...counters];
    equal(await folds(third), all.sort(), "all are collapsed");
    await third.keyboard.press("c");
    await third.waitForFunction(() => !location.hash.includes("fold="));
    await finish_third();
    await finish();
  },

  "tracks are found by their names, and the link keeps the filter": async () => {
    const { server, page, finish } = await timeline();
    const { groups } = await server.api("tracks?t=0");
    const all = groups.flatMap((group) => group.tracks.map((track) => ({ ...track, whole: `${group.name} ${group.labels} ${track.name}` })));
    const shown = () => page.evaluate(() => window.__ridge.state.lanes.boxes.flatMap((box) => (box.track && box.track.id >= 0 ? [box.track.id] : [])));
    equal((await shown()).length, all.length, "tracks without a filter");
    await page.keyboard.press("t");
    await page.keyboard.type("STREAM gpu"); // words in any order and case
    const wanted = all.filter((track) => /stream/i.test(track.whole) && /gpu/i.test(track.whole)).map((track) => track.id);
    check(wanted.length > 0 && wanted.length < all.length, "some tracks are such and some are not");
    equal((await shown()).sort(), wanted.sort(), "tracks shown");
    equal(await page.textContent(".tl-finder small"), `${wanted.length} of ${all.length} tracks`, "the count");
    await page.waitForFunction((count) => document.querySelectorAll(".tl-track").length === count, wanted.length); // their names
    await page.keyboard.press("Enter");
    check(await page.evaluate(() => document.activeElement.classList.contains("tl-scroll")), "Enter goes back to the lanes");
    await page.waitForFunction(() => new URLSearchParams(location.hash.split("?")[1]).get("tracks") === "STREAM gpu"); // not a part of it, typed slowly
    await shoot(page, "timeline_tracks_light");
    const { page: other, finish: finish_other } = await open(page.url());
    await other.waitForFunction((count) => window.__ridge?.state?.lanes.shown === count, wanted.length);
    equal(await other.inputValue(".tl-finder input"), "STREAM gpu", "the filter of the link");
    await finish_other();
    // a slice that one goes to is shown, whatever hides it
    const { flow } = await launched(server);
    check(!wanted.includes(flow.track), "the launch is on a hidden track");
    await visit(page, "timeline", `tracks=STREAM+gpu&s=${flow.id}`);
    await selected(page, flow.id);
    equal(await page.inputValue(".tl-finder input"), "", "the filter");
    await page.keyboard.press("t");
    await page.keyboard.type("nothing is called so");
    equal(await shown(), [], "tracks shown");
    await page.keyboard.press("Escape");
    equal((await shown()).length, all.length, "tracks after Escape");
    await finish();
  },

  "tracks collapse and pin, help opens": async () => {
    const { page, finish } = await timeline();
    const height = () => page.evaluate(() => window.__ridge.state.lanes.height);
    const before = await height();
    await page.click(".tl-track .tl-fold >> nth=1");
    check((await height()) < before, "a collapsed track is lower");
    await page.keyboard.press("c");
    await page.keyboard.press("?");
    check(await page.isVisible("dialog[open]"), "help is open");
    await page.keyboard.press("Escape");
    check(!(await page.isVisible("dialog")), "help is closed");
    await finish();
  },

  "marks stand on the lanes": async () => {
    const { server, page, finish } = await timeline();
    const { marks } = await server.api("marks?t=0");
    equal(await page.evaluate(() => window.__ridge.state.marks.length), marks.length, "marks");
    const gap = marks.filter((mark) => mark.kind === "gap" && mark.track !== null).sort((a, b) => b.dur_ns - a.dur_ns)[0];
    if (gap) {
      const at = await place(page, gap.track, 0, gap.start_ns + gap.dur_ns / 2);
      await page.mouse.move(at.x, at.y - 9);
      await page.waitForSelector(".tooltip:not([hidden])");
      check((await page.textContent(".tooltip")).includes("idle gap"), "the mark tells what it is");
    }
    await finish();
  },

  "a link that is followed right after a move is not overwritten": async () => {
    const { server, page, finish } = await timeline();
    const { slice } = await launched(server);
    const wanted = `#/timeline?s=${slice.id}`;
    const kept = await page.evaluate(async (hash) => {
      document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "f", bubbles: true })); // the URL is to be written in a moment
      history.replaceState(null, "", hash); // changed, but nobody has heard of it: a busy page hears only after the timer
      await new Promise((done) => setTimeout(done, 500));
      const now = location.hash;
      window.dispatchEvent(new HashChangeEvent("hashchange"));
      return now;
    }, wanted);
    equal(kept, wanted, "the URL");
    await selected(page, slice.id);
    await finish();
  },

  "views that are left no longer ask": async () => {
    const { page, finish } = await timeline();
    await page.keyboard.press("w");
    await visit(page, "summary");
    await after_timers(page, 400); // the URL is written 200 ms after a move
    equal((await page.evaluate(() => location.hash)).split("?")[0], "#/summary", "the URL stays");
    await finish();
  },

  "counters of memory, queue depth and bandwidth are drawn over time": async () => {
    const server = await serve(fixture("resnet18_compiled_stack_mem.json.gz"));
    const { page, finish } = await open(server.url, { viewport: { width: 1280, height: 3000 } });
    await visit(page, "timeline");
    const { counters } = await server.api("counters?t=0&px=8000");
    for (const group of ["memory", "queue", "bandwidth"]) check(counters.some((each) => each.group === group), `a counter of ${group}`);
    equal(await page.evaluate(() => window.__ridge.state.counters.map((each) => each.name)), counters.map((each) => each.name), "counters");
    for (const each of counters.filter((one) => one.peak !== null)) check(Math.max(...each.value) <= each.peak * 1.5, `${each.name} is near what the device can do`);
    const memory = counters.findIndex((each) => each.group === "memory");
    const drawn = await page.evaluate((i) => {
      const { row_at, state } = window.__ridge;
      const row = row_at(-1 - i, 0);
      const canvas = document.querySelector(".tl-canvas");
      const ratio = canvas.width / state.view.width;
      const pixels = canvas.getContext("2d").getImageData(0, Math.round((row.y + row.height - 8) * ratio), canvas.width, 1).data;
      let blue = 0;
      for (let at = 0; at < pixels.length; at += 4) if (pixels[at + 2] > pixels[at] + 40) ++blue;
      return blue / canvas.width;
    }, memory);
    check(drawn > 0.5, `memory fills ${drawn} of its track`);
    await shoot(page, "counters_light");
    await finish();
  },
};
