// Runs beside the page: asks the server for slices, and hands them over as tiles.
import type { SlicesPlace } from "../api/source";
import type { Slices } from "../api/types";
import { Paints } from "../ui/palette";
import { moved_slices } from "./moved_slices";
import { pack } from "./tile";
import type { Delivery, Order } from "./tile_source";

const paints = new Paints();
let told = 0; // paints that the page knows
const under_way = new Map<number, AbortController>();
const page = self as unknown as { postMessage(message: Delivery, transfer: Transferable[]): void };

function deliver(id: number, answer: Slices | null): void {
  const tile = answer && pack(answer, paints);
  const fresh = paints.all.slice(told);
  told = paints.all.length;
  page.postMessage({ id, tile, paints: fresh }, tile ? [tile.buffer] : []);
}

async function ask(id: number, { url, shift_ns, first_id }: SlicesPlace): Promise<void> {
  const control = new AbortController();
  under_way.set(id, control);
  try {
    const response = await fetch(url, { signal: control.signal, credentials: "same-origin" });
    const answer = response.ok ? ((await response.json()) as Slices) : null;
    if (!control.signal.aborted) deliver(id, answer && moved_slices(answer, shift_ns, first_id));
  } catch {
    if (!control.signal.aborted) deliver(id, null);
  } finally {
    under_way.delete(id);
  }
}

self.addEventListener("message", ({ data }: MessageEvent<Order>) => {
  if (data.url !== null) void ask(data.id, data);
  else under_way.get(data.id)?.abort();
});
