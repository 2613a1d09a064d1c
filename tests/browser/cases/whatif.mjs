// Step and what-if: switches change the step that is shown, and its figures are the API's.
import { check, equal, fixture, open, serve, shoot, visit } from "../harness.mjs";

const encoder = fixture("pair_launch_encoder_fault.json.gz");

const row_of = (report, name) => {
  const table = report.tables[0];
  const row = table.rows.find((each) => each[0] === name);
  return Object.fromEntries(table.columns.map((column, i) => [column.name, row[i]]));
};
const bar = (page, label) =>
  page.$$eval(
    ".bars-row",
    (rows, wanted) => rows.find((row) => row.querySelector(".bars-label").textContent === wanted)?.querySelector(".bars-text").textContent ?? null,
    label,
  );
const toggle = async (page, change) => {
  await page.click(`.whatif-row:has(.whatif-name:text-is("${change}")) input`);
};

// The saving that is shown is the API's.
const saves = (page, row) =>
  page.waitForFunction(
    (percent) => Math.abs(parseFloat(document.querySelector(".whatif-saves")?.textContent.replace(/^\D+/, "") ?? "NaN") - percent) < 0.06,
    row.saves_pct,
  );

export const cases = {
  "a change that is switched on shortens the step, and off again it does not": async () => {
    const server = await serve(encoder);
    const { page, finish } = await open(server.url);
    await visit(page, "whatif");
    await page.waitForSelector(".whatif-row");
    equal(await bar(page, "with the changes"), null, "nothing is on");
    await toggle(page, "cuda-graphs");
    const graphs = row_of(await server.api("whatif?do=cuda-graphs"), "cuda-graphs");
    await saves(page, graphs);
    check((await bar(page, "with the changes")) !== null, "the step with the change is shown");
    await shoot(page, "whatif");
    await toggle(page, "host=0.8x");
    const both = row_of(await server.api("whatif?do=cuda-graphs&do=host%3D0.8x"), "together");
    await saves(page, both);
    await toggle(page, "cuda-graphs");
    await toggle(page, "host=0.8x");
    await page.waitForFunction(() => !document.querySelector(".whatif-saves"));
    await finish();
  },

  "a change of one's own is added, and a wrong one is refused in words": async () => {
    const server = await serve(encoder);
    const { page, finish } = await open(server.url);
    await visit(page, "whatif");
    await page.waitForSelector(".whatif-input");
    await page.fill(".whatif-input", "kernle:x=0.5x");
    await page.press(".whatif-input", "Enter");
    await page.waitForSelector("main .note[role=alert]:not([hidden])");
    check((await page.textContent("main .note[role=alert]")).includes("kernel"), "the nearest name is told");
    await page.fill(".whatif-input", "op:aten::linear,x|aten::gelu=0.5x");
    await page.press(".whatif-input", "Enter");
    const own = row_of(await server.api(`whatif?do=${encodeURIComponent("op:aten::linear,x|aten::gelu=0.5x")}`), "op:aten::linear,x|aten::gelu=0.5x");
    await saves(page, own);
    await finish().catch((error) => check(/status of 400/.test(error.message), error.message)); // the browser notes the refusal
  },

  "what only an autotuner launched is nothing to change": async () => {
    const server = await serve(fixture("autotune_own.json.gz"));
    const { page, finish } = await open(server.url);
    await visit(page, "whatif");
    await page.waitForSelector(".whatif-row");
    const rows = await page.$$eval(".whatif-row", (all) =>
      all.map((row) => ({ change: row.querySelector(".whatif-name").textContent, text: row.querySelector(".num").textContent, off: row.querySelector("input").disabled })),
    );
    const fills = rows.filter(({ change }) => change.startsWith("kernel:") && change.includes("Fill"));
    equal(fills.length > 0 && fills.every(({ text, off }) => text === "nothing to change" && off), true, JSON.stringify(rows));
    const own = rows.find(({ change }) => change.includes("scaled_add"));
    check(own && !own.off && own.text.startsWith("saves"), JSON.stringify(own));
    await finish();
  },

  "the critical path is listed and adds up": async () => {
    const server = await serve(encoder);
    const { page, finish } = await open(server.url);
    await visit(page, "whatif");
    const text = await page.textContent("main");
    check(text.includes("Critical path"), "it is there");
    const table = (await server.api("critical")).tables[0];
    const at = table.columns.findIndex((column) => column.name === "time_ns");
    equal(
      table.rows.reduce((sum, row) => sum + row[at], 0),
      table.total[at],
      "its pieces",
    );
    await finish();
  },
};
