// Where tiles come from. To ask, to read an answer and to unpack it takes a millisecond and leaves garbage behind: a server's answers are read by
// tile_worker.ts, so that a view that moves pays for none of it. What is in the page already, and the page of a browser that starts no worker, is read here.
import type { DataSource, SlicesPlace } from "../api/source";
import { Paints, type Paint } from "../ui/palette";
import { pack, unpack, type PackedTile, type Tile } from "./tile";

const kWorker = "assets/tile_worker.js";

export type Done = (tile: Tile | null) => void; // null: it did not come

export interface TileSource {
  readonly at_once: boolean; // to ask costs next to nothing, and may be done within a frame
  ask(track: number, from: number, to: number, px: number, done: Done): () => void; // returns what gives it up: `done` is not called then
  close(): void;
}

// To the worker.
export type Order = ({ id: number } & SlicesPlace) | { id: number; url: null }; // null: give it up
// And back.
export interface Delivery {
  id: number;
  tile: PackedTile | null;
  paints: Paint[]; // those that no delivery before had
}

export function open_tiles(source: DataSource, t: number, paints: Paints): TileSource {
  const here = new TilesOfPage(source, t, paints);
  return source.fixed || typeof Worker === "undefined" ? here : new TilesOfWorker(source, t, paints, here);
}

class TilesOfPage implements TileSource {
  readonly at_once = false;
  private readonly closed = new AbortController();

  constructor(
    private readonly source: DataSource,
    private readonly t: number,
    private readonly paints: Paints,
  ) {}

  ask(track: number, from: number, to: number, px: number, done: Done): () => void {
    const control = new AbortController();
    const give_up = (): void => control.abort();
    this.closed.signal.addEventListener("abort", give_up, { signal: control.signal });
    this.source
      .slices(this.t, track, from, to, px, control.signal)
      .then((answer) => unpack(pack(answer, this.paints)))
      .catch(() => null)
      .then((tile) => control.signal.aborted || done(tile));
    return give_up;
  }
  close(): void {
    this.closed.abort();
  }
}

type Asked = [track: number, from: number, to: number, px: number, done: Done];

class TilesOfWorker implements TileSource {
  private readonly worker = new Worker(kWorker);
  private readonly waiting = new Map<number, Asked>();
  private readonly moved = new Map<number, () => void>(); // what the worker was asked and this page answers -> gives it up
  private last = 0;
  private broken = false; // there is no worker: this page reads the answers

  constructor(
    private readonly source: DataSource,
    private readonly t: number,
    private readonly paints: Paints,
    private readonly here: TileSource,
  ) {
    this.worker.addEventListener("message", ({ data }: MessageEvent<Delivery>) => this.came(data));
    this.worker.addEventListener("error", () => this.fail());
  }

  get at_once(): boolean {
    return !this.broken;
  }

  ask(...asked: Asked): () => void {
    if (this.broken) return this.here.ask(...asked);
    const id = ++this.last;
    const [track, from, to, px] = asked;
    this.waiting.set(id, asked);
    this.send({ id, ...this.source.slices_place(this.t, track, from, to, px) });
    return () => {
      if (this.waiting.delete(id)) this.send({ id, url: null });
      this.moved.get(id)?.();
    };
  }
  close(): void {
    this.waiting.clear();
    this.worker.terminate();
    this.here.close();
  }

  private send(order: Order): void {
    this.worker.postMessage(order);
  }

  private came({ id, tile, paints }: Delivery): void {
    for (const paint of paints) this.paints.all.push(paint);
    const asked = this.waiting.get(id);
    if (!asked) return;
    this.waiting.delete(id);
    if (!tile) this.source.check();
    asked[4](tile && unpack(tile));
  }

  // Its script did not come: once it runs its errors are answers too. What it was asked, and all that follows, is read here.
  private fail(): void {
    this.broken = true;
    this.worker.terminate();
    for (const [id, asked] of this.waiting) this.moved.set(id, this.here.ask(...asked));
    this.waiting.clear();
  }
}
