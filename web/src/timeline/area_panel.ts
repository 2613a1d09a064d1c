// The panel of a selected area: how busy the devices were in it, and what is inside by name and by category.
import type { Area, AreaRow, Table } from "../api/types";
import { button, el } from "../ui/dom";
import * as format from "../ui/format";
import { exactly } from "../ui/links";
import { TableView } from "../ui/table";
import type { Area as Selected } from "./state";

function as_table(name: string, first: string, rows: AreaRow[], length: number): Table {
  const by_name = first === "name";
  const text = (column: string) => ({ name: column, type: "text" as const, unit: null, role: null });
  const number = (column: string, unit: "ns" | "count" | "percent") => ({ name: column, type: "number" as const, unit, role: null });
  return {
    name,
    columns: [
      text(first),
      ...(by_name ? [text("category")] : []),
      number("count", "count"),
      number("total_ns", "ns"),
      number("pct_of_area", "percent"),
      number("self_ns", "ns"),
      number("mean_ns", "ns"),
    ],
    rows: rows.map((row) => [
      by_name ? row.name : row.category,
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

export function area_panel(selected: Selected, area: Area, zoom: () => void, search: (name: string) => void): HTMLElement {
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
    names.setAttribute("aria-pressed", String(by_name));
    categories.setAttribute("aria-pressed", String(!by_name));
  };
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
      button("Zoom to it", zoom, { class: "btn small", title: "f" }),
    ),
    body,
  );
}
