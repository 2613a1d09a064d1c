// Builds the page twice from one bundle: dist/index.html with dist/assets/* for `ridge serve`, and dist/report.html, a single file with a
// place for the data, for `ridge report`. Nothing is fetched at run time.
import { build } from "esbuild";
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { createHash } from "node:crypto";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const dist = join(here, "dist");

// `<` never stands in the page's own text as it could end the element that holds it.
const inline_script = (text) => text.replaceAll("</script", "<\\/script").replaceAll("<!--", "<\\!--");
const hash = (text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

const common = { bundle: true, minify: true, format: "iife", target: ["es2020"], charset: "utf8", legalComments: "none", write: false, logLevel: "warning" };
// A page of one file has its worker inside.
const regex_worker = await build({ ...common, entryPoints: [join(here, "src/api/regex_worker.ts")] });

const result = await build({
  ...common,
  entryPoints: { app: join(here, "src/main.ts"), tile_worker: join(here, "src/timeline/tile_worker.ts"), style: join(here, "src/style/style.css") },
  outdir: dist,
  define: { RIDGE_REGEX_WORKER: JSON.stringify(regex_worker.outputFiles[0].text) },
});
const output = (ending) => result.outputFiles.find((file) => file.path.endsWith(ending)).text;
const script = output("app.js");
const style = output("style.css");
const page = await readFile(join(here, "src/index.html"), "utf8");

const served = page
  .replace("<!--style-->", () => '<link rel="stylesheet" href="assets/app.css">')
  .replace("<!--script-->", () => '<script src="assets/app.js" defer></script>')
  .replace("<!--policy-->\n", "")
  .replace("<!--data-->\n", "");

const inlined = inline_script(script);
const policy = `default-src 'none'; script-src ${hash(inlined)}; style-src ${hash(style)}; worker-src blob:; img-src data:; base-uri 'none'; form-action 'none'`;
const report = page
  .replace("<!--policy-->", () => `<meta http-equiv="Content-Security-Policy" content="${policy}">`)
  .replace("<!--style-->", () => `<style>${style}</style>`)
  .replace("<!--data-->", () => '<script type="application/json" id="ridge-data">null</script>')
  .replace("<!--script-->", () => `<script>${inlined}</script>`);

// Each file is written beside its place and renamed: several build folders may build the page at once.
async function place(name, text) {
  const path = join(dist, name);
  const beside = `${path}.${process.pid}`;
  await writeFile(beside, text);
  await rename(beside, path);
}
await mkdir(join(dist, "assets"), { recursive: true });
await place("index.html", served);
await place("assets/app.js", script);
await place("assets/app.css", style);
await place("assets/tile_worker.js", output("tile_worker.js"));
await place("report.html", report);
