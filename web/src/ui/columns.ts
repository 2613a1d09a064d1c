// How the cells of a column are shown, told by its type, role and name.
import type { Column } from "../api/types";
import { el } from "./dom";
import { colour_of } from "./palette";

export const numeric = (column: Column): boolean => (column.type === "integer" || column.type === "number") && column.role !== "event";

const kCode = new Set([
  "kernel",
  "label",
  "op",
  "location",
  "frame",
  "graph",
  "phase",
  "call",
  "next_kernel",
  "kernel_file",
  "kernel_hash",
  "kernel_kwargs",
  "group",
  "name",
]);
export const is_code = (column: Column): boolean => column.type === "text" && (column.role === "frame" || kCode.has(column.name));

export function chip(category: string): HTMLElement {
  return el("span", { class: "chip" }, el("i", { style: { background: colour_of(category) } }), category);
}
