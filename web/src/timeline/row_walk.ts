// From row to row by keyboard: which slice stands above or below the selected one, at its time, in the tracks as they are laid out.
import type { Slices } from "../api/types";
import type { State } from "./state";

const kBuckets = 1024;

// The id of a slice in the next row down (step 1) or up (-1) that has any in view; without a selection, in the first row or the last. null: there is none.
export async function slice_beside(state: State, step: 1 | -1): Promise<number | null> {
  const { lanes, view, selection, source, t } = state;
  const tracks = [...lanes.pinned_boxes, ...lanes.boxes].flatMap((box) => (box.track && box.track.id >= 0 ? [box.track.id] : []));
  const middle = selection ? selection.start_ns + selection.dur_ns / 2 : (view.from + view.to) / 2;
  const time = Math.min(view.to, Math.max(view.from, middle));
  const range: [number, number] = [Math.max(0, Math.floor(view.from)), Math.max(1, Math.ceil(view.to))];
  const here = selection ? tracks.indexOf(selection.track) : -1;
  let depth = here >= 0 ? selection!.depth + step : step > 0 ? 0 : Infinity;
  for (let at = here >= 0 ? here : step > 0 ? 0 : tracks.length - 1; at >= 0 && at < tracks.length; at += step) {
    const answer = await source.slices(t, tracks[at]!, ...range, kBuckets);
    const rows = answer.depths.filter((row) => (step > 0 ? row.depth >= depth : row.depth <= depth)).sort((a, b) => step * (a.depth - b.depth));
    for (const row of rows) {
      const id = nearest(answer, row, time);
      if (id !== null) return id;
    }
    depth = step > 0 ? 0 : Infinity;
  }
  return null;
}

function nearest(answer: Slices, { slices, buckets }: Slices["depths"][number], time: number): number | null {
  let best: number | null = null;
  let least = Infinity;
  const consider = (id: number, from: number, to: number): void => {
    const away = Math.max(0, from - time, time - to);
    if (away < least) [best, least] = [id, away];
  };
  slices.id.forEach((id, i) => consider(id, slices.start[i]!, slices.start[i]! + slices.dur[i]!));
  buckets.id.forEach((id, i) => {
    const from = answer.from + buckets.at[i]! * answer.bucket_ns;
    consider(id, from, from + answer.bucket_ns);
  });
  return best;
}
