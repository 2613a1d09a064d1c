// report.html from disk, without a network: the same pages, the same numbers, nothing asked for.
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { gunzipSync } from "node:zlib";
import { check, column, equal, fixture, near, open, run_ridge, scratch, serve, shoot, visit } from "../harness.mjs";

const compiled = fixture("resnet18_compiled_stack_mem.json.gz");
const eager = fixture("resnet18_eager_shapes.json.gz");
const kPages = ["summary", "timeline", "everything", "kernels", "roofline", "categories", "gpu", "ops", "graphs", "compile", "health"];

async function report(name, ...traces) {
  const file = join(scratch, name);
  run_ridge("report", ...traces, "-o", file);
  check(statSync(file).size < 3_000_000, `${name} is ${statSync(file).size} bytes`);
  return open(pathToFileURL(file).href, { offline: true });
}

const areas = (window_ns) => [
  [0, window_ns, []],
  [Math.round(window_ns * 0.31), Math.round(window_ns * 0.57), []],
  [Math.round(window_ns * 0.5), Math.round(window_ns * 0.5) + 20_000, []],
];

// The page's own data source, as a test asks it.
const asked = (page, name, ...words) => page.evaluate(([name, words]) => window.__ridge.state.source[name](...words), [name, words]);

// The same report as a trace of millions of slices has it: drawn in windows, with names counted.
async function without_slices(file, server) {
  const text = readFileSync(file, "utf8");
  const begin = text.indexOf('id="ridge-data">') + 'id="ridge-data">'.length;
  const end = text.indexOf("</script>", begin);
  const data = JSON.parse(text.slice(begin, end));
  const target = Object.keys(data.responses).find((key) => key.startsWith("/api/v1/all_slices"));
  const pack = data.responses[target];
  const { names, tracks } = pack.gzip ? JSON.parse(gunzipSync(Buffer.from(pack.gzip, "base64"))) : pack;
  delete data.responses[target];
  const count = ({ track, rows }) => {
    const counts = new Map();
    for (const name of rows.flatMap((row) => row.name)) counts.set(name, (counts.get(name) ?? 0) + 1);
    return { track, name: [...counts.keys()], count: [...counts.values()] };
  };
  data.responses["/api/v1/name_counts?t=0"] = { names, tracks: tracks.map(count) };
  const { window_ns } = (await server.api("traces")).traces[0];
  for (const { track } of tracks) {
    const query = `from=0&px=400&t=0&to=${window_ns}&track=${track}`;
    data.responses[`/api/v1/slices?${query}`] = await server.api(`slices?${query}&depths=3`);
  }
  const other = file.replace(".html", "_windows.html");
  writeFileSync(other, text.slice(0, begin) + JSON.stringify(data).replaceAll("<", "\\u003c") + text.slice(end));
  return other;
}

