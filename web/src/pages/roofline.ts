// The roofline: each kernel as a dot (FLOP per byte against FLOP/s, sized by time) under the roofs of its device, on logarithmic axes.
import type { Report } from "../api/types";
import { Tooltip } from "../timeline/tooltip";
import { button, el, fill, shorten, svg, type Child } from "../ui/dom";
import * as format from "../ui/format";
import { search_link } from "../ui/links";
import { card, diagnostics, figures, page_head, table_view } from "../ui/report_view";
import { go } from "../ui/router";
import { rows_of, table_of, type Rows } from "../ui/rows";
import { asked, type Context, type Page } from "./page";
import { Axes, grid, label_places, roof_line, slope_names, type Dot, type Roof } from "./roofline_axes";
import { kernel_door } from "./tables";

const kUsualWidth = 1012; // px, until the page has been laid out, and on paper
const kMostDots = 3000; // those with most time; all are in the table
const kBoundColours: Record<string, string> = { memory: "#e69f00", compute: "#0072b2", latency: "#8f98a5", overhead: "#8f98a5" };

const positive = (value: number | null): value is number => value !== null && Number.isFinite(value) && value > 0;

function dots_of(table: Rows): Dot[] {
  const dots: Dot[] = [];
  for (const row of table.table.rows) {
    const intensity = table.number(row, "intensity");
    const rate = table.number(row, "flops_per_s");
    if (positive(intensity) && positive(rate))
      dots.push({
        kernel: table.text(row, "kernel"),
        label: table.text(row, "label") || table.text(row, "kernel"),
        intensity,
        rate,
        time: table.number(row, "time_ns") ?? 0,
        row,
      });
  }
  return dots.sort((a, b) => b.time - a.time).slice(0, kMostDots);
}

// Roofs of one height are one: "float32 matrix, float32 vector".
function roofs_of(report: Report): Roof[] {
  const table = table_of(report, "roofs");
  const roofs = new Map<string, Roof & { names: Set<string> }>();
  for (const row of rows_of(table)) {
    const peak = table!.number(row, "peak_flops_per_s");
    const bandwidth = table!.number(row, "bandwidth_bytes_per_s");
    if (!positive(peak) || !positive(bandwidth)) continue;
    const device = table!.text(row, "name");
    const key = `${device}/${peak}/${bandwidth}`;
    const roof = roofs.get(key) ?? { name: "", names: new Set<string>(), device, peak, bandwidth };
    roof.names.add([table!.text(row, "dtype"), table!.text(row, "unit")].filter(Boolean).join(" "));
    roof.name = [...roof.names].join(", ");
    roofs.set(key, roof);
  }
  return [...roofs.values()].sort((a, b) => b.peak - a.peak);
}

function picture(dots: Dot[], roofs: Roof[], table: Rows, context: Context, tooltip: Tooltip, width: number): SVGSVGElement {
  const axes = new Axes(dots, roofs, width);
  const most = Math.max(1, ...dots.map((dot) => dot.time));
  const places = label_places(roofs, axes);
  const door = kernel_door(context);
  const lines = roofs.map((roof, i) => roof_line(roof, i, axes, places[i]!));
  return svg(
    "svg",
    { class: "roofline", viewBox: `0 0 ${axes.width} ${axes.height}`, role: "group", "aria-label": `Roofline of ${dots.length} kernels` },
    ...grid(axes),
    ...lines.map((each) => each.line),
    ...dots.map((dot, nth) => {
      const bound = table.text(dot.row, "bound");
      const radius = 3 + 15 * Math.sqrt(dot.time / most);
      const show = (x: number, y: number): void =>
        tooltip.show(
          x,
          y,
          el("b", { class: "code" }, shorten(dot.label, 300)),
          el("div", {}, `${format.scaled(dot.rate, "flop_per_s")} at ${format.number(dot.intensity, null)} FLOP/byte`),
          el("div", {}, `${format.percent(table.number(dot.row, "pct_of_roof"))} of its roof, ${bound || "bound unknown"}`),
          el("div", { class: "muted" }, `${format.time(dot.time)} total, headroom ${format.time(table.number(dot.row, "headroom_ns"))}`),
        );
      const open = (): void => go(door(dot.row, (column) => table.value(dot.row, column)) ?? search_link(context.t, dot.kernel));
      return svg("circle", {
        class: "dot",
        cx: axes.x(dot.intensity),
        cy: axes.y(dot.rate),
        r: radius,
        fill: kBoundColours[bound] ?? "#8a7fd1",
        tabindex: nth ? "-1" : "0", // one stop for the Tab key; the arrows walk from dot to dot
        role: "link",
        "aria-label": `${shorten(dot.label, 100)}, ${format.time(dot.time)}, ${format.percent(table.number(dot.row, "pct_of_roof"))} of its roof`,
        "data-kernel": shorten(dot.kernel, 200),
        on: {
          mousemove: (event: MouseEvent) => show(event.clientX, event.clientY),
          mouseleave: () => tooltip.hide(),
          focus: (event: FocusEvent) => {
            const box = (event.target as Element).getBoundingClientRect();
            show(box.right, box.bottom);
          },
          blur: () => tooltip.hide(),
          click: () => {
            tooltip.hide();
            open();
          },
          keydown: (event: KeyboardEvent) => {
            if (event.key === "Enter") {
              tooltip.hide();
              open();
            } else walk_dots(event);
          },
        },
      });
    }),
    ...lines.map((each) => each.name),
    ...slope_names(roofs, axes),
  );
}

