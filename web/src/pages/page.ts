// What a page is to the shell: an element, and what to do when the URL changes under it or it is left.
import type { DataSource } from "../api/source";
import type { TraceInfo, Traces } from "../api/types";

export interface Context {
  source: DataSource;
  all: Traces;
  t: number; // the chosen trace
  trace: TraceInfo;
  parameters: URLSearchParams;
  scope: Record<string, string>; // the part of the trace, as parameters of a question
}

export interface Page {
  element: HTMLElement;
  update?: (parameters: URLSearchParams, scope: Context["scope"]) => Promise<void>; // same page, other parameters; absent: the page is made anew
  close?: () => void;
}

export type Make = (context: Context) => Promise<Page>;

// The parameters that an analysis of the chosen trace is asked with.
export function asked(context: Context, more: Record<string, string> = {}): Record<string, string | number> {
  return { ...context.scope, ...more, t: context.t };
}
