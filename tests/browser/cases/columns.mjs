// Columns of tables: they are resized by mouse and keys, and sort and widths are there again when the page is.
import { check, equal, fixture, open, serve, visit } from "../harness.mjs";

const compiled = fixture("resnet18_compiled_stack_mem.json.gz");
const width = (page, name) => page.$eval(`.t-h:has([data-column=${name}])`, (head) => Math.round(head.getBoundingClientRect().width));
const cell = (page, nth) => page.$eval(`.t-row > :nth-child(${nth})`, (node) => Math.round(node.getBoundingClientRect().width));

export const cases = {
  "a column is as wide as it is dragged, and stays so": async () => {
    const server = await serve(compiled);
    const { page, finish } = await open(server.url);
    await visit(page, "kernels");
    const before = await width(page, "category");
    const box = await (await page.$(".t-h:has([data-column=category]) .t-grip")).boundingBox();
    await page.mouse.move(box.x + box.width / 2, box.y + 8);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width / 2 + 70, box.y + 8, { steps: 4 });
    await page.mouse.up();
    equal(await width(page, "category"), before + 70, "dragged");
    equal(await cell(page, 2), before + 70, "its cells");
    equal(await page.getAttribute(".t-h:has([data-column=category])", "aria-sort"), "none", "a drag does not sort");
    await page.focus("[data-column=category]");
    await page.keyboard.press("Shift+ArrowLeft");
    equal(await width(page, "category"), before + 54, "by a key");
    await visit(page, "ops");
    await visit(page, "kernels");
    equal(await width(page, "category"), before + 54, "there again");
    await page.dblclick(".t-h:has([data-column=category]) .t-grip");
    equal(await width(page, "category"), before, "as at first");
    await finish();
  },

  "the sort is kept when the page is left, and when the tab is loaded again": async () => {
    const server = await serve(compiled);
    const { page, finish } = await open(server.url);
    await visit(page, "kernels");
    await page.click("[data-column=count]");
    await page.click("[data-column=count]");
    const counts = () => page.evaluate(() => window.__ridge.table.rows.map((row) => row[4]));
    const wanted = [...(await counts())].sort((a, b) => a - b);
    equal(await counts(), wanted, "upwards");
    await visit(page, "summary");
    await visit(page, "kernels");
    equal(await counts(), wanted, "when it is opened again");
    await page.reload();
    await page.waitForSelector('html[data-ready="kernels"]');
    equal(await counts(), wanted, "when the tab is loaded again");
    await visit(page, "ops");
    check((await page.getAttribute(".t-h:has([data-column=count])", "aria-sort")) === "none", "another table has its own");
    await finish();
  },
};
