// The part of the trace that is shown: chosen on any page, carried by every link, the server's own until another is chosen.
import { check, column, equal, fixture, open, serve, serve_with, settle, visit } from "../harness.mjs";

const steps = fixture("mlp_profiler_steps.json.gz");
const kPages = ["summary", "kernels", "roofline", "categories", "gpu", "ops", "graphs", "compile", "health", "copies"];

const total = (report) => column(report, "kernels", "count").reduce((a, b) => a + b, 0);
const shown_total = (page) => page.evaluate(() => window.__ridge.table.rows.reduce((sum, row) => sum + row[4], 0));

export const cases = {
  "an iteration is chosen on any page, and every page asks for it": async () => {
    const server = await serve(steps);
    const { iterations } = (await server.api("traces")).traces[0];
    check(iterations.list.length > 2, "the trace has iterations");
    const step = iterations.list[1].index;
    const { page, finish } = await open(server.url);
    const asked = [];
    page.on("request", (request) => asked.push(request.url()));
    for (const name of kPages) {
      await visit(page, name);
      check(await page.$("select[aria-label='Part of the trace']"), `${name} has no picker`);
      asked.length = 0;
      await page.evaluate(() => delete document.documentElement.dataset.ready);
      await page.selectOption("select[aria-label='Part of the trace']", String(step));
      await page.waitForSelector(`html[data-ready="${name}"]`);
      check(!(await page.$("main .note[role=alert]")), `${name} shows an error: ${await page.textContent("main")}`);
      check((await page.textContent(".scope-note")).includes(`iteration ${step}`), `${name} says what it shows`);
      const analyses = asked.filter((url) => /api\/v1\/(?!traces|tracks|marks|overview|slice|area)/.test(url));
      check(analyses.length > 0, `${name} asked for nothing`);
      equal(analyses.filter((url) => !url.includes(`step=${step}`)), [], `questions of ${name} about another part`);
      await page.selectOption("select[aria-label='Part of the trace']", "");
      await page.waitForFunction(() => !document.querySelector(".scope-note"));
    }
    await finish();
  },

  "a click on an iteration's bar chooses it, with Shift a run; the tables are the command's": async () => {
    const server = await serve(steps);
    const list = (await server.api("traces")).traces[0].iterations.list;
    const { page, finish } = await open(server.url);
    await visit(page, "kernels");
    equal(await shown_total(page), total(await server.api("kernels")), "launches of the whole trace");
    await page.click(`.scope-strip [data-step="${list[1].index}"]`);
    await page.waitForSelector(".scope-note");
    equal(await shown_total(page), total(await server.api(`kernels?step=${list[1].index}`)), "launches of one iteration");
    await page.click(`.scope-strip [data-step="${list[2].index}"]`, { modifiers: ["Shift"] });
    await page.waitForFunction(() => document.querySelector(".scope-note")?.textContent.includes("iterations"));
    equal(await shown_total(page), total(await server.api(`kernels?step=${list[1].index}-${list[2].index}`)), "launches of two");
    equal((await page.$$(".scope-strip .chosen")).length, 2, "bars that are marked");
    await page.click(".nav-item[href^='#/ops']");
    await page.waitForSelector('html[data-ready="ops"]');
    check((await page.textContent(".scope-note")).includes("iterations"), "the next page shows the same part");
    check(page.url().includes(`step=${list[1].index}-${list[2].index}`), `the URL says it: ${page.url()}`);
    await page.goBack();
    await page.waitForSelector('html[data-ready="kernels"]');
    await page.click(".scope-note button");
    await page.waitForFunction(() => !document.querySelector(".scope-note"));
    equal(await shown_total(page), total(await server.api("kernels")), "launches of the whole trace again");
    await finish();
  },

  "a range of time is a part too": async () => {
    const server = await serve(steps);
    const { page, finish } = await open(server.url);
    await visit(page, "kernels");
    await page.click(".scope-time summary");
    await page.fill("input[aria-label='from ms']", "2");
    await page.fill("input[aria-label='to ms']", "9.5");
    await page.press("input[aria-label='to ms']", "Enter");
    await page.waitForSelector(".scope-note");
    check((await page.textContent(".scope-note")).includes("from 2 ms to 9.5 ms"), "it is said");
    equal(await shown_total(page), total(await server.api("kernels?from=2&to=9.5")), "launches in it");
    await finish();
  },

  "the timeline goes where the chosen iteration is": async () => {
    const server = await serve(steps);
    const each = (await server.api("traces")).traces[0].iterations.list[2];
    const { page, finish } = await open(server.url);
    await visit(page, "timeline", `step=${each.index}`);
    const range = () => page.evaluate(() => [window.__ridge.state.view.from, window.__ridge.state.view.to]);
    const near = ([from, to]) => Math.abs(from - each.start_ns) < 0.1 * (each.end_ns - each.start_ns) && Math.abs(to - each.end_ns) < 0.1 * (each.end_ns - each.start_ns);
    check(near(await range()), `it shows ${await range()}, not ${[each.start_ns, each.end_ns]}`);
    await page.selectOption("select[aria-label='Part of the trace']", "");
    await settle(page);
    check(!near(await range()), "the whole trace again");
    await finish();
  },

  "a finding on an open timeline is asked of the part that is chosen there": async () => {
    const server = await serve(fixture("fault_item_sync.json.gz"));
    const id = "host_sync";
    const { list } = (await server.api("traces")).traces[0].iterations;
    const sum = async (part) => column(await server.api(`findings?t=0&claim=${id}${part}`), "claim_iterations", "time_ns").reduce((a, b) => a + b, 0);
    const [of_all, of_one] = [await sum(""), await sum(`&step=${list[1].index}`)];
    check(of_one > 0 && of_one < of_all, `an iteration claims ${of_one} of ${of_all}`);
    const { page, finish } = await open(server.url);
    await visit(page, "timeline", `f=${id}`);
    const claims = (time) => page.waitForFunction((wanted) => window.__ridge.state.claim?.total_ns === wanted, time, { timeout: 20000 });
    await claims(of_all);
    await page.selectOption("select[aria-label='Part of the trace']", String(list[1].index));
    await claims(of_one);
    await page.selectOption("select[aria-label='Part of the trace']", "");
    await claims(of_all);
    await finish();
  },

  "a link keeps its finding while that is asked for": async () => {
    const server = await serve(fixture("fault_item_sync.json.gz"));
    const { page, finish } = await open(server.url);
    let answer;
    const answered = new Promise((done) => (answer = done));
    await page.route("**/api/v1/findings?*", async (route) => {
      await answered;
      await route.continue();
    });
    await page.goto(`${server.url}#/timeline?f=host_sync`);
    await page.waitForFunction(() => window.__ridge?.state?.view);
    await page.keyboard.press("w"); // the view moves, so that the address is written
    await page.waitForFunction(() => /[?&]r=/.test(location.hash), null, { timeout: 20000 });
    check(await page.evaluate(() => /[?&]f=host_sync/.test(location.hash)), `the address has become ${await page.evaluate(() => location.hash)}`);
    answer();
    await page.waitForFunction(() => window.__ridge.state.claim?.id === "host_sync", null, { timeout: 20000 });
    await finish();
  },

  "a timeline that is asked for twice at once keeps its finding in the address": async () => {
    const server = await serve(fixture("fault_item_sync.json.gz"));
    const { page, finish } = await open(server.url);
    await page.waitForSelector('html[data-ready="summary"]');
    const addresses = await page.evaluate(async () => {
      const seen = [];
      const write = history.replaceState;
      history.replaceState = (...words) => (write.apply(history, words), seen.push(location.hash));
      location.hash = "#/timeline?f=host_sync";
      window.dispatchEvent(new HashChangeEvent("hashchange")); // a second time, before the first page is made
      while (window.__ridge?.state?.claim?.id !== "host_sync") await new Promise(requestAnimationFrame);
      return [...seen, location.hash];
    });
    for (const each of addresses) check(/[?&]f=host_sync/.test(each), `the address has become ${each}`);
    await finish();
  },

  "what the server was given holds, and can be taken back": async () => {
    const server = await serve(steps);
    const step = (await server.api("traces")).traces[0].iterations.list[1].index;
    const narrowed = await serve_with(["--step", String(step)], steps);
    equal((await narrowed.api("traces")).scope, { step: String(step) }, "the scope is told");
    equal(total(await narrowed.api("kernels")), total(await server.api(`kernels?step=${step}`)), "scripts get it too");
    equal(total(await narrowed.api("kernels?step=")), total(await server.api("kernels")), "and can take it back");
    const { page, finish } = await open(narrowed.url);
    await visit(page, "kernels");
    check((await page.textContent(".scope-note")).includes(`iteration ${step}`), "the page says it");
    equal(await shown_total(page), total(await server.api(`kernels?step=${step}`)), "launches of the iteration");
    await page.selectOption("select[aria-label='Part of the trace']", "");
    await page.waitForFunction(() => !document.querySelector(".scope-note"));
    equal(await shown_total(page), total(await server.api("kernels")), "launches of the whole trace");
    await page.click(".nav-item[href^='#/summary']");
    await page.waitForSelector('html[data-ready="summary"]');
    check(!(await page.$(".scope-note")), "the next page shows the whole trace too");
    await finish();
  },
};
