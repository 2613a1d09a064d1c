// Filters of tables: plain texts, regular expressions as the server reads them, and none that stops the page.
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { check, equal, fixture, open, run_ridge, scratch, serve, visit } from "../harness.mjs";

const eager = fixture("resnet18_eager_shapes.json.gz");
const kForever = "/^(\\w+)+!$/"; // a backtracking engine never ends on a long name
const box = "input[aria-label='Filter rows']";

async function caption(page, part) {
  await page.waitForFunction((text) => document.querySelector(".t-tools .muted")?.textContent.includes(text), part);
  return page.textContent(".t-tools .muted");
}

export const cases = {
  "an expression filters by the server's rules, in linear time": async () => {
    const server = await serve(eager);
    const { page, finish } = await open(server.url);
    await visit(page, "kernels");
    const all = (await server.api("kernels?t=0")).tables[0].rows;
    const wanted = all.filter((row) => row.some((cell) => typeof cell === "string" && /nchw.*kernel/i.test(cell))).length;
    check(wanted > 0 && wanted < all.length, "some rows match");
    await page.fill(box, "/(?i)NCHW.*Kernel/"); // (?i) is RE2's, no browser's
    await caption(page, `${wanted} of ${all.length} rows`);
    equal(await page.evaluate(() => window.__ridge.table.rows.length), wanted, "rows");
    await page.fill(box, kForever);
    await caption(page, `0 of ${all.length} rows`);
    await finish();
  },

  "an equals sign asks for a whole name": async () => {
    const server = await serve(eager);
    const { page, finish } = await open(server.url);
    await visit(page, "ops");
    const all = (await server.api("ops?t=0")).tables[0].rows;
    const rows = (wanted) => all.filter((row) => row.some((cell) => typeof cell === "string" && wanted(cell))).length;
    const [part, whole] = [rows((cell) => cell.includes("aten::empty")), rows((cell) => cell === "aten::empty")];
    check(part > whole && whole === 1, `${part} rows hold the name, ${whole} is it`);
    await page.fill(box, "aten::empty");
    await caption(page, `${part} of ${all.length} rows`);
    await page.fill(box, "=aten::empty");
    await caption(page, `${whole} of ${all.length} rows`);
    await page.fill(box, "="); // a name is about to be typed
    await caption(page, `${all.length} rows`);
    await finish();
  },

  "a bad expression says so, and the rows stay": async () => {
    const server = await serve(eager);
    const { page, finish } = await open(server.url);
    await visit(page, "kernels");
    const rows = (await server.api("kernels?t=0")).tables[0].rows.length;
    await page.fill(box, "/nchw(/");
    await caption(page, "not a valid regular expression");
    equal(await page.getAttribute(box, "aria-invalid"), "true", "the box is marked");
    equal(await page.evaluate(() => window.__ridge.table.rows.length), rows, "rows");
    await page.fill(box, "nchw(");
    await caption(page, "0 of");
    await finish().catch((error) => check(/status of 400/.test(error.message), error.message));
  },

  "in a report an expression that takes forever is given up, and the page goes on": async () => {
    const file = join(scratch, "filters.html");
    run_ridge("report", eager, "-o", file);
    const { page, finish } = await open(pathToFileURL(file).href, { offline: true });
    await visit(page, "kernels");
    const rows = await page.evaluate(() => window.__ridge.table.rows.length);
    await page.fill(box, "/nchw.*kernel/");
    await page.waitForFunction((all) => window.__ridge.table.rows.length < all, rows);
    check((await page.evaluate(() => window.__ridge.table.rows.length)) > 0, "some rows match");
    await page.fill(box, "/^(\\w+\\s?)+!$/");
    await caption(page, "takes longer");
    equal(await page.evaluate(() => 6 * 7), 42, "the page answers");
    await page.fill(box, "/(/");
    await caption(page, "Not a valid regular expression");
    await visit(page, "timeline");
    await page.fill(".tl-tools input", "re:^aten::conv2d$");
    await page.waitForFunction(() => window.__ridge.state.hits);
    const calls = JSON.parse(run_ridge("ops", "--json", eager)).tables[0];
    const at = (name) => calls.columns.findIndex((each) => each.name === name);
    equal(await page.evaluate(() => window.__ridge.state.hits.hits), calls.rows.find((row) => row[at("op")] === "aten::conv2d")[at("count")], "hits of an expression");
    await finish();
  },
};
