// What a reader is looking at is said truly: which trace, which part of it, which kernels, and where the other pages are.
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { check, column, equal, fixture, near, open, run_ridge, scratch, serve, serve_with, settle, shoot, visit } from "../harness.mjs";

const steps = fixture("mlp_profiler_steps.json.gz");

async function fills_the_view(page, server, question) {
  const claim = await server.api(question);
  const of = (name) => column(claim, "claim_iterations", name);
  const best = of("time_ns").indexOf(Math.max(...of("time_ns")));
  const [from, to] = [of("start_ns")[best], of("end_ns")[best]];
  await page.waitForFunction(() => window.__ridge?.state?.claim);
  await settle(page);
  const view = await page.evaluate(() => [window.__ridge.state.view.from, window.__ridge.state.view.to]);
  near(view[0], from, (to - from) * 0.05, "the view begins with the claim");
  near(view[1], to, (to - from) * 0.05, "and ends with it");
}

// The name of a trace in the menu, and how much room it has.
const picker = (page) =>
  page.$eval("select.trace-choice", (select) => {
    const style = getComputedStyle(select);
    const pen = document.createElement("canvas").getContext("2d");
    pen.font = `${style.fontSize} ${style.fontFamily}`;
    const text = select.selectedOptions[0].textContent;
    const room = select.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight) - 16; // 16 px: the arrow
    return { text, needs: pen.measureText(text).width, room, height: select.getBoundingClientRect().height };
  });

