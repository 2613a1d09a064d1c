// report.html from disk, without a network: the same pages, the same numbers, nothing asked for.
import { statSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { check, column, equal, fixture, near, open, run_ridge, scratch, shoot, visit } from "../harness.mjs";

const compiled = fixture("resnet18_compiled_stack_mem.json.gz");
const eager = fixture("resnet18_eager_shapes.json.gz");
const kPages = ["summary", "timeline", "everything", "kernels", "roofline", "categories", "gpu", "ops", "graphs", "compile", "health"];

async function report(name, ...traces) {
  const file = join(scratch, name);
  run_ridge("report", ...traces, "-o", file);
  check(statSync(file).size < 3_000_000, `${name} is ${statSync(file).size} bytes`);
  return open(pathToFileURL(file).href, { offline: true });
}

export const cases = {
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
