// The roofline: each kernel as a dot (FLOP per byte against FLOP/s, sized by time) under the roofs of its device, on logarithmic axes; those without
// FLOPs by their bytes per second; and lists of those that have no place on either.
import type { Report } from "../api/types";
import { Tooltip } from "../timeline/tooltip";
import { button, el, fill, shorten, svg, type Child } from "../ui/dom";
import * as format from "../ui/format";
import { name_link } from "../ui/links";
import { card, diagnostics, figures, page_head, table_view } from "../ui/report_view";
import { go } from "../ui/router";
import { rows_of, table_of, type Rows } from "../ui/rows";
import { asked, type Context, type Page } from "./page";
import {
  bandwidth_axes,
  bandwidth_line,
  grid,
  kBandwidthNames,
  kRooflineNames,
  label_places,
  roof_line,
  roofline_axes,
  slope_names,
  type Axes,
  type Dot,
  type Roof,
} from "./roofline_axes";
import { missing_of } from "./summary";
import { kernel_door } from "./tables";

const kUsualWidth = 1012; // px, until the page has been laid out, and on paper
const kMostDots = 3000; // of each picture, those with most time; all are in the table
const kListed = 60; // kernels of which nothing is known
const kBoundColours: Record<string, string> = { memory: "#e69f00", compute: "#0072b2", latency: "#8f98a5", overhead: "#8f98a5" };

const positive = (value: number | null): value is number => value !== null && Number.isFinite(value) && value > 0;

// Every kernel has its place: under the roofs, on the bandwidth axis where it has no FLOPs or theirs are unknown, or in a list: of those
// of which neither is known, and of those whose bytes are 0 or not known.
interface Placed {
  under_roofs: Dot[];
  by_bandwidth: Dot[];
  unknown: Dot[];
  no_bytes: Dot[];
}

function placed(table: Rows): Placed {
  const parts: Placed = { under_roofs: [], by_bandwidth: [], unknown: [], no_bytes: [] };
  for (const row of table.table.rows) {
    const [intensity, rate, bytes] = [table.number(row, "intensity"), table.number(row, "flops_per_s"), table.number(row, "bytes_per_s")];
    const time = table.number(row, "time_ns") ?? 0;
    const each_ns = time / Math.max(1, table.number(row, "count") ?? 1);
    const dot = { kernel: table.text(row, "kernel"), label: table.text(row, "label") || table.text(row, "kernel"), time, row };
    if (positive(intensity) && positive(rate)) parts.under_roofs.push({ ...dot, x: intensity, rate });
    else if (positive(bytes) && positive(each_ns)) parts.by_bandwidth.push({ ...dot, x: each_ns, rate: bytes });
    else (rate === null && bytes === null ? parts.unknown : parts.no_bytes).push({ ...dot, x: 0, rate: 0 });
  }
  for (const part of Object.values(parts) as Dot[][]) part.sort((a, b) => b.time - a.time);
  return parts;
}

const time_of = (dots: Dot[]): number => dots.reduce((sum, dot) => sum + dot.time, 0);

// Known to be none is not unknown.
function flops_text(table: Rows, dot: Dot): string {
  const rate = table.number(dot.row, "flops_per_s");
  return rate === null ? "FLOPs not known" : rate > 0 ? format.scaled(rate, "flop_per_s") : "no matrix FLOPs";
}
function bytes_text(table: Rows, dot: Dot): string {
  const rate = table.number(dot.row, "bytes_per_s");
  return rate === null ? "bytes not known" : rate > 0 ? format.scaled(rate, "bytes_per_s") : "no bytes";
}

