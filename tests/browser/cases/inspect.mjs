// What a place on the timeline and a chart tell: a kernel's work and roof, its op, frame and module; arrows; marks; curves; the flame graph.
import { check, equal, fixture, open, serve, settle, shoot, visit } from "../harness.mjs";

const stacks = fixture("gpt_eager_train_stack_mem.json.gz");
const recompiled = fixture("break_datadep_recompile.json.zst");

async function opened(trace, where, parameters) {
  const server = await serve(trace);
  const { page, finish } = await open(server.url);
  if (where) await visit(page, where, parameters);
  return { server, page, finish };
}

const selected = (page, id) => page.waitForFunction((wanted) => window.__ridge?.state?.selection?.id === wanted, id);

// The first slice of a name for which something holds.
async function find(server, name, holds) {
  const { results } = await server.api(`search?t=0&q=${encodeURIComponent(name)}&limit=400`);
  for (const hit of results) {
    const slice = await server.api(`slice?t=0&id=${hit.id}`);
    if (holds(slice)) return slice;
  }
  throw new Error(`no such slice called ${name}`);
}

// The names and values of the panel, as they are read.
const pairs = (page) =>
  page.$$eval(".details .pairs:not(.args)", (lists) =>
    Object.fromEntries(lists.flatMap((list) => [...list.querySelectorAll("dt")].map((name) => [name.textContent, name.nextElementSibling.textContent]))),
  );

// A number with a unit, in the unit's base: "268.4 GFLOP" -> 268.4e9.
const kPrefixes = { n: 1e-9, µ: 1e-6, m: 1e-3, k: 1e3, M: 1e6, G: 1e9, T: 1e12 };
function read(text) {
  const [, number, prefix] = /^([\d.,]+) ([nµmkMGT]?)(?:s|B|FLOP|%)$/.exec(text);
  return Number(number.replaceAll(",", "")) * (prefix ? kPrefixes[prefix] : 1);
}
function reads(text, wanted, what) {
  check(Math.abs(read(text) - wanted) <= Math.abs(wanted) * 0.002 + 1e-12, `${what}: the panel says ${text}, the API ${wanted}`);
}

