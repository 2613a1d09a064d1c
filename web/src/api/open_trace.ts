// A trace of a large job is read by the server when it is first looked at; until then the page knows its name.
import type { DataSource } from "./source";
import type { Traces } from "./types";

// Fills what is known of it.
export async function open_trace(source: DataSource, all: Traces, t: number): Promise<void> {
  const trace = all.traces[t];
  if (trace?.state === "closed") Object.assign(trace, await source.trace(t));
}
