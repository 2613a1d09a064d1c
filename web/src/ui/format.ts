// Numbers as people read them: three or four digits and a unit. Unknown is a dash, never a zero.
import type { Cell, Column, Unit } from "../api/types";

export const kUnknown = "–";

type Step = [number, string];
const kSteps: Record<string, Step[]> = {
  ns: [
    [1e9, "s"],
    [1e6, "ms"],
    [1e3, "µs"],
    [1, "ns"],
  ],
  bytes: [
    [1e12, "TB"],
    [1e9, "GB"],
    [1e6, "MB"],
    [1e3, "kB"],
    [1, "B"],
  ],
  flop: [
    [1e15, "PFLOP"],
    [1e12, "TFLOP"],
    [1e9, "GFLOP"],
    [1e6, "MFLOP"],
    [1e3, "kFLOP"],
    [1, "FLOP"],
  ],
  flop_per_s: [
    [1e15, "PFLOP/s"],
    [1e12, "TFLOP/s"],
    [1e9, "GFLOP/s"],
    [1e6, "MFLOP/s"],
    [1e3, "kFLOP/s"],
    [1, "FLOP/s"],
  ],
  bytes_per_s: [
    [1e12, "TB/s"],
    [1e9, "GB/s"],
    [1e6, "MB/s"],
    [1e3, "kB/s"],
    [1, "B/s"],
  ],
};

// A minus as wide as the digits, not a hyphen: "−12.8 %".
const kMinus = "\u2212";
const signed = (text: string): string => (text.startsWith("-") ? kMinus + text.slice(1) : text);

// 1234.5 -> "1,234.5" with at least `digits` significant ones.
function significant(value: number, digits: number): string {
  const magnitude = Math.abs(value);
  const whole = magnitude < 1 ? 1 : Math.floor(Math.log10(magnitude)) + 1;
  const decimals = Number.isInteger(value) ? 0 : Math.max(0, Math.min(digits, digits - whole));
  return signed(value.toLocaleString("en-US", { minimumFractionDigits: 0, maximumFractionDigits: decimals }));
}

export function scaled(value: number, unit: string, digits = 4): string {
  const steps = kSteps[unit];
  if (!steps) return significant(value, digits);
  const [size, name] = steps.find(([step]) => Math.abs(value) >= step) ?? steps[steps.length - 1]!;
  return `${significant(value / size, digits)} ${name}`;
}

export const time = (ns: number | null): string => (ns === null ? kUnknown : scaled(ns, "ns"));
// A point in time, to the nanosecond.
export const moment = (ns: number): string => `${(ns / 1e6).toLocaleString("en-US", { minimumFractionDigits: 6 })} ms`;
export const count = (value: number): string => signed(value.toLocaleString("en-US", { maximumFractionDigits: 2 }));
export const plural = (value: number, one: string, many: string): string => `${count(value)} ${value === 1 ? one : many}`;
export const percent = (value: number | null): string =>
  value === null ? kUnknown : `${signed(value.toLocaleString("en-US", { maximumFractionDigits: Math.abs(value) < 10 ? 2 : 1 }))} %`;

export function number(value: number, unit: Unit): string {
  if (unit === "percent") return percent(value);
  if (unit === "count") return count(value);
  if (unit) return scaled(value, unit);
  return Number.isInteger(value) ? String(value) : significant(value, 4);
}

// A number and its unit stay on one line.
export const unbroken = (text: string): string => text.replace(/(?<=\d) (?=(?:%|[nµm]?s|[kMGTP]?B|[kMGTP]?FLOP)(?![\p{L}\d]))/gu, "\u00a0");

// Sentences of the engine are plain ASCII ("975.264 us"): times in them are written as everywhere else on the page.
export const prose = (text: string): string => text.replace(/(?<![\w.])(\d+(?:\.\d+)?) us\b/g, (_all, us: string) => scaled(Number(us) * 1e3, "ns"));
const kProse = new Set(["finding", "evidence", "do", "verdict", "note", "message", "meaning"]);

export function cell(value: Cell | undefined, column: Pick<Column, "unit"> & { name?: string }): string {
  if (value === null || value === undefined || value === "") return kUnknown;
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (column.name === "base_time_ns") return date(Number(value)); // text where the number is too large to be exact
  if (typeof value === "number") return number(value, column.unit);
  return kProse.has(column.name ?? "") ? prose(value) : value;
}

// Nanoseconds since 1970 as a date: a number of 19 digits says nothing.
function date(ns: number): string {
  const when = new Date(ns / 1e6);
  return Number.isNaN(when.getTime()) ? String(ns) : `${when.toISOString().slice(0, 19).replace("T", " ")} UTC`;
}

// "gpu_busy_per_iteration_ns" -> "GPU busy per iteration": units are in the cells, unless the column has none (a count of ns since the epoch).
const kUpper: Record<string, string> = {
  gpu: "GPU",
  json: "JSON",
  cpu: "CPU",
  id: "ID",
  p50: "p50",
  p99: "p99",
  flops: "FLOPs",
  pct: "%",
  dtype: "dtype",
  cuda: "CUDA",
  mfu: "MFU",
  sm: "SM",
  pid: "PID",
  tid: "TID",
  "flops/s": "FLOP/s",
};
export function heading(name: string, unit: Unit = "ns"): string {
  if (name === "per") return "Iterations by";
  const plain = unit === null ? name : name.replace(/_ns\b|_ns(?=_)|_bytes$/g, "");
  const words = plain
    .replace(/_per_s$/, "/s")
    .split("_")
    .filter(Boolean);
  const text = words.map((word) => kUpper[word] ?? (word.length === 1 ? word.toUpperCase() : word)).join(" ");
  return text.charAt(0).toUpperCase() + text.slice(1);
}

// A point in time for rulers: enough digits for the step between two ticks, and one unit on the whole ruler: that of the largest time in sight.
const kTickFormats = Array.from(
  { length: 10 },
  (_, digits) => new Intl.NumberFormat("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits }),
);
export function tick(ns: number, step_ns: number, largest_ns: number): string {
  const [size, name] = (kSteps.ns!.find(([s]) => Math.max(Math.abs(largest_ns), step_ns) >= s) ?? kSteps.ns![3])!;
  const decimals = Math.min(9, Math.max(0, Math.ceil(-Math.log10(step_ns / size) - 1e-9)));
  return `${kTickFormats[decimals]!.format(ns / size)} ${name}`;
}
