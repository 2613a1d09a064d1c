// What a reader sees at 1280 pixels: nothing cut off without a word, no page that is empty or says what is not so.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { check, equal, fixture, open, scratch, serve, settle, shoot, visit } from "../harness.mjs";

async function opened(trace, where, parameters) {
  const server = await serve(trace);
  const { page, finish } = await open(server.url);
  await visit(page, where, parameters);
  return { server, page, finish };
}

// Of a text that holds a number and its unit: whether a line ends between them.
const broken_figures = (page, where) =>
  page.$$eval(where, (nodes) =>
    nodes.flatMap((node) => {
      const text = node.firstChild;
      if (text?.nodeType !== Node.TEXT_NODE) return [];
      return [...text.data.matchAll(/\d\s(?:%|[nµm]?s)/g)]
        .filter((found) => {
          const range = document.createRange();
          range.setStart(text, found.index);
          range.setEnd(text, found.index + found[0].length);
          return new Set([...range.getClientRects()].map((each) => Math.round(each.top))).size > 1;
        })
        .map(() => text.data);
    }),
  );

export const cases = {
  "a number and its unit stand on one line, and so does a tag": async () => {
    const server = await serve(fixture("gpt_eager_train_stack_mem.json.gz"), fixture("gpt_compiled_train.json.gz"));
    for (const width of [1280, 1440, 390]) {
      const { page, finish } = await open(server.url, { viewport: { width, height: 800 } });
      for (const where of ["summary", "diff", "roofline"]) {
        await visit(page, where);
        equal(await broken_figures(page, ".figure small, .finding-at-most small, .finding-at-most b"), [], `${where} at ${width}`);
      }
      await visit(page, "summary");
      const tags = await page.$$eval(".tag", (all) => all.map((tag) => tag.getClientRects().length));
      check(tags.length > 0 && tags.every((lines) => lines === 1), `lines of the tags: ${tags}`);
      await finish();
    }
  },

  "no button is the browser's own": async () => {
    const { page, finish } = await opened(fixture("gpt_compiled_train.json.gz"), "summary");
    const bare = await page.evaluate(() => {
      const plain = document.body.appendChild(document.createElement("button"));
      plain.style.all = "revert";
      const { backgroundColor } = getComputedStyle(plain);
      plain.remove();
      return backgroundColor;
    });
    for (const where of ["summary", "timeline", "whatif", "kernels", "roofline", "gpu", "sql", "health"]) {
      await visit(page, where);
      const own = await page.$$eval("button", (all, colour) => all.filter((each) => each.checkVisibility() && getComputedStyle(each).backgroundColor === colour).map((each) => each.textContent), bare);
      equal(own, [], `unstyled buttons of ${where}`);
    }
    await finish();
  },

  "the summary tells the step without the profiler, which savings are of": async () => {
    const { server, page, finish } = await opened(fixture("gpt_eager_train_stack_mem.json.gz"), "summary");
    const { columns, rows } = (await server.api("summary")).tables.find((table) => table.name === "summary");
    const figure = (name) => rows[0][columns.findIndex((column) => column.name === name)];
    const shown = await page.$$eval(".figure", (all) => all.map((each) => [...each.children].map((part) => part.textContent)));
    const [, value, note] = shown.find(([name]) => name === "Step without the profiler") ?? [];
    check(Math.abs(parseFloat(value?.replace(/^\D+/, "")) - figure("step_without_profiler_ns") / 1e6) < 0.01, `the step reads: ${value}`);
    check(Math.abs(parseFloat(note) - figure("step_low_ns") / 1e6) < 0.01, `its interval reads: ${note}`);
    const busy = shown.find(([name]) => name === "GPU busy")?.[2];
    check(Math.abs(parseFloat(busy) - figure("gpu_busy_pct_of_step")) < 0.06, `busy without the profiler reads: ${busy}`);
    await finish();
  },

  "an empty roofline asks for shapes only where they were not recorded": async () => {
    for (const [trace, asks] of [["graph_breaks.json.gz", true], ["user_triton_kernel.json.gz", false]]) {
      const { page, finish } = await opened(fixture(trace), "roofline");
      const said = await page.textContent("main .empty");
      equal(said.includes("record_shapes=True"), asks, `${trace} says: ${said}`);
      await finish();
    }
  },

  "kernels that are listed below the roofline stand apart from their times": async () => {
    const { page, finish } = await opened(fixture("compiled_with_fallbacks.json.gz"), "roofline");
    const gaps = await page.$$eval(".unplaced li:has(a)", (all) => all.map((each) => each.querySelector(".num").getBoundingClientRect().left - each.querySelector("a").getBoundingClientRect().right));
    check(gaps.length > 0 && Math.min(...gaps) >= 8, `gaps of ${gaps.slice(0, 5)} px`);
    await finish();
  },

  "every kind of mark has its name in the toolbar": async () => {
    const { server, page, finish } = await opened(fixture("break_datadep_recompile.json.zst"), "timeline");
    const kinds = new Set((await server.api("marks?t=0")).marks.map((mark) => mark.kind).filter((kind) => kind !== "iteration"));
    equal(kinds.size, 5, "kinds of marks in this trace");
    const right = await page.$eval(".tl-tools .btn[aria-pressed]", (button) => button.getBoundingClientRect().left);
    const ends = await page.$$eval(".tl-kinds .legend-item", (items) => items.map((item) => item.getBoundingClientRect().right));
    equal(ends.length, 5, "names");
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
    await visit(page, "gpu");
    check((await page.textContent("main .empty")).includes("has no device events"), "and so does the device's own page");
    await visit(page, "summary");
    const found = await page.textContent(".card");
    check(found.includes("nothing to look at") && found.includes("device work"), `without a device the rules say: ${found}`);
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
    await visit(page, "summary");
    const figures = await page.$$eval(".figure dt", (names) => names.map((name) => name.textContent));
    check(figures.includes("GPU busy") && !figures.includes("Graph breaks") && !figures.includes("Recompiles"), `figures ${figures}`);
    const cards = await page.$$eval(".card h2", (heads) => heads.map((head) => head.firstChild.textContent));
    check(cards.includes("Top kernels") && !cards.includes("Top ops"), `cards ${cards}`);
    await visit(page, "graphs");
    check((await page.textContent("main")).includes("Unknown: breaks show on the host"), "breaks are not known");
    await finish();
  },

  "on a large screen no table of the trace's health is cut off": async () => {
    const server = await serve(fixture("gpt_compiled_train.json.gz"));
    const { page, finish } = await open(server.url, { viewport: { width: 2560, height: 1440 } });
    await visit(page, "health");
    check((await page.$$(".columns.tables .t-scroll")).length > 2, "tables beside each other");
    equal((await page.$$(".t-scroll.cut")).length, 0, "tables that go on to the right");
    await finish();
  },

  "a slice that a search leaves dim is as dim where several tiles hold it": async () => {
    const { server, page, finish } = await opened(fixture("gpt_compiled_train.json.gz"), "timeline");
    const { results } = await server.api("search?t=0&q=PyTorch%20Profiler&limit=1");
    const [hit] = results;
    // the colour in the middle of every 20 px of its row
    const colours = () =>
      page.evaluate(([track, depth]) => {
        const canvas = document.querySelector(".tl-canvas");
        const { y, height } = window.__ridge.row_at(track, depth);
        const copy = new OffscreenCanvas(canvas.width, 1).getContext("2d", { willReadFrequently: true });
        copy.drawImage(canvas, 0, -Math.round((y + height / 2) * devicePixelRatio));
        const row = copy.getImageData(0, 0, canvas.width, 1).data;
        const seen = new Set();
        for (let x = 10; x < canvas.width - 10; x += 20) seen.add(row.slice(4 * x, 4 * x + 3).join());
        return [...seen];
      }, [hit.track, hit.depth]);
    await page.click("text=Marks");
    const all = new Set();
    for (const range of ["1000000-2000000", "1000000-2900000", "1000000-30000000", "1000000-69000000"]) {
      await visit(page, "timeline", `q=nothing_of_this_name&r=${range}`);
      for (const colour of await colours()) all.add(colour);
    }
    check([...all].length <= 2, `one colour, and that of the lines of time: ${[...all].join(" ")}`);
    await finish();
  },

  "no time on the ruler is cut off": async () => {
    const { page, finish } = await opened(fixture("gpt_compiled_train.json.gz"), "timeline");
    await page.evaluate(() => {
      const real = CanvasRenderingContext2D.prototype.fillText;
      window.__ends = [];
      CanvasRenderingContext2D.prototype.fillText = function (text, x, y) {
        if (this.canvas.className === "tl-ruler") window.__ends.push([text, x + this.measureText(text).width - window.__ridge.state.view.width]);
        return real.call(this, text, x, y);
      };
    });
    await page.focus(".tl-scroll");
    for (let i = 0; i < 30; ++i) await page.keyboard.press("ArrowRight"); // ticks pass over the edge
    for (let i = 0; i < 12; ++i) await page.keyboard.press("w");
    await settle(page);
    const ends = await page.evaluate(() => window.__ends);
    check(ends.length > 50, "times were drawn");
    equal(ends.filter(([, beyond]) => beyond > 0).map(([text]) => text), [], "times that are cut off");
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
    // In one look, and again until rows are there: they are drawn anew for the new size.
    const seen = await page.waitForFunction(() => {
      const boxes = (selector) => [...document.querySelectorAll(selector)].map((node) => node.getBoundingClientRect().toJSON());
      const longest = Math.max(0, ...boxes(".t-row .t-c:first-child a").map((box) => box.width));
      return innerWidth === 2560 && longest > 0 && { heads: boxes(".t-head .t-h").slice(0, 2), longest };
    });
    const { heads: [name, count], longest } = await seen.jsonValue();
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

  "times are written in one way: no page says us": async () => {
    const { server, page, finish } = await opened(fixture("gpt_eager_train_stack_mem.json.gz"), "summary");
    const said = JSON.stringify((await server.api("findings")).tables);
    check(/\d us\b/.test(said), "the engine's own words are ASCII");
    for (const where of ["summary", "gpu", "health"]) {
      await visit(page, where);
      const text = await page.textContent("main");
      equal(/[\d.]+ us\b/.exec(text)?.[0] ?? null, null, `on the page ${where}`);
    }
    check((await page.evaluate(() => document.body.innerText)).length > 100, "there was text");
    await finish();
  },

  "less than zero is written with a minus": async () => {
    const server = await serve(fixture("gpt_eager_train_stack_mem.json.gz"), fixture("gpt_compiled_train.json.gz"));
    const { page, finish } = await open(server.url);
    await visit(page, "diff");
    const text = await page.$$eval(".figure small, .t-c.num", (cells) => cells.map((cell) => cell.textContent));
    check(text.some((each) => /\u2212\d/.test(each)), "something became less");
    equal(text.filter((each) => /-\d/.test(each)), [], "hyphens before numbers");
    await finish();
  },

  "a ruler has one unit": async () => {
    const { page, finish } = await opened(fixture("gpt_compiled_train.json.gz"), "timeline");
    for (const range of ["", "r=500000-1500000", "r=0-2100"]) {
      await page.evaluate(() => {
        window.ticks = [];
        const { fillText } = CanvasRenderingContext2D.prototype;
        CanvasRenderingContext2D.prototype.fillText = function (text, ...place) {
          if (this.canvas.className === "tl-ruler") window.ticks.push(text);
          return fillText.call(this, text, ...place);
        };
      });
      await visit(page, "timeline", range);
      await page.evaluate(() => {
        window.ticks = []; // what was drawn on the way here
        window.dispatchEvent(new Event("ridge-theme")); // draws all anew
      });
      await page.waitForFunction(() => window.ticks.length > 2);
      const units = await page.evaluate(() => [...new Set(window.ticks.flatMap((text) => /^[\d.,]+ (\S+)$/.exec(text)?.[1] ?? []))]);
      equal(units.length, 1, `units at ${range || "the whole"}: ${units}`);
      await page.reload();
      await page.waitForSelector("html[data-ready]");
    }
    await finish();
  },

  "columns have names of their own, and a figure stands on one line": async () => {
    const { page, finish } = await opened(fixture("break_datadep_recompile.json.zst"), "graphs");
    const heads = await page.$$eval(".table", (tables) => tables.map((table) => [...table.querySelectorAll(".t-h")].map((head) => head.textContent)));
    check(heads.length > 1, "tables are there");
    for (const names of heads) equal(names.length, new Set(names).size, `different names of ${names}`);
    const { page: other, finish: finish_other } = await opened(fixture("resnet18_eager_shapes.json.gz"), "roofline");
    for (const width of [1280, 2560]) {
      await other.setViewportSize({ width, height: 1440 });
      const heights = await other.$$eval(".figure dd:not(.figure-note)", (values) => values.map((value) => value.getBoundingClientRect().height));
      check(Math.max(...heights) < 40, `the figures are ${heights} high at ${width}`);
    }
    await other.waitForFunction(() => {
      const tick = document.querySelector(".roofline .tick").getBoundingClientRect();
      return tick.height > 8 && tick.height < 18; // letters do not grow with the screen
    });
    await finish_other();
    await finish();
  },

  "a large screen is used": async () => {
    const server = await serve(fixture("gpt_compiled_train.json.gz"));
    const { page, finish } = await open(server.url, { viewport: { width: 2560, height: 1440 } });
    await visit(page, "summary");
    const page_width = await page.$eval(".page", (node) => node.getBoundingClientRect().width);
    check(page_width > 2000, `the page is ${page_width} wide`);
    const cut = await page.$$eval(".names .bars-label", (labels) => labels.filter((label) => label.scrollWidth > label.clientWidth).map((label) => label.textContent));
    check(cut.length < 3, `names that are cut off: ${cut}`);
    await finish();
  },
};
