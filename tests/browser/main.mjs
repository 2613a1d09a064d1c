// Runs the cases one after the other and says which failed. Words on the command line choose cases by parts of their names.
import { readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { close_all, open_browser } from "./harness.mjs";

const folder = join(dirname(fileURLToPath(import.meta.url)), "cases");
const wanted = process.argv.slice(2);
const began = Date.now();
let failed = 0;
let passed = 0;
let skipped = 0;

await open_browser();
for (const file of readdirSync(folder)
  .filter((name) => name.endsWith(".mjs"))
  .sort()) {
  const { cases } = await import(pathToFileURL(join(folder, file)));
  for (const [name, run] of Object.entries(cases)) {
    const title = `${file.replace(".mjs", "")}: ${name}`;
    if (wanted.length && !wanted.some((part) => title.includes(part))) continue;
    const start = Date.now();
    try {
      const outcome = await run();
      if (outcome?.skipped) {
        ++skipped;
        console.log(`skip  ${title}: ${outcome.skipped}`);
        continue;
      }
      ++passed;
      console.log(`ok    ${title} (${Date.now() - start} ms)`);
    } catch (error) {
      ++failed;
      console.log(`FAIL  ${title}\n    ${error.stack?.split("\n").slice(0, 6).join("\n    ") ?? error}`);
    }
  }
}
await close_all();
console.log(`in ${((Date.now() - began) / 1000).toFixed(1)} s`);
console.log(`${passed} passed, ${failed} failed${skipped ? `, ${skipped} skipped` : ""}`);
process.exit(failed ? 1 : 0);
