// The pictures of the README and the documents, from real traces of tests/fixtures: FOLDER/<page>.png, and <page>_dark.png for some.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { close_all, fixture, frames, open, open_browser, serve, settle, visit } from "./harness.mjs";

const folder = process.argv[2] ?? "docs/images";
mkdirSync(folder, { recursive: true });

const compiled = [fixture("gpt_compiled_train.json.gz")];
const eager = [fixture("resnet18_eager_shapes.json.gz")];

const job = [fixture("../../examples/job")];
const mended = fixture("../../examples/job_mended");
const slow = 6; // a rank of it whose device is slow

// name, traces, page, parameters, scheme, and what to do before the picture
const kPictures = [
  ["summary", compiled, "summary", "", "light"],
  ["timeline", compiled, "timeline", "", "light", zoom_to_a_kernel],
  ["timeline_dark", compiled, "timeline", "", "dark", zoom_to_a_kernel],
  ["roofline", eager, "roofline", "", "light"],
  ["ranks", job, "ranks", "", "light"],
  ["job_diff", ["--before", ...job, mended], "job_diff", "", "light"],
  ["ranks_collective", job, "timeline", `t=${slow}&ranks=6.4.5.7`, "light", select_a_collective],
];

// A kernel, its launch and the arrow between them.
async function zoom_to_a_kernel(page, server) {
  const { results } = await server.api("search?t=0&q=nvjet&limit=200");
  const hit = results[Math.floor(results.length / 2)];
  const slice = await server.api(`slice?t=0&id=${hit.id}`);
  await visit(page, "timeline", `s=${hit.id}&r=${slice.start_ns - 400000}-${slice.start_ns + 200000}`);
  await page.waitForSelector(".details");
  await settle(page);
}

// The collective for which the slow rank made its tensor-parallel group wait longest.
async function select_a_collective(page, server) {
  const [table] = (await server.api(`arrivals?rank=${slow}`)).tables;
  const at = (row, name) => row[table.columns.findIndex((each) => each.name === name)];
  const late = table.rows.filter((row) => at(row, "rank") === slow && at(row, "expected") === 4).sort((a, b) => at(b, "after_ns") - at(a, "after_ns"))[0];
  const [first] = (await server.api("traces")).traces[slow].iterations.list;
  const { results } = await server.api(`search?t=${slow}&q=ncclDevKernel&limit=1000`);
  const hit = results.find((each) => each.start_ns === first.start_ns + at(late, "own_start_ns"));
  const start = hit.start_ns + (await page.evaluate(() => window.__ridge.state.alignment[0].shift_ns));
  await visit(page, "timeline", `t=${slow}&ranks=6.4.5.7&s=${hit.id}&r=${start - 500000}-${start + 300000}`);
  await page.waitForSelector(".meeting");
  await settle(page);
}

await open_browser();
for (const [name, traces, where, parameters, scheme, then] of kPictures) {
  const server = await serve(...traces);
  const { page, finish } = await open(server.url, { colorScheme: scheme, viewport: { width: 1280, height: 760 } });
  await visit(page, where, parameters);
  await then?.(page, server);
  await frames(page, 2);
  await page.screenshot({ path: join(folder, `${name}.png`) });
  await finish();
  console.log(join(folder, `${name}.png`));
}
await close_all();
process.exit(0);
