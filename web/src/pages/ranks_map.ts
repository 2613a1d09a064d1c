// The map of a job: ranks by steps, as what share of its step each was late, waited or was busy. A click opens the timeline of that rank and step.
import type { Report, Traces } from "../api/types";
import { button, el, fill } from "../ui/dom";
import * as format from "../ui/format";
import { HeatMap, type HeatData, type HeatWindow } from "../ui/heat_map";
import { shades } from "../ui/heat_scale";
import { range_link } from "../ui/links";
import { go, link, note } from "../ui/router";
import { rows_of, table_of } from "../ui/rows";
import { theme } from "../timeline/theme";

interface Measure {
  name: string; // in the URL
  column: string;
  title: string;
  says: string; // what a cell is
  colour: string;
  least_most: number; // percent that the strongest colour stands for, at least: what is nothing is to look like nothing
}

const kMeasures: Measure[] = [
  { name: "late", column: "late_ns", title: "Late", says: "how long the others of its collectives waited for this rank", colour: "#d55e00", least_most: 5 },
  { name: "wait", column: "wait_ns", title: "Wait", says: "how long the rank waited in collectives for others", colour: "#8a5cd6", least_most: 5 },
  { name: "busy", column: "busy_ns", title: "Busy", says: "how long its device worked", colour: "#0b8a62", least_most: 100 },
];

// The steps table as a grid: by place of the rank and of the step.
export interface StepGrid {
  ranks: number[];
  steps: number[];
  share: Record<string, Float32Array>; // percent of the step, by measure; NaN: unknown
  start: Float64Array; // on the common clock
  length: Float64Array;
  known: number; // cells that are there
}

export function step_grid(report: Report): StepGrid | null {
  const [table, all] = [table_of(report, "steps"), table_of(report, "ranks")];
  if (!table || !all) return null;
  const ranks = rows_of(all).map((row) => all.number(row, "rank") ?? -1);
  const steps = [...new Set(rows_of(table).map((row) => table.number(row, "step") ?? -1))].sort((a, b) => a - b);
  if (!ranks.length || !steps.length) return null;
  const row_at = new Map(ranks.map((rank, i) => [rank, i]));
  const column_at = new Map(steps.map((step, i) => [step, i]));
  const cells = ranks.length * steps.length;
  const unknown = (): Float32Array => new Float32Array(cells).fill(NaN);
  const share: StepGrid["share"] = Object.fromEntries(kMeasures.map(({ name }) => [name, unknown()]));
  const grid: StepGrid = { ranks, steps, share, start: new Float64Array(cells).fill(NaN), length: new Float64Array(cells).fill(NaN), known: 0 };
  for (const row of rows_of(table)) {
    const [at, column] = [row_at.get(table.number(row, "rank") ?? -1), column_at.get(table.number(row, "step") ?? -1)];
    const length = table.number(row, "step_ns");
    if (at === undefined || column === undefined || length === null) continue;
    const cell = at * steps.length + column;
    grid.known += 1;
    grid.length[cell] = length;
    grid.start[cell] = table.number(row, "start_ns") ?? NaN;
    for (const measure of kMeasures) {
      const value = table.number(row, measure.column);
      if (value !== null && length > 0) share[measure.name]![cell] = (100 * value) / length;
    }
  }
  return grid;
}

// Where a step of a rank is on its timeline; null: its trace is not here.
export function step_link(traces: Traces["traces"], t: number | null, step: number): string | null {
  const trace = t === null ? undefined : traces[t];
  if (!trace || trace.state === "absent") return null;
  if (trace.state === "closed") return link("timeline", { t: trace.index || null, step }); // where the step is, is known when it is open
  const iteration = trace.iterations.list.find(({ index }) => index === step);
  return iteration ? range_link(trace.index, iteration.start_ns, iteration.end_ns) : null;
}

export interface MapChoice {
  measure: string | null;
  ranks: string | null; // "32-64": those shown, as places
}

export class RanksMap {
  readonly element: HTMLElement;
  readonly map: HeatMap;
  private measure: Measure;
  private readonly said = el("p", { class: "heat-said", role: "status" });
  private readonly scale = el("div", { class: "heat-scale muted" });
  private readonly detail = el("span", { class: "muted" });
  private readonly out = button("All ranks and steps", () => this.map.look(null), { class: "btn small", hidden: true });
  private readonly buttons: HTMLButtonElement[];

