// The time axis above the lanes: ticks, iterations, the user's marks and where search hits are.
import type { Iteration } from "../api/types";
import * as format from "../ui/format";
import { is_stack, origin_of } from "./alignment";
import { kMarkColours, type State } from "./state";
import { prepare, theme } from "./theme";

export const kRulerHeight = 34;
const kNamedFrom = 24; // px: no name fits in less
const kLongestTick = 120; // px
const kReach = 6; // px around a flag that count as it

// 1, 2 or 5 times a power of ten, at least `least`.
export function nice_step(least: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(1e-3, least)));
  return power * (power >= least ? 1 : 2 * power >= least ? 2 : 5 * power >= least ? 5 : 10);
}

export function draw_ruler(canvas: HTMLCanvasElement, state: State): void {
  const { view } = state;
  const colours = theme();
  const context = prepare(canvas, view.width, kRulerHeight);
  context.fillStyle = colours.background;
  context.fillRect(0, 0, view.width, kRulerHeight);
  context.font = "11px system-ui, sans-serif";
  context.textBaseline = "middle";
  const second = is_stack(state.alignment) ? undefined : state.alignment?.[1];
  draw_iterations(context, state, state.trace.iterations.list, second ? { y: 0, height: 11, named: true } : kWholeBand);
  if (second) draw_iterations(context, state, second.iterations, { y: 12, height: 4, named: false });
  draw_ticks(context, state);
  draw_hits(context, state);
  for (const mark of state.marks) {
    if (mark.track === null && mark.kind !== "iteration") flag(context, view.x(mark.start_ns), 15, kMarkColours[mark.kind]);
  }
  for (const note of state.notes) {
    const a = view.x(note.from);
    context.fillStyle = "#d8347b";
    context.fillRect(a, kRulerHeight - 5, Math.max(2, view.x(note.to) - a), 5);
    flag(context, a, 16, "#d8347b");
  }
  context.fillStyle = colours.line;
  context.fillRect(0, kRulerHeight - 1, view.width, 1);
}

// A mark of no track whose flag is near x.
export function ruler_mark_at(state: State, x: number): State["marks"][number] | null {
  const near = (mark: State["marks"][number]): boolean => Math.abs(state.view.x(mark.start_ns) - x) < kReach;
  return state.marks.find((mark) => mark.track === null && mark.kind !== "iteration" && near(mark)) ?? null;
}

function draw_ticks(context: CanvasRenderingContext2D, state: State): void {
  const { view } = state;
  const colours = theme();
  const step = nice_step(view.ns_per_px * 110);
  const origin = origin_of(state.alignment);
  const last = Math.floor((view.to - origin) / step) * step;
  context.fillStyle = colours.muted;
  for (let time = Math.ceil((view.from - origin) / step) * step; time < view.to - origin; time += step) {
    const x = Math.round(view.x(time + origin));
    context.fillRect(x, kRulerHeight - 9, 1, 8);
    const text = format.tick(time, step, last);
    const whole = x + kLongestTick < view.width || x + 4 + context.measureText(text).width <= view.width; // a time without its unit is none
    if (whole) context.fillText(text, x + 4, kRulerHeight - 9);
  }
}

const widths = new Map<string, number>();
function width_of(context: CanvasRenderingContext2D, text: string): number {
  let width = widths.get(text);
  if (width === undefined) widths.set(text, (width = context.measureText(text).width));
  return width;
}

interface Band {
  y: number;
  height: number;
  named: boolean;
}
const kWholeBand: Band = { y: 0, height: 15, named: true };

function draw_iterations(context: CanvasRenderingContext2D, { view }: State, list: Iteration[], { y, height, named }: Band): void {
  const colours = theme();
  for (let i = 0; i < list.length; ++i) {
    const iteration = list[i]!;
    if (iteration.end_ns <= view.from || iteration.start_ns >= view.to) continue;
    const a = Math.max(0, view.x(iteration.start_ns));
    const b = Math.min(view.width, view.x(iteration.end_ns));
    context.fillStyle = kMarkColours.iteration;
    context.globalAlpha = i % 2 ? 0.1 : named ? 0.2 : 0.4;
    context.fillRect(a, y, b - a, height);
    context.globalAlpha = 1;
    context.fillRect(Math.round(a), y, 1, height);
    context.fillStyle = colours.text;
    if (!named || b - a < kNamedFrom) continue;
    const name = name_of(iteration.name, list.length);
    if (width_of(context, name) < b - a - 10) context.fillText(name, a + 5, y + Math.ceil(height / 2));
  }
}

// The only one needs no number.
const name_of = (name: string, all: number): string => (all === 1 ? name.replace(/[ _]0$/, "") : name).slice(0, 60).replaceAll("_", " ");

function draw_hits(context: CanvasRenderingContext2D, state: State): void {
  if (!state.hits) return;
  const { view } = state;
  context.fillStyle = "#d8347b";
  let last = -1;
  for (const page of state.hits.known) {
    for (const hit of page ?? []) {
      const x = Math.round(view.x(hit.start_ns));
      if (x === last || x < 0 || x > view.width) continue;
      context.fillRect(x, kRulerHeight - 5, 1, 4);
      last = x;
    }
  }
}

export function flag(context: CanvasRenderingContext2D, x: number, y: number, colour: string): void {
  context.fillStyle = colour;
  context.beginPath();
  context.moveTo(x - 4, y);
  context.lineTo(x + 4, y);
  context.lineTo(x, y + 7);
  context.fill();
}
