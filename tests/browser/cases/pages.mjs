// Every page but the timeline: it opens, and its numbers are the API's.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { after_timers, check, column, equal, fixture, near, open, scratch, serve, shoot, visit } from "../harness.mjs";

const compiled = fixture("resnet18_compiled_stack_mem.json.gz");
const eager = fixture("resnet18_eager_shapes.json.gz");
const broken = fixture("graph_breaks_stack.json.gz");
const kPages = {
  summary: "json.gz",
  kernels: "Kernels",
  roofline: "Roofline",
  categories: "Categories",
  gpu: "GPU and idle",
  ops: "Ops",
  graphs: "Graphs and breaks",
  compile: "Compile",
  health: "Trace health",
};

async function all_pages(scheme) {
  const server = await serve(compiled);
  const { page, finish } = await open(server.url, { colorScheme: scheme });
  for (const [name, title] of Object.entries(kPages)) {
    await visit(page, name);
    const heading = await page.textContent("main h1");
    check(heading.includes(title), `${name} is headed ${heading}`);
    check(!(await page.$("main .note[role=alert]")), `${name} shows an error: ${await page.textContent("main")}`);
    await shoot(page, `${name}_${scheme}`);
  }
  await visit(page, "timeline");
  await shoot(page, `timeline_${scheme}`);
  const dark = await page.evaluate(
    () =>
      getComputedStyle(document.body)
        .backgroundColor.match(/\d+/g)
        .map(Number)
        .reduce((a, b) => a + b) < 200,
  );
  equal(dark, scheme === "dark", "the background is dark");
  await finish();
}

const texts = (page, selector) => page.$$eval(selector, (nodes) => nodes.map((node) => node.textContent.trim()));

