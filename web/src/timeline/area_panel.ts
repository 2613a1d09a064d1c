// The panel of a selected area: how busy the devices were in it, and what is inside by name and by category.
import type { Area, AreaRow, Table } from "../api/types";
import { button, el } from "../ui/dom";
import * as format from "../ui/format";
import { exactly } from "../ui/links";
import { TableView } from "../ui/table";
import type { Area as Selected } from "./state";

function as_table(name: string, first: string, rows: AreaRow[], length: number): Table {
  const by_name = first === "name";
  const of_two = rows.some((row) => row.trace);
  const text = (column: string) => ({ name: column, type: "text" as const, unit: null, role: null });
  const number = (column: string, unit: "ns" | "count" | "percent") => ({ name: column, type: "number" as const, unit, role: null });
  return {
    name,
    columns: [
      text(first),
      ...(of_two ? [text("trace")] : []),
      ...(by_name ? [text("category")] : []),
      number("count", "count"),
      number("total_ns", "ns"),
      number("pct_of_area", "percent"),
      number("self_ns", "ns"),
      number("mean_ns", "ns"),
    ],
    rows: rows.map((row) => [
      by_name ? row.name : row.category,
      ...(of_two ? [row.trace ?? null] : []),
      ...(by_name ? [row.category] : []),
      row.count,
      row.total_ns,
      (100 * row.total_ns) / Math.max(1, length),
      row.self_ns,
      row.total_ns / Math.max(1, row.count),
    ]),
    total: null,
    parent: null,
  };
}

export interface AreaActions {
  zoom(): void;
  search(name: string): void;
  flame: (() => Promise<HTMLElement>) | null; // null: there is none at hand
  scope: string | null; // the link that shows this time on every page
}

export function area_panel(selected: Selected, area: Area, { zoom, search, flame, scope }: AreaActions): HTMLElement {
  const length = selected.to - selected.from;
  const busy = Object.entries(area.busy_pct).map(([device, share]) =>
    el(
      "span",
      { class: "figure-inline" },
      el("small", { class: "muted" }, `GPU ${device} busy `),
      el("b", { "data-busy": device }, format.percent(share)),
    ),
  );
  const body = el("div", {});
  const show = (by_name: boolean): void => {
    const table = by_name
      ? as_table("by name", "name", area.by_name, length)
      : as_table("by category", "category", area.by_category, length);
    const view = new TableView(table, {
      sort: "-total_ns",
      height: "100%",
      filterable: false,
      label: "What is inside the area",
      cell: (column, value) =>
        by_name && column.name === "name" && typeof value === "string"
          ? button(value.slice(0, 300), () => search(exactly(value)), { class: "link code" })
          : undefined,
    });
    body.replaceChildren(view.element);
    press(by_name ? names : categories);
  };
  const press = (chosen: HTMLElement): void => {
    for (const each of [names, categories, flames]) each?.setAttribute("aria-pressed", String(each === chosen));
  };
  const show_flame = async (): Promise<void> => {
    press(flames!);
    body.replaceChildren(el("p", { class: "muted", role: "status" }, "Working…"));
    const made = await flame!().catch((error: Error) => el("p", { class: "muted", role: "alert" }, error.message));
    if (flames!.getAttribute("aria-pressed") === "true") body.replaceChildren(el("div", { class: "area-flame" }, made));
  };
  const flames = flame ? button("Flame graph", () => void show_flame(), { class: "btn small" }) : null;
  const names = button("By name", () => show(true), { class: "btn small" });
  const categories = button("By category", () => show(false), { class: "btn small" });
  show(true);
  return el(
    "div",
    { class: "area" },
    el(
      "div",
      { class: "row" },
      el("h2", {}, `${format.time(length)} selected`),
      el(
        "span",
        { class: "muted" },
        `${format.count(area.slices)} slices on ${selected.tracks.length ? format.count(selected.tracks.length) : "all"} tracks`,
      ),
      ...busy,
      el("span", { class: "grow" }),
      names,
      categories,
      flames,
      scope ? el("a", { class: "btn small", href: scope, title: "Every page then shows what starts in this time" }, "Analyse this time") : null,
      button("Zoom to it", zoom, { class: "btn small", title: "f" }),
    ),
    body,
  );
}