export const cases = {
  "a finding fills the view, whatever part of the trace is chosen": async () => {
    const server = await serve(steps);
    const { page, finish } = await open(server.url);
    await visit(page, "summary", "step=2");
    await page.evaluate(() => (location.hash = "#/timeline?step=2&f=host_pause"));
    await fills_the_view(page, server, "findings?t=0&step=2&claim=host_pause");
    await finish();
    const narrowed = await serve_with(["--step", "2"], steps);
    const other = await open(`${narrowed.url}#/timeline?f=host_pause`);
    await fills_the_view(other.page, narrowed, "findings?t=0&claim=host_pause");
    // another part that is chosen there is gone to
    const each = (await narrowed.api("traces")).traces[0].iterations.list.find(({ index }) => index === 4);
    await other.page.waitForFunction(() => location.hash.includes("r="));
    await other.page.selectOption("select[aria-label='Part of the trace']", "4");
    await settle(other.page);
    near(await other.page.evaluate(() => window.__ridge.state.view.from), each.start_ns, 0.1 * (each.end_ns - each.start_ns), "the chosen iteration begins the view");
    await other.finish();
  },

  "the head of the summary is of the part that is shown": async () => {
    const server = await serve(steps);
    const first = await open(server.url);
    await visit(first.page, "summary");
    const trace_text = await first.page.textContent(".page-head .lead");
    await visit(first.page, "summary", "step=2");
    const part_text = await first.page.textContent(".page-head .lead");
    await first.finish();
    const [window_ns] = column(await server.api("summary?step=2"), "summary", "window_ns");
    check(/\d+ iterations .*events/.test(trace_text), `of the whole: ${trace_text}`);
    check(part_text.includes(`${(window_ns / 1e6).toFixed(3)} ms window`), `the window of ${window_ns} ns: ${part_text}`);
    check(part_text.includes("one iteration") && !part_text.includes("events"), `of iteration 2: ${part_text}`);
    const narrowed = await serve_with(["--step", "2"], steps);
    const { page, finish } = await open(narrowed.url);
    await visit(page, "summary");
    equal(await page.textContent(".page-head .lead"), part_text, "of a server of iteration 2");
    await finish();
  },

  "the menu and the title say which rank is shown": async () => {
    const ranks = [0, 1, 2, 3].map((rank) => join(scratch, `late_host_of_run_1_rank${rank}.json.gz`));
    ranks.forEach((path, i) => copyFileSync(fixture(`ddp_gloo_rank${i}.json.gz`), path));
    const server = await serve(...ranks);
    const { page, finish } = await open(server.url);
    for (let rank = 0; rank < ranks.length; ++rank) {
      await visit(page, "kernels", rank ? `t=${rank}` : "");
      const { text, needs, room, height } = await picker(page);
      check(text.startsWith("late") && text.endsWith(`rank${rank}`), `the menu says: ${text}`);
      check(needs <= room, `${text} needs ${needs} px of ${room}`);
      equal(height, await page.$eval("select.scope-choice", (select) => select.getBoundingClientRect().height), "its height, as the other picker's");
      const title = await page.title();
      check(title.startsWith(`late_host_of_run_1_rank${rank}`) && title.includes("Kernels"), `the title is: ${title}`);
    }
    check(!(await page.isVisible("nav .menu")), "all pages are in sight: no button for them");
    await shoot(page, "ranks_light");
    await finish();
  },

  "on a telephone a button shows all pages at once": async () => {
    const server = await serve(steps, fixture("gpt_compiled_train.json.gz"));
    const { page, finish } = await open(server.url, { viewport: { width: 390, height: 844 }, hasTouch: true });
    await visit(page, "kernels");
    const strip = await page.$eval("nav", (nav) => [nav.scrollWidth, nav.clientWidth]);
    check(strip[0] <= strip[1], `the menu is ${strip[0]} wide in ${strip[1]}`);
    await page.click("nav .menu");
    equal(await page.getAttribute("nav .menu", "aria-expanded"), "true", "it is open");
    const boxes = await page.$$eval(".nav-item", (items) => items.map((item) => item.getBoundingClientRect().toJSON()));
    check(boxes.length > 8, "the pages are there");
    equal(boxes.filter((box) => !box.width || box.left < 0 || box.right > 390 || box.bottom > 844).length, 0, "pages out of sight");
    await shoot(page, "phone_menu");
    await page.click(".nav-item[href^='#/ops']");
    await page.waitForSelector('html[data-ready="ops"]');
    check(!(await page.isVisible(".nav-item[href^='#/gpu']")), "it closes when a page is chosen");
    check((await page.textContent("nav .menu")).includes("Ops"), "and says which");
    await finish();
  },

  "the kernels that a finding lists have different names": async () => {
    const server = await serve(fixture("pair_pointwise_fault.json.gz"));
    const kernels = await server.api("kernels?t=0");
    const labels = new Set(column(kernels, "kernels", "label"));
    const { page, finish } = await open(`${server.url}#/timeline?f=unfused_pointwise`);
    await page.waitForSelector(".claim .t-row");
    const names = await page.$$eval(".claim .t-row .t-c:first-child", (cells) => cells.map((cell) => cell.textContent));
    check(names.length > 2, `kernels are listed: ${names}`);
    equal(new Set(names).size, names.length, `different names of ${names.join("\n")}`);
    const kernelNames = names.filter((name) => name !== "kernel_gap"); // the pauses before kernels that go
    equal(kernelNames.filter((name) => !labels.has(name.split(" · …")[0])), [], "names that are not the labels of the page of kernels");
    await shoot(page, "finding_labels_light");
    await finish();
  },

  "the roofline tells FLOPs that are none from FLOPs that are not known": async () => {
    const report = JSON.parse(run_ridge("roofline", steps, "--json")).tables.find((table) => table.name === "roofline");
    const at = (name) => report.columns.findIndex((each) => each.name === name);
    const none = report.rows.filter((row) => row[at("flops_per_s")] === 0).sort((a, b) => b[at("time_ns")] - a[at("time_ns")]);
    check(none.length > 2, "kernels with no FLOPs");
    const server = await serve(steps);
    const { page, finish } = await open(server.url);
    await visit(page, "roofline");
    const heads = () => page.$$eval(".card h2", (nodes) => nodes.map((node) => node.textContent));
    check((await heads()).some((head) => head.startsWith("No matrix FLOPs: ")), `cards ${await heads()}`);
    check(!(await heads()).some((head) => /known/.test(head)), `all is known: ${await heads()}`);
    // the same with one whose FLOPs are not known, one of which nothing is, and one that moves no bytes
    await page.route("**/api/v1/roofline*", async (route) => {
      const response = await route.fetch();
      const answer = await response.json();
      const { rows } = answer.tables.find((table) => table.name === "roofline");
      const row_of = (wanted) => rows.find((row) => row[at("kernel")] === wanted[at("kernel")]);
      for (const column of ["intensity", "flops_per_s"]) for (const i of [0, 1]) row_of(none[i])[at(column)] = null;
      row_of(none[1])[at("bytes_per_s")] = null;
      row_of(none[2])[at("bytes_per_s")] = 0;
      await route.fulfill({ response, json: answer });
    });
    await page.reload();
    await page.waitForSelector('html[data-ready="roofline"]');
    const said = await heads();
    check(said.some((head) => /^No matrix FLOPs: .*; FLOPs not known, or not for every launch: /.test(head)), `both are told: ${said}`);
    const card = (begin) => page.$$eval(".card", (cards, begin) => cards.find((each) => each.querySelector("h2")?.textContent.startsWith(begin))?.textContent ?? "", begin);
    check((await card("Neither FLOPs nor bytes known")).includes(none[1][at("label")]), "nothing is known of one");
    const no_bytes = await card("Bytes 0 or not known");
    check(no_bytes.includes(none[2][at("label")]) && no_bytes.includes("no matrix FLOPs, no bytes"), `one moves none: ${no_bytes}`);
    const shares = [...(await page.textContent(".shares")).matchAll(/([\d.]+) %/g)].reduce((sum, each) => sum + Number(each[1]), 0);
    near(shares, 100, 0.5, "the parts add up");
    await finish();
  },
};
