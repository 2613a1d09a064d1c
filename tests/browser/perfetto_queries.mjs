// Queries that people ask Perfetto about traces of PyTorch. `ridge sql` gives the same rows.
const on_threads = "slice JOIN thread_track ON slice.track_id = thread_track.id JOIN thread USING (utid) JOIN process USING (upid)";

export const queries = {
  "kernels by time": `SELECT name, count(*) AS calls, sum(dur) AS total, avg(dur) AS mean, min(dur), max(dur)
    FROM slice WHERE category = 'kernel' GROUP BY name ORDER BY total DESC, name LIMIT 20`,
  "time by category": "SELECT category, count(*), sum(dur) FROM slice GROUP BY category ORDER BY category",
  "ops by time": "SELECT name, count(*), sum(dur) FROM slice WHERE cat = 'cpu_op' GROUP BY 1 ORDER BY 3 DESC, 1",
  "slices of each thread": `SELECT thread.tid, thread.name, count(*), sum(dur) FROM ${on_threads}
    WHERE category IN ('cpu_op', 'cuda_runtime', 'cuda_driver') GROUP BY 1, 2 ORDER BY 1`,
  "kernels of each stream": `SELECT process.pid AS device, tid AS stream, thread.name, process.name, count(*), sum(dur) FROM ${on_threads}
    WHERE category = 'kernel' GROUP BY 1, 2 ORDER BY 1, 2`,
  "what launched each kernel": `SELECT l.name AS launch, k.name AS kernel, count(*) FROM flow
    JOIN slice l ON l.id = flow.slice_out JOIN slice k ON k.id = flow.slice_in WHERE k.category = 'kernel' GROUP BY 1, 2 ORDER BY 3 DESC, 1, 2`,
  "launch latency": `SELECT count(*), min(k.ts - l.ts), max(k.ts - l.ts), avg(k.ts - l.ts) FROM flow
    JOIN slice l ON l.id = slice_out JOIN slice k ON k.id = slice_in WHERE k.category = 'kernel' AND l.category LIKE 'cuda_%'`,
  "device time of each op, by external id": `WITH k AS MATERIALIZED (SELECT extract_arg(arg_set_id, 'args.External id') AS external, dur FROM slice WHERE category = 'kernel'),
      o AS MATERIALIZED (SELECT extract_arg(arg_set_id, 'args.External id') AS external, name FROM slice WHERE category = 'cpu_op')
    SELECT o.name, count(*), sum(k.dur) FROM o JOIN k USING (external) GROUP BY 1 ORDER BY 3 DESC, 1`,
  "arguments of kernels": `SELECT args.key, args.value_type, count(*), count(DISTINCT display_value) FROM args JOIN slice USING (arg_set_id)
    WHERE category = 'kernel' GROUP BY 1, 2 ORDER BY 1, 2`,
  "kernels by grid": `SELECT display_value, count(*) FROM args JOIN slice USING (arg_set_id)
    WHERE key = 'args.grid[0]' AND category = 'kernel' GROUP BY 1 ORDER BY 1`,
  "length of each step": "SELECT name, dur FROM slice WHERE name LIKE 'ProfilerStep%' AND category = 'user_annotation' ORDER BY ts",
  "copies and sets": `SELECT name, count(*), sum(dur), sum(extract_arg(arg_set_id, 'args.bytes')) FROM slice
    WHERE category IN ('gpu_memcpy', 'gpu_memset') GROUP BY name ORDER BY name`,
  "depth of the calls": `SELECT category, depth, count(*) FROM slice
    WHERE category IN ('cpu_op', 'user_annotation', 'python_function', 'cuda_runtime', 'kernel') GROUP BY 1, 2 ORDER BY 1, 2`,
  "who calls whom": `SELECT p.name, c.name, count(*), sum(c.dur) FROM slice c JOIN slice p ON c.parent_id = p.id
    WHERE c.category = 'cpu_op' GROUP BY 1, 2 ORDER BY 3 DESC, 1, 2 LIMIT 50`,
  "self time of ops": `WITH inner_time AS (SELECT parent_id, sum(dur) AS dur FROM slice WHERE parent_id IS NOT NULL GROUP BY parent_id)
    SELECT name, sum(s.dur - coalesce(i.dur, 0)) AS self FROM slice s LEFT JOIN inner_time i ON i.parent_id = s.id
    WHERE category = 'cpu_op' GROUP BY name ORDER BY self DESC, name`,
  "idle time of each stream": `WITH k AS (SELECT track_id, ts + dur AS ends, lead(ts) OVER (PARTITION BY track_id ORDER BY ts) AS next_ts
      FROM slice WHERE category IN ('kernel', 'gpu_memcpy', 'gpu_memset'))
    SELECT count(*), sum(next_ts - ends), max(next_ts - ends) FROM k WHERE next_ts > ends`,
  "the window": "SELECT min(ts), max(ts + dur), max(ts + dur) - min(ts) FROM slice WHERE category IN ('kernel', 'cpu_op', 'cuda_runtime')",
  "longest calls of the runtime": "SELECT name, dur FROM slice WHERE category = 'cuda_runtime' ORDER BY dur DESC, name LIMIT 10",
  "waits for the device": "SELECT name, count(*), sum(dur) FROM slice WHERE name GLOB 'cuda*Synchronize' OR name = 'cudaMemcpyAsync' GROUP BY 1 ORDER BY 1",
  "kernels of each step": `SELECT s.name, count(*), sum(k.dur) FROM slice s JOIN slice k ON k.ts >= s.ts AND k.ts < s.ts + s.dur
    WHERE s.name LIKE 'ProfilerStep%' AND s.category = 'user_annotation' AND k.category = 'kernel' GROUP BY 1 ORDER BY 1`,
  "calls by shape": `SELECT name, extract_arg(arg_set_id, 'args.Input Dims[0][0]') AS rows, extract_arg(arg_set_id, 'args.Input Dims[0][1]') AS columns, count(*)
    FROM slice WHERE category = 'cpu_op' GROUP BY 1, 2, 3 ORDER BY 4 DESC, 1, 2, 3 LIMIT 40`,
  "dtypes of inputs": `SELECT string_value, count(*) FROM args WHERE flat_key = 'args.Input type' GROUP BY 1 ORDER BY 1`,
  "running total of kernels": `SELECT name, ts, sum(dur) OVER (ORDER BY ts, name) AS so_far FROM slice WHERE category = 'kernel' ORDER BY ts, name LIMIT 25`,
};