  constructor(
    private readonly grid: StepGrid,
    private readonly trace_of: Map<number, number>, // by rank
    private readonly traces: Traces["traces"],
    private readonly stragglers: Set<number>,
    choice: MapChoice,
  ) {
    this.measure = kMeasures.find(({ name }) => name === choice.measure) ?? kMeasures[0]!;
    this.buttons = kMeasures.map((each) => button(each.title, () => this.choose(each), { class: "btn small", title: `Share of the step: ${each.says}` }));
    this.map = new HeatMap(
      this.data,
      { open: (row, column) => this.open(row, column), says: (cell) => this.say(cell), looks: (window) => this.looks(window) },
      `Ranks by steps: ${this.grid.ranks.length} by ${this.grid.steps.length} cells`,
    );
    this.element = el(
      "div",
      { class: "ranks-map" },
      el("div", { class: "row" }, el("div", { class: "row", role: "group", "aria-label": "What the cells show" }, ...this.buttons), this.scale, this.out, this.detail),
      this.map.element,
      this.said,
    );
    this.show();
    const shown = /^(\d{1,6})-(\d{1,6})$/.exec(choice.ranks ?? "");
    if (shown) this.map.look({ row: Number(shown[1]), row_end: Number(shown[2]), column: 0, column_end: grid.steps.length });
    this.say(null);
  }

  close(): void {
    this.map.close();
  }

  private get data(): HeatData {
    const { ranks, steps, share } = this.grid;
    const values = share[this.measure.name]!;
    let most = this.measure.least_most;
    for (const value of values) if (value > most) most = value;
    return {
      rows: ranks.length,
      columns: steps.length,
      value: (row, column) => values[row * steps.length + column]!,
      most,
      colour: this.measure.colour,
      row_name: (row) => `rank ${ranks[row]}`,
      column_name: (column) => (column === 0 ? `step ${steps[column]}` : String(steps[column])),
      row_marked: (row) => this.stragglers.has(ranks[row]!),
    };
  }

  private choose(measure: Measure): void {
    this.measure = measure;
    note({ show: measure === kMeasures[0] ? null : measure.name });
    this.map.show(this.data);
    this.show();
  }
  private show(): void {
    this.buttons.forEach((each, i) => each.setAttribute("aria-pressed", String(kMeasures[i] === this.measure)));
    const { most, colour } = this.data;
    const ramp = shades(theme().lane, colour);
    const bar = el("i", { class: "heat-ramp", style: { background: `linear-gradient(to right, ${ramp[0]}, ${ramp.at(-1)})` } });
    fill(this.scale, el("small", {}, "0 %"), bar, el("small", {}, `${format.percent(most)} of the step`));
  }

  private looks(window: HeatWindow): void {
    const { per_row, per_column } = this.map.grid();
    this.out.hidden = this.map.is_whole;
    note({ rows: window.row === 0 && window.row_end === this.grid.ranks.length ? null : `${window.row}-${window.row_end}` });
    const each = [per_row > 1 ? `${per_row} ranks` : "", per_column > 1 ? `${per_column} steps` : ""].filter(Boolean).join(" by ");
    const all = this.grid.ranks.length * this.grid.steps.length;
    fill(this.detail, each ? `A cell is ${each}: the largest of them. Click to look closer. ` : "", this.grid.known < all ? `${format.count(all - this.grid.known)} cells are not known.` : "");
  }

  // What the cell of the cursor is, in words; a click on it goes where its largest value is.
  private say(cell: HeatWindow | null): void {
    if (!cell) return fill(this.said, el("span", { class: "muted" }, `Share of the step: ${this.measure.says}. Click a cell for its timeline.`));
    const { value, row, column } = this.map.peak(cell);
    const several = (cell.row_end - cell.row) * (cell.column_end - cell.column) > 1;
    const { ranks, steps, length } = this.grid;
    const at = row * steps.length + column;
    const where = several
      ? `ranks ${ranks[cell.row]} to ${ranks[cell.row_end - 1]}, steps ${steps[cell.column]} to ${steps[cell.column_end - 1]}: most at rank ${ranks[row]}, step ${steps[column]}`
      : `rank ${ranks[row]}, step ${steps[column]}`;
    if (Number.isNaN(value)) return fill(this.said, `${where}: not known`);
    const others = kMeasures
      .filter((each) => each !== this.measure)
      .map((each) => `${each.name} ${format.percent(this.grid.share[each.name]![at]!)}`)
      .join(", ");
    fill(this.said, el("b", {}, `${where}: `), `${this.measure.name} ${format.percent(value)} of ${format.time(length[at]!)} (${format.time((value / 100) * length[at]!)}); ${others}`);
  }

  private open(row: number, column: number): void {
    const target = step_link(this.traces, this.trace_of.get(this.grid.ranks[row]!) ?? null, this.grid.steps[column]!);
    if (target) go(target);
    else fill(this.said, `The trace of rank ${this.grid.ranks[row]} is not here: only its digest is.`);
  }
}
