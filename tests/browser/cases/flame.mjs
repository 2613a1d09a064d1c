// The flame graph of a selected area: the API's tree, widths as times, a click makes a part the whole.
import { check, equal, fixture, near, open, serve, shoot, visit } from "../harness.mjs";

const stacks = fixture("gpt_eager_train_stack_mem.json.gz");

export const cases = {
  "an area has a flame graph": async () => {
    const server = await serve(stacks);
    const { page, finish } = await open(server.url);
    const window_ns = (await server.api("traces")).traces[0].window_ns;
    const [from, to] = [Math.round(window_ns / 4), Math.round(window_ns / 2)];
    const { nodes } = await server.api(`flame?t=0&from=${from}&to=${to}`);
    const tracks = nodes.filter((node) => node.parent === null);
    check(nodes.length > 50 && tracks.length > 1, "the area holds something");
    const names = (await server.api(`area?t=0&from=${from}&to=${to}`)).by_name;
    const sums = new Map();
    for (const node of nodes) if (node.parent !== null) sums.set(node.name, (sums.get(node.name) ?? 0) + node.count);
    for (const row of names.slice(0, 5)) check(sums.has(row.name), `${row.name} is in the tree`);
    await visit(page, "timeline", `a=${from}-${to}`);
    await page.click("text=Flame graph");
    await page.waitForSelector(".area-flame .flame-cell");
    const cells = () => page.$$eval(".area-flame .flame-cell", (all) => all.map((each) => [each.getAttribute("aria-label"), parseFloat(each.style.width.replace("calc(", "")), each.getAttribute("aria-level")]));
    const shown = await cells();
    const whole = tracks.reduce((sum, node) => sum + node.total_ns, 0);
    const largest = tracks.reduce((a, b) => (a.total_ns > b.total_ns ? a : b));
    const widest = Math.max(...shown.filter(([, , level]) => level === "2").map(([, width]) => width));
    near(widest, (100 * largest.total_ns) / whole, 0.5, "the widest track");
    await shoot(page, "area_flame");
    const deep = await page.$$(".area-flame .flame-cell[aria-level='3']");
    const label = await deep[0].getAttribute("aria-label");
    await deep[0].click();
    equal((await cells())[0].slice(0, 2), [label, 100], "what was clicked is the whole width");
    await finish();
  },

  "an area becomes what every page shows": async () => {
    const server = await serve(stacks);
    const { page, finish } = await open(server.url);
    await visit(page, "timeline", "a=2000000-9500000");
    await page.click("text=Analyse this time");
    await page.waitForSelector('html[data-ready="summary"]');
    check((await page.textContent(".scope-note")).includes("from 2 ms to 9.5 ms"), `it says: ${await page.textContent(".scope-note")}`);
    await finish();
  },
};
