// A data-parallel job with known faults, as traces of its ranks: kernels on stream 7, all-reduces on stream 20. A collective ends for all ranks at the same
// moment, one rank computes longer than the others and so arrives last, and each rank has a clock of its own.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export const kSlow = 2; // the rank that is slow
const kKernels = 4; // between two collectives
const kKernel_us = 500;
const kSlower_us = 150; // that a kernel of the slow rank takes longer
const kTransfer_us = 200;
const kCollectives = 2; // a step

// What is true of it, in ns: by rank and collective when it arrived, and when all had it; on a clock that begins with the first step.
function plan(ranks, steps, slower_us) {
  const free = new Array(ranks).fill(0);
  const meetings = [];
  const compute = []; // [rank][...] of { start, dur }, us
  for (let rank = 0; rank < ranks; ++rank) compute.push([]);
  for (let step = 0; step < steps; ++step) {
    for (let each = 0; each < kCollectives; ++each) {
      for (let rank = 0; rank < ranks; ++rank) {
        const dur = kKernel_us + (rank === kSlow ? slower_us : (rank * 7) % 5);
        for (let i = 0; i < kKernels; ++i) compute[rank].push({ step, start: free[rank] + i * dur + 20, dur: dur - 5 });
        free[rank] += kKernels * dur + 20;
      }
      const arrived = [...free];
      const end = Math.max(...free) + kTransfer_us;
      meetings.push({ step, arrived, end });
      free.fill(end + 10);
    }
  }
  return { meetings, compute };
}

// rank0.json ... in a new folder; returns where it is, and the truth.
export function make_job(folder, { ranks = 4, steps = 5, slower_us = kSlower_us } = {}) {
  mkdirSync(folder, { recursive: true });
  const { meetings, compute } = plan(ranks, steps, slower_us);
  const members = Array.from({ length: ranks }, (_, i) => i);
  for (const rank of members) {
    const ahead_us = rank * 131072.75; // its clock is ahead by this
    const at = (us) => 4_000_000_000 + us + ahead_us;
    const pid = 5000 + rank;
    const events = [];
    let id = 1;
    const issued = new Array(steps).fill(0); // launches of each step so far: the host issues them all at its start, then waits for the device
    const begin_of = (step) => (step === 0 ? 0 : meetings[step * kCollectives - 1].end);
    const launched = (step, name, start, dur, stream, args) => {
      const correlation = ++id;
      const when = begin_of(step) + 1 + 2 * issued[step]++;
      events.push({ ph: "X", cat: "cuda_runtime", name: "cudaLaunchKernel", pid, tid: pid, ts: at(when), dur: 1.5, args: { correlation, "External id": correlation } });
      const own = { "External id": correlation, device: 0, context: 1, stream, correlation, grid: [64, 1, 1], block: [256, 1, 1], ...args };
      events.push({ ph: "X", cat: "kernel", name, pid: 0, tid: stream, ts: at(start), dur, args: own });
    };
    for (let step = 0; step < steps; ++step) {
      const begin = begin_of(step);
      const end = meetings[(step + 1) * kCollectives - 1].end;
      events.push({ ph: "X", cat: "user_annotation", name: `ProfilerStep#${step + 1}`, pid, tid: pid, ts: at(begin), dur: end - begin - 1, args: { "External id": ++id } });
      events.push({ ph: "X", cat: "cuda_runtime", name: "cudaDeviceSynchronize", pid, tid: pid, ts: at(begin + 25), dur: end - begin - 27, args: { correlation: ++id } });
    }
    meetings.forEach(({ step, arrived, end }, i) => {
      for (const each of compute[rank].slice(i * kKernels, (i + 1) * kKernels)) launched(step, "void gemm_kernel(float*)", each.start, each.dur, 7, {});
      const args = { "Collective name": "allreduce", "In msg nelems": 25000000, "Out msg nelems": 25000000, "Group size": ranks, dtype: "BFloat16", "Process Group Name": "0", "Process Group Description": "default_pg", "Process Group Ranks": JSON.stringify(members.slice(0, 30)), Seq: i };
      launched(step, "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)", arrived[rank], end - arrived[rank], 20, args);
    });
    const trace = {
      schemaVersion: 1,
      deviceProperties: [{ id: 0, name: "NVIDIA H200", totalGlobalMem: 150109880320, computeMajor: 9, computeMinor: 0, numSms: 132 }],
      distributedInfo: { backend: "nccl", rank, world_size: ranks, pg_count: 1, pg_config: [{ pg_name: "0", pg_desc: "default_pg", backend_config: "cuda:nccl", pg_size: ranks, ranks: members }] },
      baseTimeNanoseconds: 1790000000000000000,
      traceEvents: events,
    };
    writeFileSync(join(folder, `rank${rank}.json`), JSON.stringify(trace));
  }
  return { folder, meetings: meetings.map(({ step, arrived, end }) => ({ step, arrived_ns: arrived.map((us) => us * 1000), end_ns: end * 1000 })) };
}
