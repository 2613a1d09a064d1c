// The panel of a finding: what it says, how much time it claims in the iteration in sight and in all, and what that time is made of.
import type { Table } from "../api/types";
import { button, el, shorten, shorten_middle } from "../ui/dom";
import * as format from "../ui/format";
import { TableView } from "../ui/table";
import type { Claim } from "./claim";

const kLongestName = 80; // characters
const kOwnPart = 40;

export interface ClaimActions {
  show(from: number, to: number): void;
  select(id: number): void;
  close(): void;
}

// Kernels of one label: each with what is its own of its name.
function told_apart(row: { name: string; label: string }, all: { name: string; label: string }[]): string {
  const alike = all.filter((each) => each.label === row.label && each.name !== row.name);
  if (!alike.length) return row.label === row.name ? shorten_middle(row.name, kLongestName) : row.label;
  const same = Math.min(...alike.map((each) => [...row.name].findIndex((letter, i) => letter !== each.name[i])).map((at) => (at < 0 ? row.name.length : at)));
  return `${shorten_middle(row.label, kLongestName)} · …${shorten(row.name.slice(Math.max(0, same - 4)), kOwnPart)}`;
}

function as_table(claim: Claim): Table {
  const text = (name: string) => ({ name, type: "text" as const, unit: null, role: null });
  const number = (name: string, unit: "ns" | "count" | "percent") => ({ name, type: "number" as const, unit, role: null });
  const rows = new Map<string, { kind: string; name: string; label: string; count: number; time: number }>();
  for (const piece of claim.pieces) {
    const kind = piece.stream === null ? "idle" : "work";
    const row = rows.get(`${kind}/${piece.name}`) ?? { kind, name: piece.name, label: piece.label, count: 0, time: 0 };
    row.count += 1;
    row.time += piece.time_ns;
    rows.set(`${kind}/${piece.name}`, row);
  }
  const all = [...rows.values()];
  return {
    name: "claim",
    columns: [text("name"), text("kind"), number("count", "count"), number("time_ns", "ns"), number("pct_of_claim", "percent")],
    rows: all.map((row) => [told_apart(row, all), row.kind, row.count, row.time, (100 * row.time) / Math.max(1, claim.total_ns)]),
    total: null,
    parent: null,
  };
}

export function claim_panel(claim: Claim, actions: ClaimActions): HTMLElement {
  const { best, sums, total_ns, total_pieces } = claim;
  const figure = (name: string, value: string, key: string): HTMLElement =>
    el("span", { class: "figure-inline" }, el("small", { class: "muted" }, `${name} `), el("b", { "data-claim": key }, value));
  const several = sums.length > 1;
  const where = best.iteration === null ? "here" : `in iteration ${best.iteration}`;
  return el(
    "div",
    { class: "area claim" },
    el(
      "div",
      { class: "row" },
      el("h2", {}, shorten(format.prose(claim.title), 300)),
      el("span", { class: "grow" }),
      button("Zoom to it", () => actions.show(best.from, best.to), { class: "btn small" }),
      several ? button("All iterations", () => actions.show(Math.min(...sums.map((each) => each.from)), Math.max(...sums.map((each) => each.to))), { class: "btn small" }) : null,
      claim.event === null ? null : button("Select the largest", () => actions.select(claim.event!), { class: "btn small" }),
      button("Close", actions.close, { class: "btn small", title: "Esc" }),
    ),
    el(
      "div",
      { class: "row" },
      figure(`GPU ${best.device}, ${where}`, `${format.time(best.time_ns)} in ${format.plural(best.pieces, "piece", "pieces")}`, "here"),
      several ? figure(`all ${format.count(sums.length)} iterations`, `${format.time(total_ns)} in ${format.plural(total_pieces, "piece", "pieces")}`, "all") : null,
      claim.at_most_ns === null ? null : figure("at most per iteration", format.time(claim.at_most_ns), "at_most"),
      claim.pieces.length < total_pieces ? el("span", { class: "muted" }, `the ${format.count(claim.pieces.length)} longest are lit and listed`) : null,
    ),
    new TableView(as_table(claim), { sort: "-time_ns", filterable: false, label: "What the finding claims", height: "100%" }).element,
  );
}