// What the kernels on the bandwidth axis lack, with the share of each kind.
function bandwidth_title(table: Rows, dots: Dot[], share: (part: Dot[]) => string): string {
  const known = dots.filter((dot) => table.number(dot.row, "flops_per_s") !== null);
  const others = dots.filter((dot) => !known.includes(dot));
  const told = [known.length ? `No matrix FLOPs: ${share(known)} of kernel time` : "", others.length ? `FLOPs not known, or not for every launch: ${share(others)} of kernel time` : ""];
  return told.filter(Boolean).join("; ");
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

function roofline(dots: Dot[], roofs: Roof[], draw: DotDrawer, width: number): SVGSVGElement {
  const axes = roofline_axes(dots, roofs, width);
  const places = label_places(roofs, axes);
  const lines = roofs.map((roof, i) => roof_line(roof, i, axes, places[i]!));
  return svg(
    "svg",
    { class: "roofline", viewBox: `0 0 ${axes.width} ${axes.height}`, role: "group", "aria-label": `Roofline of ${dots.length} kernels` },
    ...grid(axes, kRooflineNames),
    ...lines.map((each) => each.line),
    ...draw(dots, axes, (dot) => `${format.scaled(dot.rate, "flop_per_s")} at ${format.number(dot.x, null)} FLOP/byte`),
    ...lines.map((each) => each.name),
    ...slope_names(roofs, axes),
  );
}

function bandwidth_picture(dots: Dot[], bandwidths: number[], draw: DotDrawer, width: number, table: Rows): SVGSVGElement {
  const axes = bandwidth_axes(dots, bandwidths, width);
  return svg(
    "svg",
    { class: "roofline by-bandwidth", viewBox: `0 0 ${axes.width} ${axes.height}`, role: "group", "aria-label": `Bandwidth of ${dots.length} kernels` },
    ...grid(axes, kBandwidthNames),
    ...draw(dots, axes, (dot) => `${format.scaled(dot.rate, "bytes_per_s")}, ${format.time(dot.x)} per launch, ${flops_text(table, dot)}`),
    ...bandwidths.flatMap((each) => bandwidth_line(each, axes)),
  );
}

type DotDrawer = (dots: Dot[], axes: Axes, about: (dot: Dot) => string) => SVGElement[];

// Dots are as large as their time, against the longest of all.
function dot_drawer(most: number, table: Rows, context: Context, tooltip: Tooltip): DotDrawer {
  const door = kernel_door(context);
  return (dots, axes, about) =>
    dots.slice(0, kMostDots).map((dot, nth) => {
      const bound = table.text(dot.row, "bound");
      const radius = 3 + 15 * Math.sqrt(dot.time / most);
      const show = (x: number, y: number): void =>
        tooltip.show(
          x,
          y,
          el("b", { class: "code" }, shorten(dot.label, 300)),
          el("div", {}, about(dot)),
          el("div", {}, `${format.percent(table.number(dot.row, "pct_of_roof"))} of its roof, ${bound || "bound unknown"}`),
          el("div", { class: "muted" }, `${format.time(dot.time)} total, headroom ${format.time(table.number(dot.row, "headroom_ns"))}`),
        );
      const open = (): void => go(door(dot.row, (column) => table.value(dot.row, column)) ?? name_link(context.t, dot.kernel));
      return svg("circle", {
        class: "dot",
        cx: axes.x(dot.x),
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
    });
}

// Kernels that are in no picture, with their time and what is known of them.
function unplaced_list(dots: Dot[], context: Context, about: (dot: Dot) => string): Child {
  if (!dots.length) return null;
  return el(
    "ul",
    { class: "unplaced" },
    ...dots
      .slice(0, kListed)
      .map((dot) => el("li", {}, el("a", { class: "code", href: name_link(context.t, dot.kernel) }, shorten(dot.label, 200)), el("span", { class: "num" }, [format.time(dot.time), about(dot)].filter(Boolean).join(", ")))),
    dots.length > kListed ? el("li", { class: "muted" }, `and ${format.count(dots.length - kListed)} more`) : null,
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

// Of which part of the time each picture tells; the parts add up to all of it.
function shares_text(parts: Placed, share: (part: Dot[]) => string, left_out: string): string {
  const words: [Dot[], string][] = [
    [parts.under_roofs, "under the roofs"],
    [parts.by_bandwidth, "on the bandwidth axis"],
    [parts.unknown, "listed below, as neither FLOPs nor bytes are known"],
    [parts.no_bytes, "listed below, as their bytes are 0 or not known"],
  ];
  const told = words.filter(([part]) => part.length).map(([part, where]) => `${share(part)} ${where} (${format.plural(part.length, "kernel", "kernels")})`);
  if (left_out) told.push(`${left_out} of kernels that are not in this report`);
  return `Of kernel time: ${told.join(", ")}.`;
}

// Of work launched before the first iteration nothing is known, and nothing of it is in these figures.
const known_for = (pct: number): string => `known for ${format.percent(pct)} of the iterations' kernel time`;

function use_figures(report: Report): Child {
  const table = table_of(report, "iterations");
  const total = table?.table.total ?? null;
  if (!table || !total) return null;
  const items: [string, string, string?][] = [];
  const add = (column: string, name: string, known: string): void => {
    const value = table.number(total, column);
    const part = table.number(total, known);
    if (value !== null)
      items.push([name, format.percent(value), part === null ? undefined : known_for(part)]);
  };
  add("mfu_pct", "MFU", "flops_known_pct");
  add("bandwidth_pct", "Memory bandwidth used", "bytes_known_pct");
  const flops = table.number(total, "flops");
  const known = table.number(total, "flops_known_pct");
  if (flops)
    items.push(["Work", format.number(flops, "flop"), known === null ? undefined : known_for(known)]);
  return items.length ? figures(items) : null;
}

export async function roofline_page(context: Context): Promise<Page> {
  const report = await context.source.analysis("roofline", asked(context));
  const table = table_of(report, "roofline") ?? table_of(report, report.tables[0]!.name)!;
  const all_roofs = roofs_of(report);
  const parts = placed(table);
  const dots = parts.under_roofs;
  const lacks = dots.length || !table.size ? [] : await context.source.analysis("summary", asked(context)).then(missing_of, () => []);
  const without_shapes = lacks.includes("shapes of inputs");
  const listed = time_of([...dots, ...parts.by_bandwidth, ...parts.unknown, ...parts.no_bytes]);
  const whole = Math.max(1, listed, table.table.total ? (table.number(table.table.total, "time_ns") ?? 0) : 0);
  const share = (part: Dot[]): string => format.percent((100 * time_of(part)) / whole);
  const bandwidths = [...new Set(all_roofs.map((roof) => roof.bandwidth))];
  const tooltip = new Tooltip();
  // dtypes that kernels have come first; the others are there to be switched on
  const used = new Set(table.table.rows.map((row) => table.text(row, "dtype")).filter(Boolean));
  const on = new Set(all_roofs.filter((roof) => [...used].some((dtype) => roof.name.includes(dtype))).map((roof) => roof.name));
  if (!on.size) for (const roof of all_roofs.slice(0, 3)) on.add(roof.name);
  const box = el("div", {});
  const strip = el("div", {});
  let width = kUsualWidth;
  const draw_dots = dot_drawer(Math.max(1, ...table.table.rows.map((row) => table.number(row, "time_ns") ?? 0)), table, context, tooltip);
  const draw = (): void => {
    const empty = table.size ? `No kernel has known FLOPs and bytes.${without_shapes ? " Record with record_shapes=True." : ""}` : "This trace has no kernels.";
    const shown = all_roofs.filter((roof) => on.has(roof.name));
    fill(box, dots.length ? roofline(dots, shown, draw_dots, width) : el("p", { class: "empty muted" }, empty));
    fill(strip, parts.by_bandwidth.length ? bandwidth_picture(parts.by_bandwidth, bandwidths, draw_dots, width, table) : null);
  };
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
    if (box.clientWidth < 200 || box.clientWidth === width || box.contains(document.activeElement) || strip.contains(document.activeElement)) return;
    width = box.clientWidth;
    draw();
  }).observe(box);
  const bounds = [...new Set(table.table.rows.map((row) => table.text(row, "bound")).filter(Boolean))];
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
      table.size ? el("p", { class: "shares" }, shares_text(parts, share, whole > listed ? format.percent((100 * (whole - listed)) / whole) : "")) : null,
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
      ),
      parts.by_bandwidth.length ? card(bandwidth_title(table, parts.by_bandwidth, share), el("p", { class: "lead" }, "By the bytes they moved and the time of a launch. Short ones cannot reach the memory's bandwidth."), strip) : null,
      parts.unknown.length ? card(`Neither FLOPs nor bytes known: ${share(parts.unknown)} of kernel time`, unplaced_list(parts.unknown, context, () => "")) : null,
      parts.no_bytes.length
        ? card(
            `Bytes 0 or not known: ${share(parts.no_bytes)} of kernel time`,
            unplaced_list(parts.no_bytes, context, (dot) => `${flops_text(table, dot)}, ${bytes_text(table, dot)}`),
          )
        : null,
      card("Kernels", view.element),
      tooltip.element,
    ),
  };
}