export const cases = {
  "each page opens, light": () => all_pages("light"),
  "each page opens, dark": () => all_pages("dark"),

  "every analysis that has no page of its own is listed and opens": async () => {
    const server = await serve(compiled);
    const { page, finish } = await open(server.url);
    const { analyses } = await server.api("traces");
    await page.waitForSelector(".nav-item");
    const hrefs = await page.$$eval(".nav-item", (nodes) => nodes.map((node) => node.getAttribute("href")));
    check(hrefs.includes("#/memory") || !analyses.some((each) => each.name === "memory"), `no entry for memory in ${hrefs}`);
    for (const href of hrefs) {
      await visit(page, href.slice(2));
      check(!(await page.$("main .note[role=alert]:not([hidden])")), `${href} shows an error`);
    }
    await finish();
  },

  "summary shows the API's busy share and links a kernel to the timeline": async () => {
    const server = await serve(compiled);
    const { page, finish } = await open(server.url);
    await visit(page, "summary");
    const busy = column(await server.api("summary"), "summary", "gpu_busy_pct")[0];
    const shown = parseFloat((await texts(page, ".figure:first-child dd"))[0]);
    near(shown, busy, 0.06, "GPU busy");
    await page.click(".names a.bars-row");
    await page.waitForSelector('html[data-ready="kernel"]');
    await page.click("text=Timeline →");
    await page.waitForSelector('html[data-ready="timeline"]');
    await page.waitForFunction(() => window.__ridge?.state?.hits?.hits > 0 && window.__ridge.state.selection);
    await finish();
  },

  "no two parts of the window's bar look alike": async () => {
    const server = await serve(fixture("ddp_gloo_rank0.json.gz")); // it computes, and waits for many reasons
    const { page, finish } = await open(server.url);
    await visit(page, "summary");
    const colours = await page.$$eval(".stack-bar i", (nodes) => nodes.map((node) => getComputedStyle(node).backgroundColor));
    check(colours.length > 3, `the bar has parts: ${colours}`);
    equal(new Set(colours).size, colours.length, "colours");
    await finish();
  },

  "a trace without shapes says why there is no roofline": async () => {
    const server = await serve(fixture("graph_breaks.json.gz"));
    const { page, finish } = await open(server.url);
    const report = await server.api("roofline");
    const [intensity, rate] = [column(report, "roofline", "intensity"), column(report, "roofline", "flops_per_s")];
    equal(intensity.filter((value, i) => value > 0 && rate[i] > 0).length, 0, "kernels to place");
    await visit(page, "roofline");
    equal((await page.$$(".roofline")).length, 0, "empty pictures");
    check((await page.textContent("main")).includes("record_shapes=True"), "what to do");
    check(!(await page.textContent("main")).includes("Work0"), "no work is claimed");
    await finish();
  },

  "findings come first and lead to the timeline": async () => {
    const server = await serve(broken);
    const { analyses } = await server.api("traces");
    if (!analyses.some((each) => each.name === "findings")) return;
    const { page, finish } = await open(server.url);
    await visit(page, "summary");
    const found = column(await server.api("findings"), "findings", "finding");
    equal(await page.$$eval(".finding", (nodes) => nodes.length), found.length, "findings");
    if (found.length) {
      const first = await page.$eval("main .card h2", (node) => node.textContent);
      check(first.startsWith("Findings"), `the first card is ${first}`);
      check((await page.$$(".finding a[href^='#/timeline']")).length > 0, "no finding leads to the timeline");
    }
    await finish();
  },

  "kernels sort, filter and open the timeline": async () => {
    const server = await serve(compiled);
    const { page, finish } = await open(server.url);
    await visit(page, "kernels");
    const report = await server.api("kernels");
    const counts = column(report, "kernels", "count");
    const shown = () => page.evaluate(() => window.__ridge.table.rows.map((row) => row.slice(0, 6)));
    equal((await shown()).length, counts.length, "rows");
    await page.click('[data-column="count"]');
    equal(
      (await shown()).map((row) => row[4]),
      [...counts].sort((a, b) => b - a),
      "counts downwards",
    );
    await page.click('[data-column="count"]');
    equal(
      (await shown()).map((row) => row[4]),
      [...counts].sort((a, b) => a - b),
      "counts upwards",
    );
    equal(await page.getAttribute(".t-h:has([data-column=count])", "aria-sort"), "ascending", "aria-sort");
    await page.fill("input[aria-label='Filter rows']", "triton_red");
    const wanted = report.tables[0].rows.filter((row) =>
      row.some((cell) => typeof cell === "string" && cell.toLowerCase().includes("triton_red")),
    ).length;
    check(wanted > 0, "the fixture has triton_red kernels");
    equal((await shown()).length, wanted, "filtered rows");
    const total_nodes = await page.$$eval(".t-row", (nodes) => nodes.length);
    check(total_nodes < 60, `${total_nodes} rows are in the page`);
    const kernel = (await shown())[0][0];
    await page.click(".t-row:first-child .t-c:nth-child(3)");
    await page.waitForFunction(() => window.__ridge?.state?.hits);
    const hits = await page.evaluate(() => window.__ridge.state.hits.hits);
    equal(hits, (await server.api(`search?t=0&q=${encodeURIComponent(`=${kernel}`)}&limit=1`)).hits, "hits of the kernel");
    await finish();
  },

  "a kernel's name opens its page, with the API's figures, and from there the timeline": async () => {
    const server = await serve(eager);
    const { page, finish } = await open(server.url);
    await visit(page, "kernels");
    const kernels = await server.api("kernels");
    const largest = column(kernels, "kernels", "kernel")[0];
    await page.click(".t-row:first-child a");
    await page.waitForSelector('html[data-ready="kernel"]');
    equal(await page.evaluate(() => new URLSearchParams(location.hash.split("?")[1]).get("name")), largest, "the name in the URL");
    equal(await page.getAttribute('.nav-item[href="#/kernels"]', "aria-current"), "page", "the menu shows where one is");
    const report = await server.api(`kernel?name=${encodeURIComponent(largest)}`);
    check((await page.textContent("main .pairs")).includes(largest), "the whole name");
    const shown = await texts(page, ".bars-text");
    const counts = column(report, "durations", "count");
    equal(shown.map((each) => parseInt(each.replaceAll(",", ""), 10)), counts, "the histogram");
    equal(
      counts.reduce((sum, each) => sum + each, 0),
      column(report, "kernel", "count")[0],
      "launches in the histogram",
    );
    await shoot(page, "kernel_light");
    await page.click("text=Timeline →");
    await page.waitForFunction(() => window.__ridge?.state?.hits?.hits > 0 && window.__ridge.state.selection);
    await finish();
  },

  "a page that was left while it was slow does not cover the next one": async () => {
    const server = await serve(eager);
    let release = null;
    let asked = null;
    const released = new Promise((done) => (release = done));
    const { page, finish } = await open(server.url, {
      before: async (page) => {
        asked = page.waitForRequest("**/api/v1/summary*");
        await page.route("**/api/v1/summary*", async (route) => {
          await released;
          await route.continue().catch(() => {}); // the page may have given it up
        });
      },
    });
    await asked;
    await visit(page, "kernels");
    await after_timers(page, 400); // longer than a page is waited for in silence
    check((await page.$$(".t-row")).length > 0, `the page shows: ${await page.textContent("main")}`);
    release();
    await finish();
  },

  "a table fills its box on a tall screen": async () => {
    const server = await serve(compiled);
    const { page, finish } = await open(server.url, { viewport: { width: 1600, height: 1600 } });
    await visit(page, "kernels");
    const least = await page.$eval(".t-scroll", (box) => Math.floor(box.clientHeight / 28) - 2);
    check(least > 30, `the box has room for ${least} rows`);
    await page.waitForFunction((wanted) => document.querySelectorAll(".t-row").length >= wanted, least);
    await finish();
  },

  "ops by keyboard": async () => {
    const server = await serve(eager);
    const { page, finish } = await open(server.url);
    await visit(page, "ops");
    await page.focus(".t-scroll");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await page.waitForSelector('html[data-ready="timeline"]');
    await finish();
  },

  "categories are the API's": async () => {
    const server = await serve(compiled);
    const { page, finish } = await open(server.url);
    await visit(page, "categories");
    equal(await texts(page, ".category-name"), column(await server.api("categories"), "categories", "category"), "categories");
    await page.click(".category");
    check(await page.isVisible(".category-kernels"), "a category opens");
    await finish();
  },

  "a roofline places every kernel, and says which share of the time is where": async () => {
    for (const path of [eager, fixture("omni_eager_double.json.gz")]) {
      const server = await serve(path);
      const { page, finish } = await open(server.url);
      await visit(page, "roofline");
      const report = await server.api("roofline");
      const of = (name) => column(report, "roofline", name);
      const under = of("intensity").map((value, i) => value > 0 && of("flops_per_s")[i] > 0);
      const moved = under.map((known, i) => !known && of("bytes_per_s")[i] > 0);
      const count = (flags) => flags.filter(Boolean).length;
      equal(await page.$$eval(".roofline:not(.by-bandwidth) .dot", (nodes) => nodes.length), count(under), "dots under the roofs");
      equal(await page.$$eval(".by-bandwidth .dot", (nodes) => nodes.length), count(moved), "dots on the bandwidth axis");
      const left = under.length - count(under) - count(moved);
      equal((await page.$$eval(".unplaced a", (nodes) => nodes.length)) > 0, left > 0, `${left} kernels in the list`);
      const shares = [...(await page.textContent(".shares")).matchAll(/([0-9.]+) %/g)].map((each) => Number(each[1]));
      near(shares.reduce((sum, each) => sum + each, 0), 100, 0.3, `shares: ${shares}`);
      await shoot(page, `roofline_${path === eager ? "eager" : "omni"}_light`);
      const kernel = await page.getAttribute(".dot", "data-kernel");
      await page.focus(".dot");
      await page.keyboard.press("Enter");
      await page.waitForSelector('html[data-ready="kernel"]');
      check((await page.textContent("main .pairs")).includes(kernel), "the page of that kernel");
      await finish();
    }
  },

  "the region tree follows the breaks": async () => {
    const server = await serve(broken);
    const { page, finish } = await open(server.url);
    await visit(page, "graphs");
    const regions = column(await server.api("breaks"), "regions", "id");
    equal(await page.$$eval(".tree-row b", (nodes) => nodes.map((node) => node.textContent).sort()), [...regions].sort(), "regions");
    await shoot(page, "graphs_breaks_light");
    const calls = column(await server.api("breaks"), "breaks", "occurrences");
    await page.click(".t-row:first-child a"); // a break leads to where its frame resumes
    await page.waitForFunction(() => window.__ridge?.state?.hits && window.__ridge.state.selection);
    equal(await page.evaluate(() => window.__ridge.state.hits.hits), calls[0], "occurrences on the timeline");
    await finish();
  },

  "two traces: a choice of trace and a diff": async () => {
    const server = await serve(eager, compiled);
    const { page, finish } = await open(server.url);
    await visit(page, "kernels", "t=1");
    const second = await server.api("kernels?t=1");
    equal(await page.evaluate(() => window.__ridge.table.rows.length), second.tables[0].rows.length, "kernels of the second trace");
    if ((await server.api("traces")).analyses.some((each) => each.name === "diff")) {
      await visit(page, "diff");
      check(!(await page.$("main .note[role=alert]")), `diff shows an error: ${await page.textContent("main")}`);
      check((await page.$$(".waterfall .bars-row")).length > 2, "the waterfall has steps");
      await shoot(page, "diff_light");
    }
    await finish();
  },

  "what two traces without a device do not tell is not 0": async () => {
    const host = fixture("cpu_activity_only.json.gz");
    const server = await serve(host, host);
    const { page, finish } = await open(server.url);
    await visit(page, "diff");
    const totals = (await server.api("diff")).tables.find((table) => table.name === "totals");
    const shown = await texts(page, ".figures .figure dd:not(.figure-note)");
    equal(shown.length, totals.rows.length, "figures");
    const at = totals.columns.findIndex((column) => column.name === "time_b_ns");
    const unknown = totals.rows.map((row) => row[at] === null);
    check(unknown.includes(true), "no device, no device time");
    equal(shown.map((text) => !/[0-9]/.test(text)), unknown, `what is shown: ${shown}`);
    await finish();
  },

  "each problem of a damaged trace is said once": async () => {
    const whole = gunzipSync(readFileSync(compiled));
    const path = join(scratch, "cut.json");
    writeFileSync(path, whole.subarray(0, Math.floor(whole.length / 2)));
    const server = await serve(path);
    const { page, finish } = await open(server.url);
    await visit(page, "health");
    const problems = column(await server.api("check"), "check", "problem");
    check(problems.includes("truncated_json"), `the cut is noticed: ${problems}`);
    equal((await texts(page, "main .note b")).sort(), [...problems].sort(), "problems");
    await visit(page, "timeline");
    await shoot(page, "timeline_damaged");
    await finish();
  },

  "a trace without device events": async () => {
    const server = await serve(fixture("cpu_activity_only.json.gz"));
    const { page, finish } = await open(server.url);
    for (const name of ["summary", "timeline", "kernels", "ops", "gpu", "categories", "graphs", "compile", "health"]) {
      await visit(page, name);
      check(!(await page.$("main .note[role=alert]")), `${name} shows an error`);
    }
    await finish();
  },

  "a large screen": async () => {
    const server = await serve(compiled);
    const { page, finish } = await open(server.url, { viewport: { width: 2560, height: 1300 } });
    for (const name of ["summary", "timeline"]) {
      await visit(page, name);
      await shoot(page, `${name}_large`);
    }
    const wider = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
    check(!wider, "the page is wider than the screen");
    await finish();
  },

  "a table is copied as it stands: the rows that the filter leaves, in their order, with exact numbers": async () => {
    const server = await serve(fixture("resnet18_eager_shapes.json.gz"));
    for (const trusted of [true, false]) {
      const { page, finish } = await open(server.url, { permissions: ["clipboard-read", "clipboard-write"] });
      await visit(page, "kernels", "filter=bn_");
      if (!trusted) await page.evaluate(() => Object.defineProperty(navigator, "clipboard", { value: undefined })); // as on a page of another host
      await page.evaluate(() => {
        document.addEventListener("copy", (event) => (window.heard = event.target.value ?? null));
      });
      await page.click(".t-tools .btn:has-text('Copy')");
      await page.waitForSelector(".t-tools .btn:has-text('Copied')");
      const text = trusted ? await page.evaluate(() => navigator.clipboard.readText()) : await page.evaluate(() => window.heard);
      const lines = text.trimEnd().split("\n").map((line) => line.split("\t"));
      const report = await server.api("kernels?t=0");
      const names = report.tables[0].columns.map((each) => each.name);
      const wanted = report.tables[0].rows.filter((row) => row.some((value) => typeof value === "string" && value.includes("bn_")));
      check(wanted.length > 2, "some rows are left");
      equal(lines.length, wanted.length + 1, "lines");
      const at = lines[0].indexOf("time_ns");
      check(at > 0 && lines[0].every((name) => names.includes(name)), `columns ${lines[0]}`);
      const times = wanted.map((row) => row[names.indexOf("time_ns")]).sort((a, b) => b - a);
      equal(lines.slice(1).map((line) => Number(line[at])), times, "times in ns");
      check(!(await page.$("textarea")), "nothing is left behind");
      await finish();
    }
  },
};
