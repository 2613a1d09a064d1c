// What the browser tests stand on: a served trace, a page that notes every error and every request, and checks that say what differed.
import { spawn, execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

const here = dirname(fileURLToPath(import.meta.url));
export const ridge = process.env.RIDGE;
export const screenshots = process.env.SCREENSHOTS;
export const fixture = (name) => join(here, "../fixtures", name);

export const scratch = mkdtempSync(join(tmpdir(), "ridge-browser-"));
process.on("exit", () => rmSync(scratch, { recursive: true, force: true }));

const kPatience_ms = 20_000; // for a busy machine; nothing here takes a second on an idle one
let browser = null;
const servers = new Map();

export async function open_browser() {
  browser = await chromium.launch({
    executablePath: process.env.CHROMIUM,
    args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"],
  });
}

export async function close_all() {
  await browser?.close();
  for (const { process } of servers.values()) process.kill("SIGTERM");
}

// A running `ridge serve` on these traces, started once and shared by the cases.
export async function serve(...paths) {
  const key = paths.join("\n");
  if (!servers.has(key)) servers.set(key, await start(paths));
  return servers.get(key);
}

// One with flags of its own, for one case.
export async function serve_with(flags, ...paths) {
  const server = await start([...flags, ...paths]);
  servers.set(server, server);
  return server;
}

function start(words) {
  const port = words.includes("--port") ? [] : ["--port", "0"];
  const process = spawn(ridge, ["serve", ...port, ...words], { stdio: ["ignore", "pipe", "pipe"] });
  return new Promise((resolve, reject) => {
    let said = "";
    const listen = (data) => {
      said += data;
      const url = /http:\/\/\S+/.exec(said)?.[0];
      if (url) resolve({ url, process, api: (path) => ask(url, path) });
    };
    process.stdout.on("data", listen);
    process.stderr.on("data", (data) => (said += data));
    process.on("exit", (code) => reject(new Error(`ridge serve ended with ${code}: ${said}`)));
  });
}

async function ask(url, path) {
  const response = await fetch(new URL(`api/v1/${path}`, url));
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return response.json();
}

export function run_ridge(...words) {
  return execFileSync(ridge, words, { maxBuffer: 1 << 28, stdio: ["ignore", "pipe", "pipe"] }).toString();
}

// A page in a context of its own; `options.before` meets it before it goes anywhere. `finish` closes it and fails if anything went wrong in it, or if it asked another host for something.
export async function open(url, { before, ...options } = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, reducedMotion: "reduce", ...options });
  if (options.offline) await context.setOffline(true);
  const page = await context.newPage();
  page.setDefaultTimeout(kPatience_ms);
  const wrong = [];
  page.on("console", (message) => ["error", "warning"].includes(message.type()) && wrong.push(`console: ${message.text()}`));
  page.on("pageerror", (error) => wrong.push(`error: ${error.message}`));
  page.on("dialog", (dialog) => {
    wrong.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on("request", (request) => {
    const asked = request.url();
    if (!asked.startsWith("data:") && new URL(asked).origin !== new URL(url).origin) wrong.push(`request to ${asked}`);
    if (url.startsWith("file:") && asked.startsWith("file:") && asked.split("#")[0] !== url.split("#")[0])
      wrong.push(`request to ${asked}`);
  });
  await before?.(page);
  await page.goto(url);
  const finish = async () => {
    await context.close();
    check(wrong.length === 0, `the page complained:\n    ${wrong.join("\n    ")}`);
  };
  return { page, finish };
}

// Goes to a page of the application and waits until it is there.
export async function visit(page, name, parameters = "") {
  await page.evaluate(
    (hash) => {
      delete document.documentElement.dataset.ready;
      if (location.hash === hash) window.dispatchEvent(new HashChangeEvent("hashchange"));
      else location.hash = hash;
    },
    `#/${name}${parameters ? `?${parameters}` : ""}`,
  );
  await page.waitForSelector(`html[data-ready="${name}"]`);
  if (await page.$(".timeline")) await settle(page); // a trace without slices has none
}

// Until the timeline has drawn all it asked for.
export async function settle(page) {
  await page.waitForFunction(() => {
    const ridge = window.__ridge;
    return ridge?.stats?.frames > 0 && ridge.state.tiles.loading === 0 && !ridge.state.moving && !ridge.stats.pending;
  });
  await frames(page, 2);
}

// Until every timer that the page has set so far, for up to `ms`, has run: timers run in the order of their ends, however slow the machine is.
export const after_timers = (page, ms) => page.evaluate((wait) => new Promise((done) => setTimeout(done, wait)), ms);

export async function frames(page, count) {
  for (let i = 0; i < count; ++i) await page.evaluate(() => new Promise((done) => requestAnimationFrame(done)));
}

export async function shoot(page, name) {
  mkdirSync(screenshots, { recursive: true });
  await page.screenshot({ path: join(screenshots, `${name}.png`) });
}

export function check(holds, message) {
  if (!holds) throw new Error(message);
}
export function equal(found, wanted, what) {
  const [a, b] = [JSON.stringify(found), JSON.stringify(wanted)];
  check(a === b, `${what}: found ${a}, wanted ${b}`);
}
export function near(found, wanted, tolerance, what) {
  check(Math.abs(found - wanted) <= tolerance, `${what}: found ${found}, wanted ${wanted} within ${tolerance}`);
}

// The value of a column in the rows of a report's table.
export function column(report, table, name) {
  const found = report.tables.find((each) => each.name === table);
  const at = found.columns.findIndex((each) => each.name === name);
  return found.rows.map((row) => row[at]);
}
