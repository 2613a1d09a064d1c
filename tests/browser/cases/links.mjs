// Every link opens exactly what it names: by the id of an event, by an exact name, or by the time that a finding claims.
import { check, column, equal, fixture, near, open, serve, settle, shoot, visit } from "../harness.mjs";

const eager = fixture("resnet18_eager_shapes.json.gz");
const compiled = fixture("resnet18_compiled_stack_mem.json.gz");
const gpt = fixture("gpt_eager_train_stack_mem.json.gz");

const kPages = ["summary", "kernels", "ops", "roofline", "categories", "gpu", "graphs", "compile", "health"];
const exactly = (api, name, t = 0) => api(`search?t=${t}&limit=1&q=${encodeURIComponent(`=${name}`)}`);

export const cases = {
  "an op's row finds its own calls, not those of an op whose name begins alike": async () => {
    const server = await serve(gpt);
    const ops = await server.api("ops?t=0");
    const names = column(ops, "ops", "op");
    const alike = names.find((name) => names.some((other) => other !== name && other.startsWith(name)));
    check(alike, "the fixture has ops that begin alike");
    const calls = column(ops, "ops", "count")[names.indexOf(alike)];
    const { page, finish } = await open(server.url);
    await visit(page, "ops", `filter=${encodeURIComponent(alike)}`);
    const row = await page.evaluate((name) => window.__ridge.table.rows.findIndex((each) => each[0] === name), alike);
    await page.click(`.t-row:nth-child(${row + 1}) .t-c:nth-child(2)`);
    await page.waitForFunction(() => window.__ridge?.state?.hits);
    equal(await page.evaluate(() => window.__ridge.state.hits.hits), calls, `calls of ${alike}`);
    await page.waitForFunction((name) => window.__ridge.state.selection?.name === name, alike);
    await finish();
  },

  "every row of a diff opens its own kernel in its own trace": async () => {
    const server = await serve(eager, compiled);
    const diff = await server.api("diff");
    const of = (name) => column(diff, "diff", name);
    for (const [t, letter] of ["a", "b"].entries()) {
      const [counts, events] = [of(`count_${letter}`), of(`event_${letter}`)];
      counts.forEach((count, i) => equal(events[i] !== null, count > 0, `row ${i} has an event of trace ${letter}`));
      for (const id of events.filter((each) => each !== null)) await server.api(`slice?t=${t}&id=${id}`);
    }
    const { page, finish } = await open(server.url);
    await visit(page, "diff");
    const links = await page.$$eval('.t-row a[title^="Show in trace"]', (all) => all.map((each) => each.getAttribute("href")));
    check(links.length > 10 && links.some((href) => href.includes("t=1")), `links of both sides: ${links.length}`);
    const wanted = Number(/t=1&s=(\d+)/.exec(links.find((href) => href.includes("t=1")))[1]);
    check(of("event_b").includes(wanted), "a link to trace B is an event of trace B");
    await page.click(`.t-row a[href="#/timeline?t=1&s=${wanted}"]`);
    await page.waitForFunction((id) => window.__ridge?.state?.selection?.id === id, wanted);
    equal(await page.evaluate(() => window.__ridge.state.t), 1, "the second trace's timeline");
    const { name } = await server.api(`slice?t=1&id=${wanted}`);
    equal(await page.textContent(".details h2"), name, "the kernel of the row");
    await visit(page, "diff"); // a row that is in B alone opens B
    const lone = column(diff, "only_in_b", "event_b");
    if (lone.length) {
      const target = await page.$$eval('main a[href^="#/timeline?t=1"]', (all) => all.map((each) => each.getAttribute("href")));
      check(lone.some((id) => target.includes(`#/timeline?t=1&s=${id}`)), "rows of B lead to B");
    }
    await finish();
  },

  "no link of any page leads nowhere": async () => {
    for (const path of [compiled, gpt]) {
      const server = await serve(path);
      const { page, finish } = await open(server.url);
      for (const name of kPages) {
        await visit(page, name);
        const links = await page.$$eval('main a[href^="#/timeline?"]', (all) => [...new Set(all.map((each) => each.getAttribute("href")))]);
        for (const href of links) {
          const asked = new URLSearchParams(href.split("?")[1]);
          const [q, s, f] = ["q", "s", "f"].map((key) => asked.get(key));
          check(q || s || f || asked.get("a"), `${name}: ${href} names nothing`);
          if (q) check(q.startsWith("=") && (await server.api(`search?t=0&limit=1&q=${encodeURIComponent(q)}`)).hits > 0, `${name}: nothing is called ${q}`);
          if (s) await server.api(`slice?t=0&id=${s}`);
          if (f) check(column(await server.api(`findings?t=0&claim=${f}`), "claim_iterations", "time_ns").length > 0, `${name}: ${f} claims nothing`);
        }
      }
      await finish();
    }
  },

  "a finding shows the time that it claims, and how much that is": async () => {
    const server = await serve(eager);
    const found = await server.api("findings?t=0");
    const id = column(found, "findings", "id")[0];
    const claim = await server.api(`findings?t=0&claim=${id}`);
    const of = (name) => column(claim, "claim_iterations", name);
    const best = of("time_ns").indexOf(Math.max(...of("time_ns")));
    const [from, to] = [of("start_ns")[best], of("end_ns")[best]];
    const pieces = column(claim, "claim", "time_ns").reduce((sum, each) => sum + each, 0);
    equal(of("time_ns").reduce((sum, each) => sum + each, 0), pieces, "iterations add up to the pieces");
    const { page, finish } = await open(server.url);
    await visit(page, "summary");
    await page.click(".finding:first-child a");
    await page.waitForFunction(() => window.__ridge?.state?.claim);
    await settle(page);
    const view = await page.evaluate(() => [window.__ridge.state.view.from, window.__ridge.state.view.to]);
    near(view[0], from, (to - from) * 0.05, "the view begins with the claim");
    near(view[1], to, (to - from) * 0.05, "and ends with it");
    const said = await page.textContent('[data-claim="here"]');
    check(said.includes(`${of("pieces")[best]} pieces`) || said.includes("1 piece"), `pieces: ${said}`);
    const lit = await page.evaluate(() => window.__ridge.state.claim.pieces.length);
    equal(lit, column(claim, "claim", "time_ns").length, "pieces that are lit");
    equal(await page.evaluate(() => window.__ridge.state.claim.total_ns), pieces, "the sum");
    await shoot(page, "finding_light");
    await page.reload();
    await page.waitForFunction((wanted) => window.__ridge?.state?.claim?.id === wanted, id);
    await page.keyboard.press("Escape");
    await page.waitForFunction(() => window.__ridge.state.claim === null);
    await finish();
  },

  "an expression is searched for, counted, lit and kept in the URL; a bad one says so": async () => {
    const server = await serve(gpt);
    const { page, finish } = await open(server.url);
    const text = "re:^aten::(mm|addmm)$";
    await visit(page, "timeline");
    await page.fill(".tl-tools input", text);
    await page.waitForFunction(() => window.__ridge.state.hits);
    const wanted = (await exactly(server.api, "aten::mm")).hits + (await exactly(server.api, "aten::addmm")).hits;
    check(wanted > 0, "the fixture has products");
    equal(await page.evaluate(() => window.__ridge.state.hits.hits), wanted, "hits");
    const lit = await page.evaluate(() => [...window.__ridge.state.lit.names].sort());
    check(lit.length > 0 && lit.every((name) => ["aten::mm", "aten::addmm"].includes(name)), `lit: ${lit}`);
    await page.waitForFunction((q) => new URLSearchParams(location.hash.split("?")[1]).get("q") === q, text);
    await page.reload();
    await page.waitForFunction((hits) => window.__ridge?.state?.hits?.hits === hits, wanted);
    equal(await page.inputValue(".tl-tools input"), text, "the box");
    await finish();
    const other = await open(server.url, { before: (page) => page.route("**/never", () => {}) });
    await visit(other.page, "timeline");
    await other.page.fill(".tl-tools input", "re:(");
    await other.page.waitForFunction(() => document.querySelector(".tl-count").textContent.includes("regular expression"));
    await other.finish().catch((error) => check(/status of 400/.test(error.message), error.message)); // the browser notes the refusal
  },
};
