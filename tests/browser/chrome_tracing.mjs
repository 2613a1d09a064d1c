// Opens a trace as chrome://tracing does: with that page's own importer, from the npm package that Chromium's authors published, and without its
// canvas. Debian's Chromium is built without the page itself.
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { createContext, runInContext } from "node:vm";
import { gunzipSync } from "node:zlib";

const package_folder = join(dirname(fileURLToPath(import.meta.url)), "node_modules/traceviewer/tracing");
const kFolders = ["", "third_party", "third_party/gl-matrix/dist", "third_party/jszip"]; // where the page's server looks for what an import names
const kEntries = ["base/base", "base/timing", "importer/import", "extras/importer/trace_event_importer", "model/model"];
const kImportOrScript = /<link\s+rel="import"\s+href="([^"]+)"|<script(?:\s+src="([^"]+)")?[^>]*>([\s\S]*?)<\/script>/g;

// The importer is written in HTML imports, which no browser has any more: they are followed here, in order, each file once.
function load_importer() {
  const silent = { log() {}, warn() {}, error() {} }; // what it complains of is in the model, too
  const globals = { console: silent, isVinn: true }; // Vinn: the runner without a page for which it was written
  globals.global = globals.self = globals;
  const context = createContext(globals);
  const loaded = new Set();
  const follow = (address) => {
    const file = kFolders.map((folder) => join(package_folder, folder, address)).find(existsSync);
    if (!file) throw new Error(`traceviewer has no ${address}`);
    if (loaded.has(file)) return;
    loaded.add(file);
    const text = readFileSync(file, "utf8");
    if (address.endsWith(".js")) return void runInContext(text, context, { filename: file });
    for (const [, imported, script, body] of text.replace(/<!--[\s\S]*?-->/g, "").matchAll(kImportOrScript)) {
      if (imported ?? script) follow(imported ?? script);
      else runInContext(`(function () {${body}\n}).call(this)`, context, { filename: file });
    }
  };
  for (const entry of kEntries) follow(`/tracing/${entry}.html`);
  return globals.tr;
}

const viewer = load_importer();

// What the page would show: its slices by process and thread, its flow arrows, and what it complained of. Throws what the page would refuse.
export function open_in_chrome_tracing(path) {
  const bytes = readFileSync(path);
  const text = (bytes[0] === 0x1f ? gunzipSync(bytes) : bytes).toString("utf8");
  const model = new viewer.Model();
  const options = new viewer.importer.ImportOptions();
  options.shiftWorldToZero = false;
  options.pruneEmptyContainers = false;
  new viewer.importer.Import(model, options).importTraces([text]);
  const slices = [];
  for (const process of model.getAllProcesses())
    for (const thread of Object.values(process.threads))
      for (const { title: name, category, start, duration, args } of thread.sliceGroup.slices)
        slices.push({ pid: process.pid, tid: thread.tid, name, category, start, duration, args });
  return { slices, flows: model.flowEvents, complaints: model.importWarnings.map((each) => `${each.type}: ${each.message}`) };
}
