// An answer of slices as of a later time and with higher ids: one of two traces on one axis (aligned_source.ts), wherever the answer is read.
import type { Slices } from "../api/types";

export function moved_slices(answer: Slices, shift_ns: number, first_id: number): Slices {
  if (!shift_ns && !first_id) return answer;
  const ids = (list: number[]): number[] => list.map((id) => id + first_id);
  return {
    ...answer,
    track: answer.track + first_id,
    from: answer.from + shift_ns,
    to: answer.to + shift_ns,
    depths: answer.depths.map(({ depth, slices, buckets }) => ({
      depth,
      slices: { ...slices, start: slices.start.map((start) => start + shift_ns), id: ids(slices.id) },
      buckets: { ...buckets, id: ids(buckets.id) },
    })),
  };
}
