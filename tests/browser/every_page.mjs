// Pictures of every page, light and dark, at 1280x800 and 2560x1440, to be looked at before a release: FOLDER/<name>_<scheme>_<width>.png, by
// default in build/screenshots/every_page. Words after the folder choose pictures by parts of their names.
//   tests/browser/run every_page.mjs [FOLDER [PART_OF_A_NAME...]]
// Fails when a page complains, or when one is wider than the window.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { check, close_all, fixture, frames, open, open_browser, run_ridge, scratch, screenshots, serve, settle, visit } from "./harness.mjs";

const folder = process.argv[2] ?? join(screenshots, "every_page");
const wanted = process.argv.slice(3);
const kSizes = [
  { width: 1280, height: 800 },
  { width: 2560, height: 1440 },
];
const kSchemes = ["light", "dark"];

const compiled = fixture("gpt_compiled_train.json.gz");
const eager = fixture("resnet18_eager_shapes.json.gz");
const memory = fixture("gpt_eager_train_stack_mem.json.gz");
const breaks = fixture("break_datadep_recompile.json.zst");
const cpu_only = fixture("cpu_activity_only.json.gz");

function written(name, text) {
  const file = join(scratch, name);
  writeFileSync(file, text);
  return file;
}
const empty = written("empty.json", '{"schemaVersion":1,"traceEvents":[]}');
const whole = JSON.parse(gunzipSync(readFileSync(compiled)));
const on_device = ({ ph, cat }) => ph === "M" || ["kernel", "gpu_memcpy", "gpu_memset"].includes(cat);
const gpu_only = written("gpu_only.json", JSON.stringify({ ...whole, traceEvents: whole.traceEvents.filter(on_device) }));

function report_of(name, ...traces) {
  const file = join(scratch, name);
  run_ridge("report", ...traces, "-o", file);
  return `file://${file}`;
}

// A kernel in the middle, its launch and the arrow between them.
async function select_a_kernel(page, { api }) {
  const { results } = await api("search?t=0&q=nvjet&limit=200");
  const hit = results[Math.floor(results.length / 2)];
  await visit(page, "timeline", `s=${hit.id}&r=${hit.start_ns - 400000}-${hit.start_ns + 200000}`);
  await page.waitForSelector(".details");
}
async function select_an_area(page, { api }) {
  const { window_ns } = (await api("traces")).traces[0];
  await visit(page, "timeline", `a=${Math.round(window_ns * 0.3)}-${Math.round(window_ns * 0.6)}&m=${Math.round(window_ns * 0.7)}-${Math.round(window_ns * 0.75)}`);
  await page.waitForSelector(".area .t-row");
}
async function search(page) {
  await visit(page, "timeline", "q=triton");
  await page.waitForFunction(() => window.__ridge.state.selection);
}
async function open_help(page) {
  await page.keyboard.press("?");
  await page.waitForSelector("dialog[open]");
}
async function largest_kernel(page, { api }) {
  const { tables } = await api("kernels?t=0");
  const at = tables[0].columns.findIndex((column) => column.name === "kernel");
  await visit(page, "kernel", `name=${encodeURIComponent(tables[0].rows[0][at])}`);
}

// name, traces or the address of a report, page, and what to do before the picture
const kPictures = [
  ["summary", [compiled], "summary"],
  ["summary_eager", [memory], "summary"],
  ["timeline", [compiled], "timeline"],
  ["timeline_kernel", [compiled], "timeline", select_a_kernel],
  ["timeline_area", [compiled], "timeline", select_an_area],
  ["timeline_search", [compiled], "timeline", search],
  ["timeline_breaks", [breaks], "timeline"],
  ["timeline_help", [compiled], "timeline", open_help],
  ["kernels", [eager], "kernels"],
  ["kernel", [eager], "kernels", largest_kernel],
  ["roofline", [eager], "roofline"],
  ["categories", [compiled], "categories"],
  ["gpu", [memory], "gpu"],
  ["ops", [memory], "ops"],
  ["graphs", [breaks], "graphs"],
  ["compile", [breaks], "compile"],
  ["diff", [memory, compiled], "diff"],
  ["health", [compiled], "health"],
  ...["summary", "timeline", "kernels", "roofline", "gpu", "graphs", "compile", "health"].map((page) => [`empty_${page}`, [empty], page]),
  ...["summary", "timeline", "ops", "gpu", "categories"].map((page) => [`cpu_only_${page}`, [cpu_only], page]),
  ...["summary", "timeline", "kernels", "gpu", "ops", "graphs"].map((page) => [`gpu_only_${page}`, [gpu_only], page]),
  ["report_summary", () => report_of("report.html", compiled), "summary"],
  ["report_timeline", () => report_of("report.html", compiled), "timeline"],
  ["report_everything", () => report_of("report.html", compiled), "everything"],
  ["report_diff", () => report_of("diff.html", memory, compiled), "diff"],
];

const reports = new Map();
async function opened(what) {
  if (Array.isArray(what)) return serve(...what);
  const key = String(what);
  if (!reports.has(key)) reports.set(key, what());
  return { url: reports.get(key), offline: true };
}

async function picture([name, what, where, then], scheme, viewport) {
  const server = await opened(what);
  const { page, finish } = await open(server.url, { colorScheme: scheme, viewport, offline: server.offline ?? false });
  await visit(page, where);
  await then?.(page, server);
  if (await page.$(".timeline")) await settle(page);
  await frames(page, 2);
  const [needs, has] = await page.evaluate(() => [document.documentElement.scrollWidth, document.documentElement.clientWidth]);
  check(needs <= has, `the page is ${needs} wide in ${has}`);
  await page.screenshot({ path: join(folder, `${name}_${scheme}_${viewport.width}.png`) });
  await finish();
}

mkdirSync(folder, { recursive: true });
await open_browser();
let failed = 0;
let taken = 0;
for (const row of kPictures) {
  if (wanted.length && !wanted.some((part) => row[0].includes(part))) continue;
  for (const scheme of kSchemes) {
    for (const size of kSizes) {
      try {
        await picture(row, scheme, size);
        ++taken;
      } catch (error) {
        ++failed;
        console.log(`FAIL  ${row[0]} ${scheme} ${size.width}: ${error.message}`);
      }
    }
  }
}
await close_all();
console.log(`${taken} pictures in ${folder}, ${failed} failed`);
process.exit(failed ? 1 : 0);
