// The page for everybody and everywhere: axe finds nothing, a telephone shows it all, paper has no blank sheets, a dead server is said.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { inflateSync } from "node:zlib";
import { check, equal, fixture, open, run_ridge, scratch, serve, serve_with, shoot, visit } from "../harness.mjs";
import { make_job } from "../job_traces.mjs";

const compiled = fixture("resnet18_compiled_stack_mem.json.gz");
const long = fixture("gpt_eager_train_stack_mem.json.gz");
const steps = fixture("mlp_profiler_steps.json.gz");
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

const page_names = (page) => page.$$eval(".nav-item", (nodes) => nodes.map((node) => node.getAttribute("href").slice(2).split("?")[0]));

async function faults(page) {
  await page.evaluate(`${axe};undefined`); // what a page's own policy forbids to load is put there by the debugger
  const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"], elementRef: false }));
  return violations.map((each) => `${each.id}: ${each.nodes.length} × ${each.nodes[0].target} ${each.nodes[0].failureSummary?.split("\n")[1] ?? ""}`);
}

async function axe_on_all(scheme) {
  const server = await serve(steps, compiled);
  const { page, finish } = await open(server.url, { colorScheme: scheme });
  await page.waitForSelector(".nav-item");
  const found = [];
  for (const name of await page_names(page)) {
    await visit(page, name, name === "kernels" ? "step=2" : "");
    for (const fault of await faults(page)) found.push(`${name}: ${fault}`);
  }
  await visit(page, "timeline", "a=0-5000000");
  await page.waitForSelector(".area");
  for (const fault of await faults(page)) found.push(`an area: ${fault}`);
  await finish();
  found.push(...(await axe_on_job(scheme)));
  check(!found.length, `axe found:\n    ${found.join("\n    ")}`);
}

// The ranks of a job: the map with its cursor, and a collective on several of them.
async function axe_on_job(scheme) {
  const server = await serve(make_job(join(scratch, `job_${scheme}`)).folder);
  const { page, finish } = await open(server.url, { colorScheme: scheme });
  await visit(page, "ranks");
  await page.focus(".heat");
  const found = (await faults(page)).map((each) => `ranks: ${each}`);
  const { results } = await server.api("search?t=0&q=nccl&limit=10");
  await visit(page, "timeline", `ranks=0.1.2.3&s=${results[0].id}`);
  await page.waitForSelector(".meeting");
  found.push(...(await faults(page)).map((each) => `a collective: ${each}`));
  await finish();
  return found;
}

// How many pieces of text stand on each sheet of a print.
function sheets(pdf) {
  const text = pdf.toString("latin1");
  const sizes = [];
  for (const found of text.matchAll(/\/Type \/Page\b[^]*?\/Contents (\d+) 0 R/g)) {
    const at = text.indexOf(`\n${found[1]} 0 obj`);
    const begin = text.indexOf("stream", at) + "stream".length + (text[text.indexOf("stream", at) + 6] === "\r" ? 2 : 1);
    const content = inflateSync(pdf.subarray(begin, text.indexOf("endstream", begin))).toString("latin1");
    sizes.push((content.match(/\b(Tj|TJ)\b/g) ?? []).length);
  }
  return sizes;
}

export const cases = {
  "axe finds nothing on any page, light": () => axe_on_all("light"),
  "axe finds nothing on any page, dark": () => axe_on_all("dark"),

  "a telephone shows every page, nothing wider than its screen": async () => {
    const server = await serve(steps, compiled);
    const { page, finish } = await open(server.url, { viewport: { width: 390, height: 844 }, hasTouch: true });
    await page.waitForSelector(".nav-item", { state: "attached" }); // behind a button
    const wrong = [];
    for (const name of await page_names(page)) {
      await visit(page, name);
      await shoot(page, `phone_${name}`);
      const widths = await page.evaluate(() => ({
        body: document.documentElement.scrollWidth,
        main: document.querySelector("main").scrollWidth,
        content: document.querySelector("main").getBoundingClientRect().width,
      }));
      if (widths.body > 390) wrong.push(`${name}: the page is ${widths.body} wide`);
      if (widths.main > 390) wrong.push(`${name}: its content is ${widths.main} wide`);
      if (widths.content < 380) wrong.push(`${name}: the content has ${widths.content}`);
      // Every control can be brought to where a finger reaches it.
      const hidden = await page.$$eval("nav a, nav select, nav button, main button, main select, main input", (nodes) =>
        nodes
          .filter((node) => node.checkVisibility() && !node.closest(".t-scroll, details:not([open])"))
          .filter((node) => {
            node.scrollIntoView({ block: "center", inline: "center" });
            const box = node.getBoundingClientRect();
            const over = document.elementFromPoint(box.left + box.width / 2, box.top + box.height / 2);
            return !over || !(node.contains(over) || over.contains(node));
          })
          .map((node) => node.textContent.trim().slice(0, 30) || node.getAttribute("aria-label")),
      );
      if (hidden.length) wrong.push(`${name}: out of reach: ${hidden.join(", ")}`);
    }
    equal(wrong, [], "what does not fit");
    await finish();
  },

  "a print has no blank sheets, nor sheets with nothing but a heading": async () => {
    const file = join(scratch, "sheets.html");
    run_ridge("report", steps, compiled, "-o", file, "-q");
    const wrong = [];
    const print = async (page, name) => {
      await visit(page, name);
      const drawn = sheets(await page.pdf({ format: "A4", preferCSSPageSize: true }));
      check(drawn.length > 0, `${name} has no sheets`);
      if (drawn.length === 1 ? drawn[0] === 0 : Math.min(...drawn) < 9) wrong.push(`${name}: ${drawn} pieces of text`);
    };
    const report = await open(`file://${file}`);
    await report.page.waitForSelector(".nav-item");
    await print(report.page, "everything");
    await print(report.page, "timeline");
    await report.finish();
    const served = await open((await serve(long)).url);
    for (const name of ["summary", "kernels", "gpu", "ops", "health", "memory"]) await print(served.page, name); // tables longer than a sheet
    await served.finish();
    equal(wrong, [], "blank sheets");
  },

  "a server that is gone is said, and its coming back too": async () => {
    const server = await serve_with(["-q"], steps);
    const { page } = await open(server.url);
    await visit(page, "summary");
    check(!(await page.isVisible(".lost")), "nothing is said while it is there");
    server.process.removeAllListeners("exit");
    server.process.kill("SIGKILL");
    await page.waitForSelector(".lost:not([hidden])"); // without a click: the page looks for it by itself
    check((await page.textContent(".lost")).includes("ridge serve"), "it says what to look for");
    await visit(page, "ops");
    check((await page.textContent("main")).includes("does not answer"), "a page that cannot be loaded says so");
    const again = await serve_with(["--port", new URL(server.url).port], steps);
    equal(again.url, server.url, "the same place");
    await page.waitForSelector(".lost", { state: "hidden" });
    await page.waitForFunction(() => document.querySelector("main h1")?.textContent === "Ops");
    await page.context().close();
  },
};
