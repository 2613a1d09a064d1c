// Whatever a trace holds is shown as text, in the page and in the report.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { check, open, run_ridge, scratch, serve, settle, shoot, visit } from "../harness.mjs";
import { texts, write_hostile_trace } from "../hostile_trace.mjs";

const path = join(scratch, "hostile.json");
write_hostile_trace(path);
const kPages = ["summary", "timeline", "kernels", "roofline", "categories", "gpu", "ops", "graphs", "compile", "health"];

// Nothing ran, and no element came from the trace.
async function untouched(page, where) {
  const found = await page.evaluate(() => ({
    ran: window.__pwned,
    made: [...document.querySelectorAll("main img, main script, main b b, main iframe, main a[href^='javascript']")].length,
    turned: /[\u202a-\u202e\u2066-\u2069]/.test(document.querySelector("main").textContent),
    longest: Math.max(
      0,
      ...[...document.querySelectorAll("main *")].filter((node) => !node.children.length).map((node) => node.textContent.length),
    ),
  }));
  check(found.ran === undefined, `${where}: a text of the trace ran (${found.ran})`);
  check(found.made === 0, `${where}: ${found.made} elements were made of the trace's texts`);
  check(!found.turned, `${where}: a mark of the trace turns the direction of the page's text`);
  check(found.longest < 6000, `${where}: a text of ${found.longest} characters is in the page`);
}

async function walk(page, where) {
  for (const name of kPages) {
    const offered = await page.$(`.nav-item[href^="#/${name}"]`);
    if (!offered) continue;
    await visit(page, name);
    check(!(await page.$("main .note[role=alert]")), `${where} ${name} shows an error`);
    await untouched(page, `${where} ${name}`);
  }
}

export const cases = {
  "names are text in the page": async () => {
    const server = await serve(path);
    const { page, finish } = await open(server.url);
    await walk(page, "page");
    await visit(page, "kernels");
    const shown = await page.$$eval(".t-row", (rows) => rows.map((row) => row.textContent).join("\n"));
    check(shown.includes(texts.script), "the script stands there as text");
    await finish();
  },

  "a slice of such names shows them as text": async () => {
    const server = await serve(path);
    const { page, finish } = await open(server.url);
    for (const [what, text] of Object.entries(texts)) {
      const { results } = await server.api(`search?t=0&q=${encodeURIComponent(text.slice(0, 20))}&limit=5`);
      if (!results.length) continue; // control characters are cleaned on the way
      await visit(page, "timeline", `s=${results[0].id}`);
      await page.waitForSelector(".details");
      await settle(page);
      const box = await page.locator(".tl-front").boundingBox();
      await page.mouse.move(box.x + box.width / 2, box.y + 40);
      await untouched(page, `slice ${what}`);
    }
    await shoot(page, "hostile_light");
    await finish();
  },

  "hostile links": async () => {
    const server = await serve(path);
    for (const hash of [
      "#/<img src=x onerror=window.__pwned=1>",
      "#/timeline?r=1e99--5&s=999999999&a=9-1:x&q=%3Cscript%3E&m=___&pin=x.9999.-1",
      "#/timeline?t=77",
      "#/%E0%A4%A",
      "#/kernels?filter=/((/&by=<b>",
    ]) {
      const { page, finish } = await open(server.url + hash);
      await page.waitForSelector("html[data-ready]");
      await page.waitForLoadState("networkidle");
      await untouched(page, hash);
      await finish().catch((error) => {
        // an unknown slice is refused by the server, which the browser notes
        if (!/status of 40[04]/.test(error.message)) throw error;
      });
    }
  },

  "names are text in the report": async () => {
    const file = join(scratch, "hostile.html");
    writeFileSync(file, "");
    run_ridge("report", path, "-o", file);
    const { page, finish } = await open(pathToFileURL(file).href, { offline: true });
    await walk(page, "report");
    await finish();
  },
};