export const cases = {
  "it counts what the trace has: every name, every area": async () => {
    const server = await serve(eager);
    const { page, finish } = await report("exact.html", eager);
    await visit(page, "timeline");
    for (const text of ["aten::mm", "=aten::add_", "conv", "nchwToNhwc", "=no such name"]) {
      const [here, there] = [await asked(page, "search", 0, text, 0), await server.api(`search?t=0&q=${encodeURIComponent(text)}`)];
      equal(here.hits, there.hits, `hits of ${text}`);
      equal(here.results.slice(0, 50).map((each) => [each.id, each.start_ns, each.depth]), there.results.slice(0, 50).map((each) => [each.id, each.start_ns, each.depth]), `where ${text} is`);
    }
    const { window_ns } = (await server.api("traces")).traces[0];
    const stream = (await server.api("tracks?t=0")).groups.flatMap((group) => group.tracks).find((track) => track.kind === "stream");
    for (const [from, to, tracks] of [...areas(window_ns), [0, window_ns, [stream.id]]]) {
      const [here, there] = [await asked(page, "area", 0, from, to, tracks), await server.api(`area?t=0&from=${from}&to=${to}${tracks.length ? `&tracks=${tracks}` : ""}`)];
      equal(here.slices, there.slices, `slices of ${from}-${to}`);
      const sums = (area) => area.by_name.map((row) => `${row.name} ${row.category} ${row.count} ${row.total_ns}`).sort();
      equal(sums(here), sums(there), `sums of ${from}-${to}`);
      for (const [device, share] of Object.entries(there.busy_pct)) near(here.busy_pct[device], share, 1e-6, `GPU ${device} busy`);
    }
    await finish();
  },

  "its timeline is drawn as the server's is, at any zoom": async () => {
    const server = await serve(eager);
    const { page, finish } = await report("drawn.html", eager);
    await visit(page, "timeline");
    const { window_ns } = (await server.api("traces")).traces[0];
    const tracks = (await server.api("tracks?t=0")).groups.flatMap((group) => group.tracks);
    equal((await page.evaluate(() => window.__ridge.state.lanes.sliced.map((track) => [track.id, track.depth]))).sort(), tracks.map((track) => [track.id, track.depth]).sort(), "tracks");
    for (const { id } of tracks.slice(0, 4))
      for (const [from, to] of [[0, window_ns], [Math.round(window_ns / 3), Math.round(window_ns / 3) + 300_000]]) {
        const [here, there] = [await asked(page, "slices", 0, id, from, to, 700), await server.api(`slices?t=0&track=${id}&from=${from}&to=${to}&px=700`)];
        equal([here.from, here.to, here.bucket_ns], [there.from, there.to, there.bucket_ns], "the grid");
        const drawn = ({ depths }) => depths.flatMap(({ depth, slices, buckets }) => [...slices.id.map((each, i) => `${depth}: ${each} at ${slices.start[i]}`), ...buckets.at.map((at, i) => `${depth}: bucket ${at} has ${buckets.count[i]}, ${buckets.busy[i]}`)]);
        const [mine, wanted] = [drawn(here), drawn(there)];
        equal(mine.length, wanted.length, `what track ${id} draws`);
        equal(mine.filter((each, i) => each !== wanted[i]).slice(0, 3), [], `track ${id}`);
      }
    await finish();
  },

  "a report without its slices counts names and offers no sums of areas": async () => {
    const server = await serve(eager);
    const file = join(scratch, "windows.html");
    run_ridge("report", eager, "-o", file);
    const { page, finish } = await open(pathToFileURL(await without_slices(file, server)).href, { offline: true });
    await visit(page, "timeline");
    await page.fill(".tl-tools input", "aten::add_");
    await page.waitForFunction(() => window.__ridge.state.hits);
    const { hits } = await server.api("search?t=0&q=aten::add_&limit=1");
    equal(await page.evaluate(() => window.__ridge.state.hits.hits), hits, "hits");
    check((await page.textContent(".tl-count")).includes("in this report"), `what can be walked to is said: ${await page.textContent(".tl-count")}`);
    await page.keyboard.press("Escape");
    await page.focus(".tl-scroll");
    await page.keyboard.press("Control+a");
    await page.waitForFunction(() => document.querySelector(".tl-panel-body")?.textContent.includes("not in this report"));
    check(!(await page.$(".tl-panel .t-row")), "no sums are shown");
    await finish();
  },

  "every page opens from disk": async () => {
    const { page, finish } = await report("one.html", compiled);
    for (const name of kPages) {
      await visit(page, name);
      check(!(await page.$("main .note[role=alert]")), `${name} shows an error: ${await page.textContent("main")}`);
      check((await page.textContent("main")).trim().length > 40, `${name} is empty`);
      if (["summary", "timeline"].includes(name)) await shoot(page, `report_${name}_light`);
    }
    await finish();
  },

  "its numbers are the command's": async () => {
    const { page, finish } = await report("numbers.html", compiled);
    await visit(page, "kernels");
    const kernels = JSON.parse(run_ridge("kernels", "--json", compiled));
    equal(await page.evaluate(() => window.__ridge.table.rows.map((row) => row[0])), column(kernels, "kernels", "kernel"), "kernels");
    await visit(page, "summary");
    const busy = column(JSON.parse(run_ridge("summary", "--json", compiled)), "summary", "gpu_busy_pct")[0];
    near(parseFloat(await page.textContent(".figure:first-child dd")), busy, 0.06, "GPU busy");
    await finish();
  },

  "its timeline zooms, selects and searches": async () => {
    const { page, finish } = await report("timeline.html", compiled);
    await visit(page, "timeline");
    await page.keyboard.press("w", { delay: 100 });
    await page.fill(".tl-tools input", "triton");
    await page.keyboard.press("Enter");
    await page.waitForFunction(() => window.__ridge.state.hits);
    const hits = await page.evaluate(() => window.__ridge.state.hits.hits);
    if (hits) await page.waitForSelector(".details");
    await finish();
  },

  "two traces have a diff": async () => {
    const { page, finish } = await report("two.html", eager, compiled);
    await visit(page, "kernels", "t=1");
    check((await page.$$(".t-row")).length > 0, "kernels of the second trace");
    await visit(page, "kernels");
    check((await page.$$(".t-row")).length > 0, "kernels of the first trace");
    if (await page.$('.nav-item[href^="#/diff"]')) {
      await visit(page, "diff");
      check((await page.$$(".waterfall .bars-row")).length > 2, "the waterfall has steps");
    }
    await finish();
  },

  "it prints": async () => {
    const { page, finish } = await report("print.html", compiled);
    await visit(page, "everything");
    const pdf = await page.pdf({ format: "A4" });
    check(pdf.length > 20_000, `the print has ${pdf.length} bytes`);
    await finish();
  },

  "on paper no column of a table is cut off": async () => {
    const { page, finish } = await report("paper.html", eager, compiled);
    await page.setViewportSize({ width: 703, height: 1000 }); // A4 within its margins
    for (const name of ["roofline", "gpu", "graphs", "diff"]) {
      await visit(page, name);
      await page.emulateMedia({ media: "print" });
      await page.evaluate(() => window.dispatchEvent(new Event("beforeprint")));
      const over = await page.$$eval(".t-scroll", (all) => all.filter((each) => each.scrollWidth > each.clientWidth + 1).map((each) => each.getAttribute("aria-label")));
      equal(over, [], `tables of ${name} wider than the paper`);
      await page.evaluate(() => window.dispatchEvent(new Event("afterprint")));
      await page.emulateMedia({ media: "screen" });
    }
    await finish();
  },
};
