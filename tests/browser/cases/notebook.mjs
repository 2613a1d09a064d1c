// The viewer as a cell of a notebook shows it: the element that Python's `t.timeline()` makes, inside a page that is not ours.
import { execFileSync } from "node:child_process";
import { statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { check, column, equal, fixture, open, run_ridge, scratch, settle, shoot, visit } from "../harness.mjs";

const trace = fixture("resnet18_compiled_stack_mem.json.gz");
const maker = fileURLToPath(new URL("../../../python/ridge/_frame.py", import.meta.url));

// What VS Code allows in a notebook's outputs where `notebook.experimental.enableCsp` is set; nothing is forbidden there unless it is.
const strictest =
  "default-src 'none'; script-src 'self' 'unsafe-inline' 'unsafe-eval'; style-src 'self' 'unsafe-inline'; img-src 'self' https: http: data:; " +
  "font-src 'self' https:; connect-src https:; child-src https: data:;";

// A notebook's page with the viewer in it; gives the viewer's own document.
async function shown(name, policy) {
  const report = join(scratch, `${name}.html`);
  run_ridge("report", trace, "-o", report);
  const script = "import runpy, sys; print(runpy.run_path(sys.argv[1])['frame'](open(sys.argv[2], encoding='utf-8').read(), 640))";
  const element = execFileSync("python3", ["-c", script, maker, report], { maxBuffer: 1 << 28 }).toString();
  const notebook = join(scratch, `${name}_notebook.html`);
  const head = `<meta charset="utf-8">${policy ? `<meta http-equiv="Content-Security-Policy" content="${policy}">` : ""}`;
  writeFileSync(notebook, `<!doctype html><html><head>${head}</head><body>${element}</body></html>`);
  check(statSync(notebook).size > 2.5e6, "as much as no address may hold: Chromium's have 2 MiB at most");
  const { page, finish } = await open(pathToFileURL(notebook).href);
  const viewer = await viewer_in(page);
  return { page, viewer, finish };
}

// The innermost frame, once the timeline is there.
async function viewer_in(page) {
  const until = Date.now() + 20_000;
  for (;;) {
    const frame = page.frames().at(-1);
    const ready = await frame.evaluate(() => document.documentElement.dataset.ready ?? null).catch(() => null);
    if (ready === "timeline") return frame;
    check(Date.now() < until, `no timeline; frames: ${page.frames().map((each) => each.url().slice(0, 40)).join(", ")}`);
    await page.waitForTimeout(100);
  }
}

export const cases = {
  "a report larger than an address may be shows its timeline": async () => {
    const { page, viewer, finish } = await shown("large", "");
    await settle(viewer);
    check((await viewer.$$("canvas")).length > 1, "the timeline is drawn");
    equal(await viewer.evaluate(() => location.hash.split("?")[0]), "#/timeline", "its place");
    equal(await viewer.evaluate(() => document.documentElement.scrollHeight <= innerHeight), true, "it fits into the cell");
    await shoot(page, "notebook_frame");
    await visit(viewer, "kernels");
    const kernels = JSON.parse(run_ridge("kernels", "--json", trace));
    equal(await viewer.evaluate(() => window.__ridge.table.rows.map((row) => row[0])), column(kernels, "kernels", "kernel"), "kernels, on a page of their own");
    const found = await viewer.evaluate(
      () =>
        new Promise((done) => {
          const worker = new Worker(URL.createObjectURL(new Blob(["postMessage(7)"], { type: "text/javascript" })));
          worker.addEventListener("message", (event) => done(event.data));
          worker.addEventListener("error", () => done("none"));
        }),
    );
    equal(found, 7, "the worker that searches by expressions may run");
    equal(page.url().includes("#"), false, "the notebook's own address is left alone");
    await finish();
  },

  "it shows under the policy of VS Code's outputs, and reaches nothing of the notebook": async () => {
    const { viewer, finish } = await shown("strict", strictest);
    await settle(viewer);
    await visit(viewer, "summary");
    const reached = await viewer.evaluate(() => {
      try {
        return String(top.document.title);
      } catch (error) {
        return error.name;
      }
    });
    equal(reached, "SecurityError", "the notebook's document");
    await finish();
  },
};