// The arrows go from the kernel with most time to the next, and back.
function walk_dots(event: KeyboardEvent): void {
  const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1, Home: -kMostDots, End: kMostDots }[event.key];
  if (!step) return;
  event.preventDefault();
  const here = event.target as SVGElement;
  const dots = [...here.parentElement!.querySelectorAll<SVGElement>(".dot")];
  const next = dots[Math.min(dots.length - 1, Math.max(0, dots.indexOf(here) + step))]!;
  here.setAttribute("tabindex", "-1");
  next.setAttribute("tabindex", "0");
  next.focus();
}

function use_figures(report: Report): Child {
  const table = table_of(report, "iterations");
  const total = table?.table.total ?? null;
  if (!table || !total) return null;
  const items: [string, string, string?][] = [];
  const add = (column: string, name: string, known: string): void => {
    const value = table.number(total, column);
    const part = table.number(total, known);
    if (value !== null)
      items.push([name, format.percent(value), part === null ? undefined : `known for ${format.percent(part)} of kernel time`]);
  };
  add("mfu_pct", "MFU", "flops_known_pct");
  add("bandwidth_pct", "Memory bandwidth used", "bytes_known_pct");
  const flops = table.number(total, "flops");
  const known = table.number(total, "flops_known_pct");
  if (flops)
    items.push(["Work", format.number(flops, "flop"), known === null ? undefined : `known for ${format.percent(known)} of kernel time`]);
  return items.length ? figures(items) : null;
}

export async function roofline_page(context: Context): Promise<Page> {
  const report = await context.source.analysis("roofline", asked(context));
  const table = table_of(report, "roofline") ?? table_of(report, report.tables[0]!.name)!;
  const all_roofs = roofs_of(report);
  const dots = dots_of(table);
  const tooltip = new Tooltip();
  // dtypes that kernels have come first; the others are there to be switched on
  const used = new Set(table.table.rows.map((row) => table.text(row, "dtype")).filter(Boolean));
  const on = new Set(all_roofs.filter((roof) => [...used].some((dtype) => roof.name.includes(dtype))).map((roof) => roof.name));
  if (!on.size) for (const roof of all_roofs.slice(0, 3)) on.add(roof.name);
  const box = el("div", {});
  let width = kUsualWidth;
  const draw = (): void =>
    fill(
      box,
      dots.length
        ? picture(
            dots,
            all_roofs.filter((roof) => on.has(roof.name)),
            table,
            context,
            tooltip,
            width,
          )
        : el(
            "p",
            { class: "empty muted" },
            table.size
              ? "No kernel has known FLOPs and bytes, so there is nothing to plot. Record with record_shapes=True."
              : "This trace has no kernels.",
          ),
    );
  const toggles = all_roofs.map((roof) => {
    const toggle = button(
      roof.name,
      () => {
        if (!on.delete(roof.name)) on.add(roof.name);
        toggle.setAttribute("aria-pressed", String(on.has(roof.name)));
        draw();
      },
      { class: "btn small", "aria-pressed": String(on.has(roof.name)) },
    );
    return toggle;
  });
  draw();
  // drawn anew for the width that there is: letters stay as large as the others of the page
  new ResizeObserver(() => {
    if (box.clientWidth < 200 || box.clientWidth === width || box.contains(document.activeElement)) return;
    width = box.clientWidth;
    draw();
  }).observe(box);
  const bounds = [...new Set(table.table.rows.map((row) => table.text(row, "bound")).filter(Boolean))];
  const without = table.size - dots.length;
  const view = table_view(table.table, context.t, {
    only: [
      "label",
      "bound",
      "intensity",
      "flops_per_s",
      "roof_flops_per_s",
      "pct_of_roof",
      "time_ns",
      "headroom_ns",
      "bytes_per_s",
      "dtype",
    ],
    sort: "-time_ns",
    height: "420px",
    link: kernel_door(context),
  });
  return {
    element: el(
      "div",
      { class: "page" },
      page_head("Roofline", [...new Set(all_roofs.map((roof) => roof.device))].join(", ") || null),
      diagnostics(report.diagnostics),
      use_figures(report),
      card(
        "",
        el(
          "div",
          { class: "row" },
          ...(dots.length ? bounds : []).map((bound) =>
            el(
              "span",
              { class: "legend-item" },
              el("i", { class: "round", style: { background: kBoundColours[bound] ?? "#8a7fd1" } }),
              `${bound} bound`,
            ),
          ),
          dots.length ? el("span", { class: "muted" }, "dot size: time") : null,
          el("span", { class: "grow" }),
          ...(dots.length ? toggles : []),
        ),
        box,
        without > 0 && dots.length
          ? el(
              "p",
              { class: "muted" },
              `${format.count(without)} kernels are only in the table: they have no FLOPs, or theirs are unknown.`,
            )
          : null,
      ),
      card("Kernels", view.element),
      tooltip.element,
    ),
  };
}
