// The hits of a search, a page of them at a time: the first comes with their number, the others when one walks there.
import { kSearchPage } from "../api/source";
import type { Hit, Hits } from "../api/types";

export class HitList {
  readonly hits: number; // in all
  readonly by_trace: string; // of two traces on one axis
  readonly shown: number; // of them, those that one can walk to
  readonly known: Hit[][]; // by page; a page that nobody has walked to is missing
  private readonly coming = new Map<number, Promise<void>>();

  constructor(
    first: Hits,
    private readonly ask: (skip: number) => Promise<Hits>,
  ) {
    this.hits = first.hits;
    this.by_trace = first.by_trace ? ` (${first.by_trace})` : "";
    this.shown = first.shown ?? first.hits;
    this.known = [first.results];
  }

  async at(index: number): Promise<Hit | null> {
    const page = Math.floor(index / kSearchPage);
    if (!this.known[page]) await this.load(page);
    return this.known[page]?.[index % kSearchPage] ?? null;
  }

  private load(page: number): Promise<void> {
    const known = this.coming.get(page);
    if (known) return known;
    const loading = this.ask(page * kSearchPage)
      .then(({ results }) => void (this.known[page] = results))
      .finally(() => this.coming.delete(page)); // one that failed is asked for again
    this.coming.set(page, loading);
    return loading;
  }
}