export const cases = {
  "a kernel's work, roof, op, frame and module are the API's": async () => {
    const { server, page, finish } = await opened(stacks);
    const slice = await find(server, "nvjet", (each) => each.cost?.flops && each.cost.roof_ns && each.op && each.frame && each.module);
    await visit(page, "timeline", `s=${slice.id}`);
    await selected(page, slice.id);
    const shown = await pairs(page);
    reads(shown["Duration"], slice.dur_ns / 1e9, "duration");
    reads(shown["FLOPs"], slice.cost.flops, "FLOPs");
    reads(shown["Bytes read"], slice.cost.bytes_read, "bytes read");
    reads(shown["Bytes written"], slice.cost.bytes_written, "bytes written");
    reads(shown["Headroom"], slice.cost.headroom_ns / 1e9, "headroom");
    equal([shown["Bound by"], shown["dtype"], shown["Op"]], [slice.cost.bound, slice.cost.dtype, slice.op.name], "bound, dtype and op");
    equal([shown["Python"], shown["Module"]], [slice.frame, slice.module], "frame and module");
    await finish();
  },

  "arrows lead from forward to backward": async () => {
    const { server, page, finish } = await opened(stacks);
    const slice = await find(server, "aten::", (each) => each.flows.some((flow) => flow.direction === "out") && each.flows.every((flow) => flow.kind === "fwdbwd"));
    const flow = slice.flows.find((each) => each.direction === "out");
    const [from, to] = [Math.min(slice.start_ns, flow.start_ns), Math.max(slice.start_ns, flow.start_ns)];
    await visit(page, "timeline", `s=${slice.id}&r=${from - (to - from)}-${to + (to - from)}`);
    await selected(page, slice.id);
    await settle(page);
    const purple = await page.evaluate(() => {
      const canvas = document.querySelectorAll(".tl-canvas")[1];
      const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
      let count = 0;
      for (let i = 0; i < data.length; i += 4) if (data[i + 3] > 200 && Math.abs(data[i] - 0x8a) < 12 && Math.abs(data[i + 1] - 0x5c) < 12 && Math.abs(data[i + 2] - 0xd6) < 12) ++count;
      return count;
    });
    check(purple > 100, `${purple} pixels have the colour of such an arrow`);
    await page.keyboard.press("]");
    await selected(page, flow.id);
    await shoot(page, "timeline_backward_light");
    await finish();
  },

  "breaks, recompiles and sync points are marked and say what they are": async () => {
    const kinds = [
      ["break", "graph break", fixture("graph_breaks_stack.json.gz")],
      ["sync", "sync point", fixture("fault_item_sync.json.gz")],
      ["recompile", "recompile", recompiled],
    ];
    for (const [kind, name, trace] of kinds) {
      const { server, page, finish } = await opened(trace);
      const marks = (await server.api("marks?t=0")).marks.filter((each) => each.kind === kind && each.track !== null);
      check(marks.length > 0, `the trace has a ${name}`);
      const mark = marks[0];
      await visit(page, "timeline", `r=${mark.start_ns - 50_000}-${mark.start_ns + 50_000}`);
      const at = await page.evaluate(({ track, start_ns }) => {
        const { state, row_at } = window.__ridge;
        document.querySelector(".tl-scroll").scrollTop += Math.max(0, row_at(track, 0).y - 200);
        state.scroll = document.querySelector(".tl-scroll").scrollTop;
        const box = document.querySelector(".tl-front").getBoundingClientRect();
        return { x: box.left + state.view.x(start_ns), y: box.top + row_at(track, 0).y + 2 };
      }, mark);
      await settle(page);
      await page.mouse.move(at.x, at.y);
      await page.waitForSelector(".tooltip:not([hidden])");
      check((await page.textContent(".tooltip")).includes(name), `the tooltip says: ${await page.textContent(".tooltip")}`);
      await finish();
    }
  },

  "GPU and idle shows its bars, the queue's depth and the memory's curve as high as the API says": async () => {
    const { server, page, finish } = await opened(stacks, "gpu");
    check((await page.$$(".stack-bar i")).length > 2, "the window's parts");
    const most = (report) => Math.max(...report.series.flatMap((each) => each.points.map((point) => point[1])));
    const tops = await page.$$eval(".axis-y", (nodes) => nodes.map((node) => node.textContent));
    const [depth, memory] = [most(await server.api("launches")), most(await server.api("memory"))];
    equal(tops[0], depth.toLocaleString("en-US"), "the queue's depth");
    reads(tops[1], memory, "memory");
    await finish();
  },

  "of a great many gaps the longest are asked for": async () => {
    const { server, page, finish } = await opened(fixture("gpt_compiled_train.json.gz"));
    const gaps = (await server.api("gaps")).tables[0].rows.length;
    check(gaps > 1000, `the trace has ${gaps} gaps`);
    await visit(page, "gpu");
    equal(await page.getAttribute('.t-scroll[aria-label="Gaps"]', "aria-rowcount"), "1001", "rows with their head");
    await finish();
  },

  "a roof's dot tells itself under the mouse": async () => {
    const { page, finish } = await opened(fixture("resnet18_eager_shapes.json.gz"), "roofline");
    for (const [picture, words] of [[".roofline:not(.by-bandwidth)", "FLOP/byte"], [".by-bandwidth", "per launch"]]) {
      await page.hover(`${picture} .dot >> nth=-1`);
      await page.waitForFunction((text) => document.querySelector(".tooltip:not([hidden])")?.textContent.includes(text), words);
    }
    await finish();
  },

  "the flame graph of compiling is the API's tree, and a click widens a phase": async () => {
    const { server, page, finish } = await opened(recompiled, "compile");
    const table = (await server.api("compile")).tables[0];
    const [depth, total] = ["depth", "total_ns"].map((name) => table.columns.findIndex((each) => each.name === name));
    const roots = table.rows.filter((row) => row[depth] === 0);
    const whole = roots.reduce((sum, row) => sum + row[total], 0);
    const largest = Math.max(...roots.map((row) => row[total]));
    const widths = await page.$$eval(".flame-cell[aria-level='2']", (nodes) => nodes.map((node) => parseFloat(node.style.width.slice(5))));
    check(Math.abs(Math.max(...widths) - (100 * largest) / whole) < 0.1, `the widest phase takes ${Math.max(...widths)} %, of the API ${(100 * largest) / whole} %`);
    const cells = await page.$$eval(".flame-cell", (nodes) => nodes.length);
    check(cells > 5, `${cells} phases are drawn`);
    await shoot(page, "compile_flame_light");
    const name = await page.getAttribute(".flame-cell[aria-level='3']", "aria-label");
    await page.click(".flame-cell[aria-level='3']");
    equal(await page.getAttribute(".flame-cell[aria-level='1']", "aria-label"), name, "the phase at the top");
    await finish();
  },
};
