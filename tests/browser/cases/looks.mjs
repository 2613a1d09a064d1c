// What a reader sees at 1280 pixels: nothing cut off without a word, no page that is empty or says what is not so.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { check, equal, fixture, open, scratch, serve, shoot, visit } from "../harness.mjs";

async function opened(trace, where, parameters) {
  const server = await serve(trace);
  const { page, finish } = await open(server.url);
  await visit(page, where, parameters);
  return { server, page, finish };
}

export const cases = {
  "every kind of mark has its name in the toolbar": async () => {
    const { server, page, finish } = await opened(fixture("break_datadep_recompile.json.zst"), "timeline");
    const kinds = new Set((await server.api("marks?t=0")).marks.map((mark) => mark.kind).filter((kind) => kind !== "iteration"));
    equal(kinds.size, 4, "kinds of marks in this trace");
    const right = await page.$eval(".tl-tools .btn[aria-pressed]", (button) => button.getBoundingClientRect().left);
    const ends = await page.$$eval(".tl-kinds .legend-item", (items) => items.map((item) => item.getBoundingClientRect().right));
    equal(ends.length, 4, "names");
    check(Math.max(...ends) <= right, `a name ends at ${Math.max(...ends)}, the next button begins at ${right}`);
    const bar = await page.$eval(".tl-tools", (node) => [node.scrollWidth, node.clientWidth]);
    check(bar[0] <= bar[1], `the toolbar is ${bar[0]} wide in ${bar[1]}`);
    await shoot(page, "timeline_marks_light");
    await finish();
  },

  "a trace without device work says so, and shows what it has": async () => {
    const { server, page, finish } = await opened(fixture("cpu_activity_only.json.gz"), "summary");
    const ops = (await server.api("summary")).tables.find((table) => table.name === "top_ops");
    const at = ops.columns.findIndex((column) => column.name === "cpu_self_ns");
    check(ops.rows[0][at] > 0, "the first op took time");
    const first = await page.textContent(".names .bars-row .bars-text");
    check(/^[0-9.]+ .?s/.test(first.trim()), `the first op's time reads: ${first}`);
    await visit(page, "roofline");
    const empty = await page.textContent("main .empty");
    check(!empty.includes("record_shapes"), `shapes would not help: ${empty}`);
    await visit(page, "categories");
    check((await page.textContent("main .empty")).trim().length > 10, "the page says that there is nothing");
    await finish();
  },

  "a trace of the device alone claims nothing about launches": async () => {
    const whole = JSON.parse(gunzipSync(readFileSync(fixture("gpt_compiled_train.json.gz"))));
    whole.traceEvents = whole.traceEvents.filter((event) => event.ph === "M" || ["kernel", "gpu_memcpy", "gpu_memset"].includes(event.cat));
    const file = join(scratch, "device_only.json");
    writeFileSync(file, JSON.stringify(whole));
    const { page, finish } = await opened(file, "gpu");
    const text = await page.textContent("main");
    check(text.includes("has no launches"), "the page says what is missing");
    check(!text.includes("Queue depth"), "nothing is said of the queue");
    const cut = await page.$$eval(".t-c", (cells) => cells.filter((cell) => cell.textContent.length < 12 && cell.scrollWidth > cell.clientWidth).map((cell) => cell.textContent));
    equal(cut, [], "short words that are cut off");
    await finish();
  },

  "a table that goes on to the right fades there, until its last column is in sight": async () => {
    const { page, finish } = await opened(fixture("resnet18_eager_shapes.json.gz"), "kernels");
    check(await page.$(".t-scroll.cut"), "columns are out of sight");
    await page.$eval(".t-scroll", (node) => node.scrollTo({ left: 1e6 }));
    await page.waitForSelector(".t-scroll:not(.cut)");
    await finish();
  },

  "on a large screen numbers stand beside their names": async () => {
    const { page, finish } = await opened(fixture("gpt_eager_train_stack_mem.json.gz"), "ops");
    await page.setViewportSize({ width: 2560, height: 1440 });
    const [name, count] = await page.$$eval(".t-head .t-h", (heads) => heads.slice(0, 2).map((head) => head.getBoundingClientRect().toJSON()));
    const longest = Math.max(...(await page.$$eval(".t-row .t-c:first-child a", (links) => links.map((link) => link.getBoundingClientRect().width))));
    check(name.width < 1.6 * longest + 60, `the names need ${longest} of ${name.width}`);
    check(count.left >= name.right - 1, "the columns follow each other");
    await shoot(page, "ops_large_light");
    await finish();
  },

  "the names of roofs stand where no kernel can be": async () => {
    const { page, finish } = await opened(fixture("resnet18_compiled_stack_mem.json.gz"), "roofline");
    const [names, dots] = await page.evaluate(() => {
      const boxes = (query) => [...document.querySelectorAll(query)].map((node) => node.getBoundingClientRect().toJSON());
      return [boxes(".roof-name:not([transform])"), boxes(".dot")];
    });
    check(names.length > 1 && dots.length > 10, "roofs and kernels are there");
    const over = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
    for (const name of names) check(!dots.some((dot) => over(name, dot)), "a dot lies on the name of a roof");
    check((await page.textContent(".roofline")).includes("memory 4.8 TB/s"), "the slope has its name");
    await finish();
  },
};
