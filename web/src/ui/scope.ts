// The part of the trace that every page shows: one iteration, a run of them, or a range of time. It stands in the URL, and every link
// of the page carries it (router.ts). What the server was given (`ridge serve --step`) holds until another part is chosen.
import type { TraceInfo } from "../api/types";
import * as format from "./format";

export type Scope = Partial<Record<"step" | "from" | "to", string>>; // step "all": the whole trace, whatever the server was given

const kWhole = "all";
const kStep = /^(\d{1,15})(?:-(\d{1,15}))?$/;
const kTime = /^\d{1,12}(\.\d{1,9})?$/;

// What of the URL's parameters is a scope; anything else is left out, as if it were not there.
export function scope_of(parameters: URLSearchParams): Scope {
  const step = parameters.get("step") ?? "";
  const scope: Scope = kStep.test(step) || step === kWhole ? { step } : {};
  for (const key of ["from", "to"] as const) if (kTime.test(parameters.get(key) ?? "")) scope[key] = parameters.get(key)!;
  return scope;
}

export const scope_key = (scope: Scope): string => [scope.step ?? "", scope.from ?? "", scope.to ?? ""].join("/");

// What holds: the URL's, or the server's own.
export function effective(scope: Scope, given: Scope): Scope {
  if (scope.step === kWhole) return {};
  return scope.step || scope.from || scope.to ? scope : given;
}

// The parameters of a question. An empty one takes back what the server was given.
export function scope_query(scope: Scope, given: Scope): Record<string, string> {
  const wanted = effective(scope, given);
  const query: Record<string, string> = {};
  for (const key of ["step", "from", "to"] as const) {
    if (wanted[key] === given[key]) continue;
    query[key] = wanted[key] ?? "";
  }
  return query;
}

// What the URL says for the whole trace.
export const whole = (given: Scope): Record<string, string | null> => ({
  step: given.step || given.from || given.to ? kWhole : null,
  from: null,
  to: null,
});

export function steps_of(scope: Scope): [number, number] | null {
  const found = kStep.exec(scope.step ?? "");
  return found ? [Number(found[1]), Number(found[2] ?? found[1])] : null;
}

// Where it lies, in ns; null: the whole trace, or iterations that are not listed.
export function range_of(scope: Scope, trace: TraceInfo): [number, number] | null {
  const steps = steps_of(scope);
  const inside = steps ? trace.iterations.list.filter((each) => each.index >= steps[0] && each.index <= steps[1]) : [];
  if (steps && !inside.length) return null;
  if (!steps && !scope.from && !scope.to) return null;
  const from = inside.length ? Math.min(...inside.map((each) => each.start_ns)) : 0;
  const to = inside.length ? Math.max(...inside.map((each) => each.end_ns)) : trace.window_ns;
  return [Math.max(from, scope.from ? Number(scope.from) * 1e6 : -Infinity), Math.min(to, scope.to ? Number(scope.to) * 1e6 : Infinity)];
}

// In words; empty for the whole trace.
export function scope_text(scope: Scope, trace: TraceInfo): string {
  const steps = steps_of(scope);
  const parts: string[] = [];
  if (steps) parts.push(steps[0] === steps[1] ? `iteration ${steps[0]}` : `iterations ${steps[0]} to ${steps[1]}`);
  if (scope.from || scope.to) parts.push(`from ${scope.from ?? 0} ms ${scope.to ? `to ${scope.to} ms` : "on"}`);
  const range = range_of(scope, trace);
  return parts.length && range && steps && !scope.from && !scope.to ? `${parts[0]} (${format.time(range[1] - range[0])})` : parts.join(", ");
}
