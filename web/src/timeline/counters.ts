// Curves over time as tracks of their own: memory, queue depth, bandwidth. Each is a step curve from 0 to the most that it, or its peak, has.
import type { Counter, Track, TrackGroup } from "../api/types";
import * as format from "../ui/format";
import { theme } from "./theme";
import type { View } from "./view";

export const kCounterHeight = 44; // px

const kColours: Record<Counter["group"], string> = { memory: "#0072b2", queue: "#e69f00", bandwidth: "#009e73" };

// A group whose tracks stand for counters: ids below 0, which no slice has.
export const counter_id = (index: number): number => -1 - index;

// Empty without counters.
export function counter_groups(counters: Counter[]): TrackGroup[] {
  const track = (counter: Counter): Track => ({
    id: counter_id(counters.indexOf(counter)),
    name: shown_name(counter),
    kind: "other",
    device: counter.device,
    stream: null,
    depth: 1,
    slices: 0,
    busy_ns: 0,
  });
  // Of two traces each has its own.
  return [...new Set(counters.map(({ part }) => part))].map((part) => ({
    id: `${part ?? ""}counters`,
    name: part ? `${part} · Counters` : "Counters",
    labels: "",
    kind: "process",
    tracks: counters.filter((counter) => counter.part === part).map(track),
    ...(part ? { part } : {}),
  }));
}

// "queue_depth of device 0" -> "queue depth, GPU 0"
export const shown_name = (counter: Counter): string => counter.name.replace(" of device ", ", GPU ").replaceAll("_", " ");

export const most_of = (counter: Counter): number => counter.value.reduce((most, value) => Math.max(most, value), 0);

export function counter_text(counter: Counter): string {
  const known = counter.known_pct === null || counter.known_pct > 99.95 ? "" : `\nbytes known for ${format.percent(counter.known_pct)} of kernel time`;
  const peak = counter.peak === null ? "" : `, peak of the device ${format.number(counter.peak, counter.unit)}`;
  return `most ${format.number(most_of(counter), counter.unit)}${peak}${known}`;
}

// The value at a time; null before the first.
export function value_at(counter: Counter, time: number): number | null {
  const after = first_later(counter.at, time);
  return after ? counter.value[after - 1]! : null;
}

export function draw_counter(context: CanvasRenderingContext2D, counter: Counter, view: View, y: number, height: number): void {
  const colours = theme();
  const most = Math.max(most_of(counter), 1e-9);
  const scale = (height - 6) / most;
  const bottom = y + height;
  context.fillStyle = kColours[counter.group];
  context.globalAlpha = 0.55;
  const bar = (x: number, width: number, high: number): void => {
    if (high > 0) context.fillRect(x, bottom - Math.max(1, high * scale), width, Math.max(1, high * scale));
  };
  const { at, value } = counter;
  let i = Math.max(0, first_later(at, view.from) - 1);
  while (i < at.length && at[i]! < view.to) {
    // the pixel where it changes shows the highest value in it; up to the next change its last one holds
    const x = Math.max(0, Math.floor(view.x(at[i]!)));
    let high = value[i]!;
    while (i + 1 < at.length && view.x(at[i + 1]!) < x + 1) high = Math.max(high, value[++i]!);
    const end = i + 1 < at.length ? Math.min(view.width, Math.floor(view.x(at[i + 1]!))) : view.width;
    bar(x, 1, high);
    if (end > x + 1) bar(x + 1, end - x - 1, value[i]!);
    i += 1;
  }
  context.globalAlpha = 1;
  context.fillStyle = colours.muted;
  context.font = '10px system-ui, "Segoe UI", Roboto, Arial, sans-serif';
  context.textBaseline = "top";
  context.fillText(format.number(most, counter.unit), 4, y + 2);
}

function first_later(values: number[], limit: number): number {
  let [low, high] = [0, values.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle]! > limit) high = middle;
    else low = middle + 1;
  }
  return low;
}
