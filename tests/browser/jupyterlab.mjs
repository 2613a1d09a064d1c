// The notebook of examples/ in JupyterLab itself: opened, every cell run, and what each shows looked at. By hand, since JupyterLab is 100 MB:
//   tests/browser/run jupyterlab.mjs PYTHON [NOTEBOOK]     PYTHON: of an environment with jupyterlab, ridge, pandas, polars and duckdb
// Pictures of every output go to build/screenshots.
import { spawn } from "node:child_process";
import { cpSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";
import { check, scratch, screenshots } from "./harness.mjs";

const examples = fileURLToPath(new URL("../../examples", import.meta.url));
const [python, given] = process.argv.slice(2);
const notebook = resolve(given ?? join(examples, "first_look.ipynb"));
const kPatience_ms = 120_000;

// All cells are kept in the page, also those far from the window.
const settings = join(scratch, "settings", "@jupyterlab", "notebook-extension");

function start_lab(folder) {
  mkdirSync(settings, { recursive: true });
  writeFileSync(join(settings, "tracker.jupyterlab-settings"), '{"windowingMode": "none"}');
  const places = { JUPYTER_CONFIG_DIR: join(scratch, "config"), JUPYTERLAB_SETTINGS_DIR: join(scratch, "settings") };
  const flags = ["--no-browser", "--port=0", "--ip=127.0.0.1", "--allow-root", "--IdentityProvider.token=t", `--ServerApp.root_dir=${folder}`];
  const lab = spawn(python, ["-m", "jupyterlab", ...flags], { stdio: ["ignore", "pipe", "pipe"], env: { ...process.env, ...places } });
  return new Promise((done, failed) => {
    let said = "";
    const listen = (data) => {
      said += data;
      const url = /http:\/\/127\.0\.0\.1:(\d+)\/lab/.exec(said);
      if (url) done({ lab, url: `http://127.0.0.1:${url[1]}` });
    };
    lab.stdout.on("data", listen);
    lab.stderr.on("data", listen);
    lab.on("exit", (code) => failed(new Error(`JupyterLab ended with ${code}:\n${said}`)));
  });
}

// What a cell shows: tables with rows, drawings, a frame whose viewer has drawn.
async function outputs_of(cell) {
  const text = await cell.$$eval(".jp-OutputArea-output", (nodes) => nodes.map((node) => node.textContent).join(" "));
  return {
    source: (await cell.$eval(".cm-content", (node) => node.innerText)).trim(),
    rows: (await cell.$$(".jp-OutputArea-output tbody tr")).length,
    pictures: (await cell.$$(".jp-OutputArea-output svg")).length,
    frames: (await cell.$$(".jp-OutputArea-output iframe")).length,
    turned: (await cell.$$eval(".ridge td.text", (nodes) => nodes.filter((node) => getComputedStyle(node).textAlign !== "left"))).length,
    failed: (await cell.$$('[data-mime-type="application/vnd.jupyter.stderr"], [data-mime-type="application/vnd.jupyter.error"]')).length > 0,
    text: text.slice(0, 60).replaceAll(/\s+/g, " "),
  };
}

async function viewer_in(page) {
  const until = Date.now() + kPatience_ms;
  for (;;) {
    for (const frame of page.frames()) {
      const drawn = await frame.evaluate(() => window.__ridge?.stats?.frames > 0 && document.documentElement.dataset.ready).catch(() => null);
      if (drawn === "timeline") return frame;
    }
    check(Date.now() < until, "no viewer in any frame");
    await page.waitForTimeout(300);
  }
}

// Beside the notebook lies what it reads.
const folder = join(scratch, "lab");
cpSync(dirname(notebook), join(folder, "examples"), { recursive: true });
symlinkSync(fileURLToPath(new URL("..", import.meta.url)), join(folder, "tests"));
mkdirSync(screenshots, { recursive: true });
const { lab, url } = await start_lab(folder);
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"] });
try {
  const page = await browser.newPage({ viewport: { width: 1400, height: 1000 } });
  page.setDefaultTimeout(kPatience_ms);
  await page.goto(`${url}/lab/tree/examples/${basename(notebook)}?token=t`);
  await page.waitForSelector(".jp-NotebookPanel .jp-CodeCell");
  // What is run before the kernel is there is not run at all, and nothing says so.
  for (let asked = 0; asked < 10 && !(await page.evaluate(() => /\[[\d*]+\]/.test(document.querySelector(".jp-CodeCell .jp-InputPrompt").textContent))); ++asked) {
    await page.waitForFunction(() => /\| Idle/.test(document.querySelector("#jp-main-statusbar")?.textContent ?? ""));
    await page.click('.lm-MenuBar-itemLabel:text-is("Run")');
    await page.click('.lm-Menu-itemLabel:text-is("Run All Cells")');
    await page.waitForTimeout(5000);
  }
  const count = await page.evaluate(() => document.querySelectorAll(".jp-Notebook .jp-Cell").length);
  const shown = { tables: 0, pictures: 0, viewers: 0 };
  for (let i = 0; i < count; ++i) {
    const cell = page.locator(`.jp-Notebook .jp-Cell`).nth(i);
    await cell.scrollIntoViewIfNeeded();
    const handle = await cell.elementHandle();
    if (!(await handle.evaluate((node) => node.classList.contains("jp-CodeCell")))) continue;
    // A cell that has run has its number.
    await page.waitForFunction((node) => /\[\d+\]/.test(node.querySelector(".jp-InputPrompt")?.textContent ?? ""), handle);
    if (await handle.$("iframe")) {
      await viewer_in(page);
      ++shown.viewers;
    }
    const found = await outputs_of(handle);
    console.log(JSON.stringify(found));
    check(!found.failed, `a cell failed: ${found.source}`);
    check(!found.turned, "texts begin at the left");
    if (found.rows) ++shown.tables;
    if (found.pictures) ++shown.pictures;
    await handle.screenshot({ path: join(screenshots, `jupyterlab_${String(i).padStart(2, "0")}.png`) });
  }
  console.log(`${shown.tables} tables, ${shown.pictures} pictures, ${shown.viewers} viewers`);
  check(shown.tables && shown.pictures && shown.viewers, "a table, a picture and the viewer are shown");
} catch (error) {
  for (const page of browser.contexts().flatMap((each) => each.pages())) await page.screenshot({ path: join(screenshots, "jupyterlab_failed.png") });
  throw error;
} finally {
  await browser.close();
  lab.removeAllListeners("exit");
  lab.kill("SIGTERM");
}
