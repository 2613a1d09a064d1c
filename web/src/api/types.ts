// The documented JSON of ridge (docs/formats.md, docs/http.md) as types. Times are ns from the window's start unless a name says otherwise.

export type Cell = string | number | boolean | null;
export type ColumnType = "text" | "integer" | "number" | "boolean";
export type Unit = "count" | "ns" | "bytes" | "flop" | "percent" | "flop_per_s" | "bytes_per_s" | null;
export type Role = "event" | "time_start" | "time_end" | "frame" | null;

export interface Column {
  name: string;
  type: ColumnType;
  unit: Unit;
  role: Role;
}

export interface Table {
  name: string;
  columns: Column[];
  rows: Cell[][];
  total: Cell[] | null;
  parent: string | null;
}

export interface Series {
  name: string;
  unit: Unit;
  points: [number, number][];
}

export interface Diagnostic {
  code: string;
  count: number;
  message: string;
  severity?: string;
}

export interface Report {
  command: string;
  traces: { path: string; name: string }[];
  tables: Table[];
  series: Series[];
  diagnostics: Diagnostic[];
}

export interface Iteration {
  index: number;
  name: string;
  start_ns: number;
  end_ns: number;
}

export interface TraceInfo {
  index: number;
  name: string;
  state?: "open" | "closed" | "absent"; // closed: the rest is known when it is asked for (open_trace.ts); absent: only its digest is there
  window_ns: number;
  events: number;
  iterations: { count: number; per: string; list: Iteration[] };
}

export interface AnalysisInfo {
  name: string;
  description: string;
  parameters: { name: string; type: string; description: string }[];
}

export interface Traces {
  scope?: Partial<Record<"step" | "from" | "to" | "gpu", string>>; // what the server was given
  ridge: string;
  bench?: boolean; // whether `ridge bench` measured the kernels
  before?: string | null; // what the job was that this one is held against (job_diff)
  traces: TraceInfo[];
  analyses: AnalysisInfo[];
}

export interface Track {
  id: number;
  name: string;
  kind: "thread" | "stream" | "other";
  device: number | null;
  stream: number | null;
  depth: number;
  slices: number;
  busy_ns: number;
  window_ns?: number; // of its trace, where another is shown too
}

export interface TrackGroup {
  id: string;
  name: string;
  labels: string;
  kind: "process" | "device";
  tracks: Track[];
  part?: string; // of several traces on one axis: which
}

export interface Slices {
  track: number;
  from: number;
  to: number;
  bucket_ns: number;
  depths: {
    depth: number;
    slices: { start: number[]; dur: number[]; name: number[]; id: number[]; color: number[] };
    buckets: { at: number[]; count: number[]; busy: number[]; name: number[]; id: number[]; color?: number[] };
  }[];
  names: string[];
  categories: string[];
}

export interface Flow {
  kind: string;
  direction: "in" | "out";
  id: number;
  name: string;
  track: number;
  start_ns: number;
  dur_ns: number;
  depth?: number;
}

export interface Cost {
  flops: number | null;
  flops_pointwise: number | null;
  bytes_read: number | null;
  bytes_written: number | null;
  dtype: string | null;
  estimate: string | null;
  roof_ns: number | null;
  headroom_ns: number | null;
  bound: string | null;
  pct_peak_flops: number | null;
  pct_peak_bandwidth: number | null;
}

export interface SliceDetails {
  id: number;
  name: string;
  category: string;
  track: number;
  start_ns: number;
  dur_ns: number;
  depth: number;
  self_ns: number | null;
  args: Record<string, unknown>;
  op: { id: number | null; name: string } | null; // id null: an op of the capture, which is another trace
  op_from: "eager_run" | "capture" | "capture_file" | null; // where the op was recovered from, when a graph's replay hides it
  frame: string | null;
  module: string | null;
  cost: Cost | null;
  parent: { id: number; name: string } | null;
  flows: Flow[];
  of?: { t: number; name: string; shift_ns: number }; // which of two traces on one axis, and how far it is moved there
}

export interface AreaRow {
  name: string;
  category: string;
  count: number;
  total_ns: number;
  self_ns: number | null;
  trace?: string; // of several on one axis
}

export interface Area {
  busy_pct: Record<string, number>;
  by_name: AreaRow[];
  by_category: AreaRow[];
  slices: number;
}

export interface FlameNode {
  parent: number | null; // null: a track
  track: number;
  name: string | null;
  category: string | null;
  count: number;
  total_ns: number;
  self_ns: number;
}

export interface Flame {
  nodes: FlameNode[];
  left_out: number;
}

export interface Hit {
  id: number;
  name: string;
  track: number;
  start_ns: number;
  dur_ns: number;
  depth?: number;
}

export interface Hits {
  hits: number;
  results: Hit[];
  names: string[] | null; // that match, as slices of a window have them; null: too many
  by_trace?: string; // how many of them each of two traces has
  shown?: number; // how many of the hits can be walked to; absent: all of them
}

// A value holds from its time to the next.
export interface Counter {
  name: string;
  unit: Unit;
  group: "memory" | "queue" | "bandwidth";
  device: number | null;
  peak: number | null;
  known_pct: number | null;
  at: number[];
  value: number[];
  part?: string; // of several traces on one axis: which
}

export interface Mark {
  kind: "break" | "recompile" | "sync" | "gap" | "iteration" | "critical";
  start_ns: number;
  dur_ns: number;
  track: number | null;
  label: string;
  id: number | null;
}

export interface Overview {
  bucket_ns: number;
  host: number[];
  devices: { device: number; busy: number[] }[];
  below?: Overview[]; // of the other traces on the axis
}
