// Which rows of a table a filter lets through, and in which order they stand.
import { kExactMark, plain_match } from "../api/name_match";
import type { Cell } from "../api/types";

// A plain text is looked for as it stands, "=…" as a whole one, as in a search; null matches all. Regular expressions are api/row_filter.ts's.
export function matcher(text: string): ((value: string) => boolean) | null {
  return text && text !== kExactMark ? plain_match(text) : null;
}

export function compare(a: Cell, b: Cell, sign: number): number {
  if (a === null || b === null) return a === b ? 0 : a === null ? 1 : -1; // unknown is last either way
  if (typeof a === "string" && typeof b === "string") return sign * (a < b ? -1 : a > b ? 1 : 0);
  return sign * (Number(a) - Number(b));
}
