// Without a mouse, and for a screen reader: every page can be walked through, what has the focus stays in sight, and roles say what things are.
import { check, column, equal, fixture, open, serve, settle, visit } from "../harness.mjs";

const eager = fixture("resnet18_eager_shapes.json.gz");
const compiled = fixture("resnet18_compiled_stack_mem.json.gz");
const kPages = ["summary", "timeline", "kernels", "roofline", "categories", "gpu", "ops", "graphs", "compile", "health"];

async function opened(where, trace = eager) {
  const server = await serve(trace);
  const { page, finish } = await open(server.url);
  if (where) await visit(page, where);
  return { server, page, finish };
}

const focused = (page) =>
  page.evaluate(() => {
    const { activeElement: node } = document;
    return { tag: node.tagName, class: node.getAttribute("class") ?? "", href: node.getAttribute("href"), label: node.getAttribute("aria-label") };
  });

export const cases = {
  "whatever can be clicked has a name, and roles stand where they may": async () => {
    const { page, finish } = await opened(null, compiled);
    for (const name of kPages) {
      await visit(page, name);
      const wrong = await page.evaluate(() => {
        const found = [];
        const named = (node) => node.getAttribute("aria-label") || node.textContent.trim() || node.getAttribute("title") || node.labels?.length;
        for (const node of document.querySelectorAll("button, a[href], input, select, [role=link], [role=grid], [role=tree], [role=img]"))
          if (!named(node)) found.push(`no name: ${node.outerHTML.slice(0, 100)}`);
        const homes = { row: "grid,rowgroup,[role=grid]", gridcell: "[role=row]", columnheader: "[role=row]", treeitem: "[role=tree]", listitem: "[role=list]" };
        for (const [role, home] of Object.entries(homes))
          for (const node of document.querySelectorAll(`[role=${role}]`)) if (!node.parentElement.closest(home)) found.push(`${role} outside of ${home}`);
        for (const node of document.querySelectorAll("a[href][role]")) if (node.getAttribute("role") === "listitem") found.push("a link that is called an item");
        const ids = [...document.querySelectorAll("[id]")].map((node) => node.id);
        if (new Set(ids).size !== ids.length) found.push("an id stands twice");
        if (document.querySelectorAll("main h1").length > 1) found.push("two main headings");
        return found;
      });
      equal(wrong, [], name);
    }
    await finish();
  },

  "the menu keeps the focus, a link that was followed gives it to the page": async () => {
    const { page, finish } = await opened("summary");
    await page.focus('.nav-item[href="#/kernels"]');
    await page.keyboard.press("Enter");
    await page.waitForSelector('main[data-page="kernels"]');
    equal((await focused(page)).href, "#/kernels", "the focus after a choice in the menu");
    await visit(page, "summary");
    await page.focus(".names a.bars-row");
    await page.keyboard.press("Enter");
    await page.waitForSelector('main[data-page="kernel"]');
    equal((await focused(page)).tag, "MAIN", "the focus after a link");
    await finish();
  },

  "a table is walked, sorted and opened": async () => {
    const { server, page, finish } = await opened("kernels");
    const kernels = column(await server.api("kernels"), "kernels", "kernel");
    await page.focus('[data-column="count"]');
    await page.keyboard.press("Enter");
    equal(await page.evaluate(() => document.activeElement.dataset.column), "count", "the focus after sorting");
    equal(await page.getAttribute(".t-h:has([data-column=count])", "aria-sort"), "descending", "sorted");
    await page.focus('[data-column="time_ns"]');
    await page.keyboard.press("Enter");
    await page.focus(".t-scroll");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowDown");
    const active = await page.getAttribute(".t-scroll", "aria-activedescendant");
    equal(await page.getAttribute(`#${active}`, "aria-selected"), "true", "the row that the grid names is the chosen one");
    await page.keyboard.press("Shift+Enter");
    await page.waitForSelector('main[data-page="kernel"]');
    equal(await page.evaluate(() => new URLSearchParams(location.hash.split("?")[1]).get("name")), kernels[1], "the page of the second kernel");
    await finish();
  },

  "Enter on the head of a table sorts and opens nothing": async () => {
    const { page, finish } = await opened("ops");
    await page.focus(".t-scroll");
    await page.keyboard.press("ArrowDown");
    await page.focus('[data-column="count"]');
    await page.keyboard.press("Enter");
    equal(await page.getAttribute(".t-h:has([data-column=count])", "aria-sort"), "descending", "sorted");
    check((await page.evaluate(() => location.hash)).startsWith("#/ops"), "the page is still the same");
    await finish();
  },

  "the dots of each picture of the roofline are one stop, and the arrows tell each": async () => {
    const { page, finish } = await opened("roofline");
    const stops = await page.evaluate(() => [...document.querySelectorAll("svg:has(.dot)")].map((picture) => picture.querySelectorAll(".dot[tabindex='0']").length));
    check(stops.length > 0 && stops.every((each) => each === 1), `stops of the Tab key in each picture: ${stops}`);
    await page.focus(".dot");
    await page.keyboard.press("ArrowRight");
    const at = await page.evaluate(() => [...document.querySelectorAll(".dot")].indexOf(document.activeElement));
    equal(at, 1, "the dot that has the focus");
    check(await page.isVisible(".tooltip"), "what it is, is shown");
    check((await focused(page)).label.includes("of its roof"), "and said");
    await finish();
  },

  "a curve is read with the arrows and leads to the timeline": async () => {
    const { page, finish } = await opened("gpu", compiled);
    await page.focus(".curves");
    await page.keyboard.press("ArrowRight");
    check((await page.textContent(".curves-box .legend")).includes(":"), "a reading");
    await page.keyboard.press("Enter");
    await page.waitForSelector('html[data-ready="timeline"]');
    await finish();
  },

  "every slice can be reached: first in sight, along the row, from row to row": async () => {
    const { page, finish } = await opened("timeline", compiled);
    const chosen = () => page.evaluate(() => window.__ridge.state.selection && { id: window.__ridge.state.selection.id, track: window.__ridge.state.selection.track, depth: window.__ridge.state.selection.depth });
    const other = (id) => page.waitForFunction((before) => window.__ridge.state.selection && window.__ridge.state.selection.id !== before, id);
    await page.keyboard.press(".");
    await other(null);
    const seen = new Set();
    let last = await chosen();
    for (let i = 0; i < 12; ++i) {
      seen.add(`${last.track}/${last.depth}`);
      await page.keyboard.press("Shift+ArrowDown");
      await other(last.id);
      last = await chosen();
    }
    equal(seen.size, 12, "rows walked through");
    check(new Set([...seen].map((row) => row.split("/")[0])).size > 1, "on several tracks");
    const above = last;
    await page.keyboard.press("Shift+ArrowUp");
    await other(above.id);
    check(seen.has(`${(await chosen()).track}/${(await chosen()).depth}`), "and back up");
    check(await page.isVisible(".details"), "with its details");
    await page.focus(".tl-splitter");
    const height = () => page.$eval(".tl-panel", (node) => node.getBoundingClientRect().height);
    const before = await height();
    await page.keyboard.press("ArrowUp");
    check((await height()) > before, "the details grow");
    await finish();
  },

  "names are ready above and below what is in sight, in the order of the screen, and the Tab key passes them by": async () => {
    const server = await serve(fixture("ddp_gloo_rank0.json.gz")); // many tracks
    const { page, finish } = await open(server.url, { viewport: { width: 1280, height: 320 } });
    await visit(page, "timeline");
    const labels = () =>
      page.evaluate(() => {
        const box = document.querySelector(".tl-scroll").getBoundingClientRect();
        return [...document.querySelectorAll(".tl-moving > *")].map((node) => {
          const { top, bottom } = node.getBoundingClientRect();
          return { top: parseFloat(node.style.top), seen: bottom > box.top && top < box.bottom, reached: node.querySelector("button").tabIndex === 0 };
        });
      });
    const hold = async (what) => {
      await page.waitForFunction(() => !window.__ridge.state.moving);
      await settle(page);
      const all = await labels();
      check(all.some((each) => each.seen) && all.some((each) => !each.seen), `${what}: some are in sight, some are not`);
      equal(all.map((each) => each.reached), all.map((each) => each.seen), `${what}: what the Tab key reaches`);
      equal(all.map((each) => each.top), all.map((each) => each.top).sort((a, b) => a - b), `${what}: their order`);
    };
    await hold("at first");
    const box = await page.locator(".tl-front").boundingBox();
    await page.mouse.move(box.x + 300, box.y + 100);
    for (let i = 0; i < 4; ++i) await page.mouse.wheel(0, 120);
    await page.waitForFunction(() => window.__ridge.state.scroll > 100);
    await hold("further down");
    for (let i = 0; i < 4; ++i) await page.mouse.wheel(0, -120);
    await page.waitForFunction(() => window.__ridge.state.scroll === 0);
    await hold("back at the top");
    await finish();
  },
};
