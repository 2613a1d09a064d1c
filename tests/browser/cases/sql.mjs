// The page of SQL: tables and columns, completion, rows that lead to the timeline, what was asked before, export, errors.
import { readFileSync } from "node:fs";
import { check, column, equal, fixture, open, serve, visit } from "../harness.mjs";

const kTrace = fixture("mlp_profiler_steps.json.gz");
const start = async () => {
  const { url, api } = await serve(kTrace);
  const { page, finish } = await open(url);
  await visit(page, "sql");
  return { page, finish, api };
};
const ask = async (page, query) => {
  await page.fill(".sql-query", query);
  await page.press(".sql-query", "Control+Enter");
  await page.waitForFunction(() => document.querySelector(".sql-answer h2, .sql-answer .error"));
};

export const cases = {
  "the box shows the whole of the first query": async () => {
    const { page, finish } = await start();
    const [whole, seen] = await page.$eval(".sql-query", (box) => [box.scrollHeight, box.clientHeight]);
    check(whole <= seen, `the query is ${whole} high in ${seen}`);
    await finish();
  },

  "a query is answered with the server's rows, which lead to the timeline": async () => {
    const { page, finish, api } = await start();
    const query = "select id, name, dur from slice where category = 'kernel' order by dur desc, id limit 3";
    await ask(page, query);
    equal(await page.textContent(".sql-answer h2"), "3 rows", "rows");
    const names = column(await api(`sql?query=${encodeURIComponent(query)}`), "sql", "name");
    const text = await page.textContent(".sql-answer");
    for (const name of names) check(text.includes(name.slice(0, 40)), `${name} is shown`);
    check(new URL(page.url()).hash.includes("query="), "the query is in the address");
    await page.click(".sql-answer .t-row.opens");
    await page.waitForSelector('html[data-ready="timeline"]');
    await finish();
  },

  "names are completed and inserted": async () => {
    const { page, finish } = await start();
    await page.fill(".sql-query", "");
    await page.type(".sql-query", "select count(*) from kernels_by_o");
    await page.press(".sql-query", "Tab");
    equal(await page.inputValue(".sql-query"), "select count(*) from kernels_by_op", "completed");
    const tables = await page.$$eval(".sql-table > .btn", (all) => all.map((each) => each.textContent));
    for (const name of ["slice", "events", "kernels", "gpu_idle"]) check(tables.includes(name), `${name} is listed`);
    await finish();
  },

  "errors say what to do, and what was asked before is kept": async () => {
    const { page, finish } = await start();
    await ask(page, "select nam from slice");
    check((await page.textContent(".sql-answer .error")).includes("name"), "the nearest name");
    await ask(page, "select 41 + 1 as answer");
    await page.waitForFunction(() => document.querySelector(".sql-answer h2")?.textContent === "1 row");
    equal(await page.$$eval(".sql-past", (all) => all.map((each) => each.textContent)), ["select 41 + 1 as answer"], "only what was answered");
    const [file] = await Promise.all([page.waitForEvent("download"), page.click("text=Download CSV")]);
    equal(readFileSync(await file.path(), "utf8"), "answer\n42\n", "exported");
    await finish().catch((error) => check(/status of 400/.test(error.message), error.message)); // the browser notes the refusal
  },
};
