// The data of a running `ridge serve`. Analyses are kept: a trace does not change while it is served.
import { filter_with } from "./row_filter";
import { canonical, kSearchPage, SourceError, type DataSource, type Parameters, type SlicesPlace } from "./source";
import type { Area, Flame, Counter, Hits, Mark, Overview, Report, SliceDetails, Slices, TraceInfo, TrackGroup, Traces } from "./types";

const kOverviewPixels = 1000;
const kCounterPixels = 8000;
const kLook_ms = { there: 10_000, lost: 2_000 }; // how often the server is looked for while the page is looked at

// Integers beyond 2^53 (pointers, hashes) stay exact as text, where the browser tells the digits.
function exact(_key: string, value: unknown, context?: { source?: string }): unknown {
  const inexact = typeof value === "number" && Number.isInteger(value) && !Number.isSafeInteger(value);
  return inexact && context?.source && /^-?\d+$/.test(context.source) ? context.source : value;
}

export class HttpSource implements DataSource {
  readonly fixed = false;
  private readonly kept = new Map<string, Promise<unknown>>();
  private readonly root = new URL(".", document.baseURI).href;
  private readonly token = new URLSearchParams(location.search).get("token");

  private there = true;
  private told: ((there: boolean) => void) | null = null;
  private looking = 0;

  watch(told: (there: boolean) => void): void {
    this.told = told;
    document.addEventListener("visibilitychange", () => this.check());
    this.look_later();
  }
  check(): void {
    clearTimeout(this.looking);
    this.look_later();
    if (document.visibilityState !== "hidden") void this.get("traces", {}).catch(() => undefined);
  }
  private look_later(): void {
    this.looking = window.setTimeout(() => this.check(), this.there ? kLook_ms.there : kLook_ms.lost);
  }
  private is_there(there: boolean): void {
    if (there === this.there) return;
    this.there = there;
    this.told?.(there);
    clearTimeout(this.looking);
    this.look_later();
  }

  has(): boolean {
    return true;
  }
  windows(): boolean {
    return true;
  }

  traces(): Promise<Traces> {
    return this.keep("traces");
  }
  trace(t: number): Promise<TraceInfo> {
    return this.keep("trace", { t });
  }
  // Its tables are filtered by the server, whose regular expressions take no longer than the text is long.
  async analysis(name: string, parameters: Parameters = {}): Promise<Report> {
    const report = await this.keep<Report>(name, parameters);
    for (const table of report.tables)
      filter_with(table, async (match) => (await this.get<{ rows: number[] }>(name, { ...parameters, table: table.name, match })).rows);
    return report;
  }
  async tracks(t: number): Promise<TrackGroup[]> {
    return (await this.keep<{ groups: TrackGroup[] }>("tracks", { t })).groups;
  }
  slices(t: number, track: number, from: number, to: number, px: number, signal?: AbortSignal): Promise<Slices> {
    return this.get("slices", { t, track, from, to, px }, signal);
  }
  slices_place(t: number, track: number, from: number, to: number, px: number): SlicesPlace {
    return { url: this.root + this.place("slices", { t, track, from, to, px }), shift_ns: 0, first_id: 0 };
  }
  slice(t: number, id: number): Promise<SliceDetails> {
    return this.get("slice", { t, id });
  }
  async neighbour(t: number, id: number, dir: "next" | "prev"): Promise<number | null> {
    return (await this.get<{ id: number | null }>("neighbour", { t, id, dir })).id;
  }
  area(t: number, from: number, to: number, tracks: number[], signal?: AbortSignal): Promise<Area> {
    return this.get("area", { t, from, to, ...(tracks.length ? { tracks: tracks.join(",") } : {}) }, signal);
  }
  flame(t: number, from: number, to: number, tracks: number[]): Promise<Flame> {
    return this.get("flame", { t, from, to, ...(tracks.length ? { tracks: tracks.join(",") } : {}) });
  }
  search(t: number, q: string, skip: number, signal?: AbortSignal): Promise<Hits> {
    return this.get("search", { t, q, limit: kSearchPage, ...(skip ? { skip } : {}) }, signal);
  }
  async marks(t: number): Promise<Mark[]> {
    return (await this.keep<{ marks: Mark[] }>("marks", { t })).marks;
  }
  overview(t: number): Promise<Overview> {
    return this.keep("overview", { t, px: kOverviewPixels });
  }
  async counters(t: number): Promise<Counter[]> {
    return (await this.keep<{ counters: Counter[] }>("counters", { t, px: kCounterPixels })).counters;
  }

  private keep<T>(path: string, parameters: Parameters = {}): Promise<T> {
    const key = canonical(path, parameters);
    let answer = this.kept.get(key) as Promise<T> | undefined;
    if (!answer) {
      answer = this.get<T>(path, parameters);
      this.kept.set(key, answer);
      answer.catch(() => this.kept.delete(key));
    }
    return answer;
  }

  private place(path: string, parameters: Parameters): string {
    return canonical(path, this.token ? { ...parameters, token: this.token } : parameters).slice(1);
  }

  private async get<T>(path: string, parameters: Parameters, signal?: AbortSignal): Promise<T> {
    const lost = (error: Error): never => {
      if (error.name === "AbortError") throw error;
      this.is_there(false);
      throw new SourceError("unreachable", "The server does not answer", "Is `ridge serve` still running?");
    };
    const response = await fetch(this.place(path, parameters), { signal: signal ?? null, credentials: "same-origin" }).catch(lost);
    const text = await response.text().catch(lost); // it may end in the middle of an answer
    this.is_there(true);
    if (!response.ok) throw error_of(text, response.status);
    return JSON.parse(text, path === "slice" || path === "info" ? exact : undefined) as T;
  }
}

function error_of(text: string, status: number): SourceError {
  try {
    const { error } = JSON.parse(text) as { error: { code: string; message: string; hint?: string } };
    return new SourceError(error.code, error.message, error.hint ?? "");
  } catch {
    return new SourceError("http", `The server answered ${status}`);
  }
}
