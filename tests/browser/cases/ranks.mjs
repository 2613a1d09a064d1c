// A whole job: the map of ranks by steps, its stragglers, ranks stacked on one clock, and a collective with all of its ranks; against the truth of a made job.
import { pathToFileURL } from "node:url";
import { join } from "node:path";
import { check, equal, open, run_ridge, scratch, serve, serve_with, settle, shoot, visit } from "../harness.mjs";
import { kSlow, make_job } from "../job_traces.mjs";

const kRanks = 4;
const kSteps = 5;
let made = null;
const job = () => (made ??= make_job(join(scratch, "job"), { ranks: kRanks, steps: kSteps }));

async function ranks_page(parameters = "", options = {}) {
  const server = await serve(job().folder);
  const { page, finish } = await open(server.url, options);
  await visit(page, "ranks", parameters);
  await page.waitForFunction(() => window.__ridge?.heat?.stats.draws > 0);
  return { server, page, finish };
}

// The middle of a cell of the map, on the screen.
const cell = (page, row, column) =>
  page.evaluate(
    ([row, column]) => {
      const { heat } = window.__ridge;
      const grid = heat.grid();
      const box = document.querySelector(".heat-canvas").getBoundingClientRect();
      return { x: box.left + 74 + (column + 0.5) * grid.width, y: box.top + 20 + (row + 0.5) * grid.height };
    },
    [row, column],
  );

const colour = (page, row, column) =>
  page.evaluate(
    ([row, column]) => {
      const canvas = document.querySelector(".heat-canvas");
      const ratio = canvas.width / canvas.clientWidth;
      const grid = window.__ridge.heat.grid();
      const [x, y] = [74 + (column + 0.5) * grid.width, 20 + (row + 0.3) * grid.height];
      const copy = new OffscreenCanvas(1, 1).getContext("2d"); // a canvas that is often read back is drawn by the processor, and the browser says so
      copy.drawImage(canvas, Math.round(x * ratio), Math.round(y * ratio), 1, 1, 0, 0, 1, 1);
      return [...copy.getImageData(0, 0, 1, 1).data].slice(0, 3).join();
    },
    [row, column],
  );

async function stacked(parameters) {
  const server = await serve(job().folder);
  const { page, finish } = await open(server.url);
  await visit(page, "timeline", parameters);
  await page.waitForFunction(() => window.__ridge?.state?.alignment?.length > 1);
  await settle(page);
  return { server, page, finish };
}

// The id that the page has for the n-th all-reduce of a rank.
async function collective_of(server, page, rank, n) {
  const { results } = await server.api(`search?t=${rank}&q=nccl&limit=100`);
  const hit = results.sort((a, b) => a.start_ns - b.start_ns)[n];
  const first = await page.evaluate((rank) => window.__ridge.state.alignment?.find((each) => each.rank === rank)?.first_id ?? 0, rank);
  return { ...hit, id: hit.id + first };
}

export const cases = {
  "the map of ranks by steps shows who is late, and names the straggler with cause and cost": async () => {
    const { server, page, finish } = await ranks_page();
    const steps = (await server.api("ranks")).tables.find(({ name }) => name === "steps");
    const at = (name) => steps.columns.findIndex((each) => each.name === name);
    const share = (rank, step) => {
      const row = steps.rows.find((each) => each[at("rank")] === rank && each[at("step")] === step);
      return (100 * row[at("late_ns")]) / row[at("step_ns")];
    };
    for (let rank = 0; rank < kRanks; ++rank) {
      for (let step = 1; step <= kSteps; ++step) {
        const shown = await page.evaluate(([r, c]) => window.__ridge.heat.peak({ row: r, row_end: r + 1, column: c, column_end: c + 1 }).value, [rank, step - 1]);
        check(Math.abs(shown - share(rank, step)) < 0.01, `rank ${rank}, step ${step}: ${shown} against ${share(rank, step)}`);
      }
    }
    const [slow, other] = [await colour(page, kSlow, 2), await colour(page, 0, 2)];
    check(slow !== other, "the late rank stands out");
    await page.click('.ranks-map button:text-is("Wait")');
    check((await colour(page, 0, 2)) !== other, "another measure has other colours");
    equal(await colour(page, kSlow, 2), other, "the late rank does not wait");
    check((await page.evaluate(() => location.hash)).includes("show=wait"), "the URL keeps what is shown");
    const first = await page.textContent(".straggler");
    check(first.includes(`Rank ${kSlow}`) && first.includes("device"), `the straggler: ${first}`);
    const costs = /− ([\d.]+) ms/.exec(first)?.[1];
    check(Math.abs(Number(costs) - 1.2) < 0.1, `a step loses 2 x 4 x 0.15 ms by it; said: ${costs}`);
    await shoot(page, "ranks");
    await finish();
  },

  "a click on a cell of the map opens the timeline of that rank and step, and so does the keyboard": async () => {
    const { server, page, finish } = await ranks_page();
    const spot = await cell(page, 3, 1);
    await page.mouse.move(spot.x, spot.y);
    await page.waitForFunction(() => document.querySelector(".heat-said").textContent.startsWith("rank 3, step 2"));
    await page.mouse.click(spot.x, spot.y);
    await page.waitForSelector('html[data-ready="timeline"] .timeline');
    await settle(page);
    const trace = (await server.api("traces")).traces[3];
    const step = trace.iterations.list.find(({ index }) => index === 2);
    const view = await page.evaluate(() => ({ t: window.__ridge.state.t, from: window.__ridge.state.view.from, to: window.__ridge.state.view.to }));
    equal(view.t, 3, "whose timeline");
    check(view.from <= step.start_ns && view.to >= step.end_ns && view.to - view.from < 2 * (step.end_ns - step.start_ns), "the step fills the view");
    await visit(page, "ranks");
    await page.focus(".heat");
    for (const key of ["ArrowDown", "ArrowRight", "ArrowRight"]) await page.keyboard.press(key);
    await page.waitForFunction(() => document.querySelector(".heat-said").textContent.startsWith("rank 1, step 3"));
    await page.keyboard.press("Enter");
    await page.waitForFunction(() => window.__ridge?.state?.t === 1);
    await finish();
  },

  "ranks stacked on one clock: a collective ends for all at the same pixel, whatever their clocks say": async () => {
    const { server, page, finish } = await stacked(`t=${kSlow}&ranks=2.0.1.3&step=3`);
    const labels = await page.evaluate(() => window.__ridge.state.alignment.map((each) => each.label));
    equal(labels.join(), "rank 2,rank 0,rank 1,rank 3", "who is there");
    const n = 2 * 2; // the first of step 3
    const ends = [];
    for (let rank = 0; rank < kRanks; ++rank) {
      const hit = await collective_of(server, page, rank, n);
      const shift = await page.evaluate((rank) => window.__ridge.state.alignment.find((each) => each.rank === rank).shift_ns, rank);
      ends.push(hit.start_ns + hit.dur_ns + shift);
    }
    for (const end of ends) check(Math.abs(end - ends[0]) < 1000, `ends on the axis: ${ends.join()}`);
    const groups = await page.evaluate(() => window.__ridge.state.lanes.groups.map((each) => `${each.part} ${each.kind}`));
    equal(groups.slice(0, kRanks).join(), "rank 2 device,rank 0 device,rank 1 device,rank 3 device", "the devices stand side by side");
    await page.click('[aria-label="Take away rank 1"]');
    await page.waitForFunction(() => window.__ridge?.state?.alignment?.length === 3);
    await settle(page);
    await page.selectOption(".tl-rank-add", "1");
    await page.waitForFunction(() => window.__ridge?.state?.alignment?.length === 4);
    await settle(page);
    await page.click(".tl-ranks-toggle");
    await page.waitForFunction(() => window.__ridge?.state && !window.__ridge.state.alignment);
    equal(await page.evaluate(() => window.__ridge.state.t), kSlow, "alone again");
    await finish();
  },

  "a selected collective lights up on its other ranks, with arrival and wait of each": async () => {
    const { server, page, finish } = await stacked("ranks=0.1.2.3");
    const n = 3;
    const { arrived_ns, end_ns } = job().meetings[n];
    const last = Math.max(...arrived_ns);
    const hit = await collective_of(server, page, 1, n);
    await visit(page, "timeline", `ranks=0.1.2.3&s=${hit.id}`);
    await page.waitForSelector(".meeting");
    const met = await page.evaluate(() => window.__ridge.state.meeting);
    equal(met.arrivals.length, kRanks, "ranks that met");
    equal(met.arrivals[0].rank, kSlow, "who came last");
    for (const each of met.arrivals) {
      const arrived = arrived_ns[each.rank];
      check(Math.abs(each.wait_ns - (last - arrived)) < 1000, `rank ${each.rank} waited ${each.wait_ns} of ${last - arrived}`);
      check(Math.abs(each.transfer_ns - (end_ns - last)) < 1000, `the transfer of rank ${each.rank}`);
      check(each.slice !== null, `the slice of rank ${each.rank} is lit`);
      const own = await collective_of(server, page, each.rank, n);
      equal(each.slice.id, own.id, `which slice of rank ${each.rank}`);
    }
    await shoot(page, "ranks-collective");
    await page.click(`.meeting tr[data-rank="${kSlow}"] button`);
    await page.waitForFunction((rank) => window.__ridge.state.selection?.of?.t === rank, kSlow);
    await page.waitForSelector(".meeting");
    await finish();
  },

  "a collective of one rank alone tells its others, and shows them on one clock": async () => {
    const server = await serve(job().folder);
    const { page, finish } = await open(server.url);
    await visit(page, "timeline", "t=1");
    const hit = await collective_of(server, page, 1, 4);
    await visit(page, "timeline", `t=1&s=${hit.id}`);
    await page.waitForSelector(".meeting");
    equal(await page.locator(".meeting tbody tr").count(), kRanks, "ranks that met");
    await page.click(".meeting-stack");
    await page.waitForFunction((n) => window.__ridge?.state?.alignment?.length === n, kRanks);
    await page.waitForSelector(".meeting");
    const state = await page.evaluate(() => ({ id: window.__ridge.state.selection.id, of: window.__ridge.state.selection.of.t }));
    equal(state.id, hit.id, "the same slice is selected");
    equal(state.of, 1, "of the same rank");
    await finish();
  },

  "a report of a folder has the map, the stack and the collectives": async () => {
    const file = join(scratch, "job.html");
    run_ridge("report", job().folder, "-o", file);
    const { page, finish } = await open(pathToFileURL(file).href);
    await visit(page, "ranks");
    await page.waitForFunction(() => window.__ridge?.heat?.stats.draws > 0);
    check((await page.textContent(".straggler")).includes(`Rank ${kSlow}`), "the straggler");
    const spot = await cell(page, 1, 1);
    await page.mouse.click(spot.x, spot.y);
    await page.waitForFunction(() => window.__ridge?.state?.t === 1);
    await visit(page, "timeline", "ranks=0.1.2.3");
    await page.waitForFunction((n) => window.__ridge?.state?.alignment?.length === n, kRanks);
    const server = await serve(job().folder);
    const hit = await collective_of(server, page, 3, 2);
    await visit(page, "timeline", `ranks=0.1.2.3&s=${hit.id}`);
    await page.waitForSelector(".meeting");
    const met = await page.evaluate(() => window.__ridge.state.meeting.arrivals.map((each) => each.slice !== null));
    equal(met.join(), "true,true,true,true", "all are lit");
    await finish();
  },

  "a job too large to be held: the map stands for many ranks, a click looks closer, and a trace is read when it is looked at": async () => {
    const ranks = 300;
    const { folder } = make_job(join(scratch, "large"), { ranks, steps: 3 });
    const server = await serve(folder);
    const { page, finish } = await open(server.url);
    await page.waitForSelector('html[data-ready="ranks"]'); // the first page: no trace is open
    await page.waitForFunction(() => window.__ridge?.heat?.stats.draws > 0);
    equal((await server.api("traces")).traces.map((each) => each.state).join(), new Array(ranks).fill("closed").join(), "which traces are open");
    const grid = () => page.evaluate(() => window.__ridge.heat.grid());
    const { per_row, lines } = await grid();
    check(per_row > 1 && lines * 6 <= 520, `${lines} lines of ${per_row} ranks`);
    const line = Math.floor(kSlow / per_row);
    check((await colour(page, line, 1)) !== (await colour(page, line + 5, 1)), "the late rank is seen among the others of its line");
    const spot = await cell(page, line, 1);
    await page.mouse.click(spot.x, spot.y);
    await page.waitForFunction(() => window.__ridge.heat.grid().per_row === 1);
    check((await page.evaluate(() => location.hash)).includes("rows=0-24"), "the URL keeps the part");
    const near = await cell(page, kSlow, 1);
    await page.mouse.click(near.x, near.y);
    await page.waitForSelector('html[data-ready="timeline"] .timeline');
    await settle(page);
    equal(await page.evaluate(() => window.__ridge.state.t), kSlow, "whose timeline");
    const view = await page.evaluate(() => [window.__ridge.state.view.from, window.__ridge.state.view.to, window.__ridge.state.view.window_ns]);
    check(view[1] - view[0] < view[2] / 2, "the step, not the whole");
    await visit(page, "timeline", `t=${kSlow}&ranks=2.0.299`);
    await page.waitForFunction(() => window.__ridge?.state?.alignment?.length === 3);
    const hit = await collective_of(server, page, 299, 3);
    await visit(page, "timeline", `t=${kSlow}&ranks=2.0.299&s=${hit.id}`);
    await page.waitForSelector(".meeting");
    const met = await page.evaluate(() => window.__ridge.state.meeting.arrivals);
    equal(met.length, ranks, "ranks that met");
    equal(met.filter((each) => each.slice).length, 3, "those that are shown are lit");
    await finish();
  },

  "digests alone have the page of ranks, and say that their traces are not here": async () => {
    const file = join(scratch, "job.digest");
    run_ridge("ranks", "--digest", file, job().folder);
    const server = await serve(file);
    const { page, finish } = await open(server.url);
    await page.waitForSelector('html[data-ready="ranks"]');
    await page.waitForFunction(() => window.__ridge?.heat?.stats.draws > 0);
    equal(await page.$$eval(".nav-item", (items) => items.map((item) => item.textContent).join()), "Ranks", "pages");
    check((await page.textContent(".straggler")).includes(`Rank ${kSlow}`), "the straggler");
    const spot = await cell(page, 1, 1);
    await page.mouse.click(spot.x, spot.y);
    await page.waitForFunction(() => document.querySelector(".heat-said").textContent.includes("is not here"));
    await finish();
  },

  "findings over all ranks tell which ranks they hold for": async () => {
    const { server, page, finish } = await ranks_page();
    const table = (await server.api("ranks?findings=true")).tables.find(({ name }) => name === "findings");
    await page.waitForFunction((n) => document.querySelectorAll(".ranks-findings .finding").length === n || (n === 0 && document.querySelector(".ranks-findings p:not([role])")), table.rows.length);
    check(table.rows.length > 0, "the made job has findings");
    const at = (name) => table.columns.findIndex((each) => each.name === name);
    const shown = await page.$$eval(".ranks-findings .finding", (items) => items.map((item) => [item.dataset.finding, item.textContent]));
    table.rows.forEach((row, i) => {
      equal(shown[i][0], row[at("id")], `finding ${i}`);
      const who = row[at("holds_for")] === kRanks ? `all ${kRanks} ranks` : row[at("ranks")];
      check(shown[i][1].includes(who), `${shown[i][1]} tells ${who}`);
    });
    await finish();
  },

  "two recordings of a job: what changed in a step, which straggler is gone, and ranks that lead to their timelines": async () => {
    const { folder } = make_job(join(scratch, "job_mended"), { ranks: kRanks, steps: kSteps, slower_us: 0 });
    const server = await serve_with(["--before", job().folder], folder);
    equal((await server.api("traces")).before, "job", "what it is held against");
    const answer = await server.api("job_diff");
    const table = (name) => {
      const found = answer.tables.find((each) => each.name === name);
      return found.rows.map((row) => Object.fromEntries(found.columns.map((column, i) => [column.name, row[i]])));
    };
    const parts = table("waterfall");
    const step = table("changes").find(({ part }) => part === "step");
    for (const side of ["a", "b"]) equal(parts.reduce((sum, each) => sum + each[`time_${side}_ns`], 0), step[`time_${side}_ns`], `the parts of ${side} add up to its step`);
    check(Math.abs(step.delta_ns + 1_200_000) < 100_000, `a step loses 2 x 4 x 0.15 ms: ${step.delta_ns}`);
    const { page, finish } = await open(server.url);
    await visit(page, "ranks");
    await page.click('a:text-is("Before and after →")');
    await page.waitForSelector('html[data-ready="job_diff"]');
    const drawn = await page.$$eval(".waterfall .bars-row", (rows) => rows.map((row) => [row.querySelector(".bars-label").textContent, row.querySelector(".bars-text").textContent]));
    equal(drawn.length, 2 + parts.filter(({ delta_ns }) => delta_ns !== 0).length, "bars of the waterfall");
    check(drawn.some(([label, text]) => label === "held up by collectives" && text.startsWith("−")), `drawn: ${JSON.stringify(drawn)}`);
    const slow = await page.$eval(`.straggler[data-rank="${kSlow}"]`, (each) => [each.dataset.state, each.dataset.cause]);
    equal(slow.join(), "gone,device", "the straggler that was mended");
    equal(await page.locator(".straggler").count(), 1, "stragglers");
    await shoot(page, "job_diff");
    await page.locator('section:has(h2:text-is("Rank by rank")) .t-row').nth(1).click();
    await page.waitForFunction(() => window.__ridge?.state?.view);
    await finish();

    const file = join(scratch, "job_diff.html");
    run_ridge("report", folder, "--before", job().folder, "-o", file);
    const report = await open(pathToFileURL(file).href);
    await visit(report.page, "job_diff");
    equal(await report.page.locator(`.straggler[data-state="gone"]`).count(), 1, "the same in a report");
    await report.finish();

    const digest = join(scratch, "before.digest");
    run_ridge("ranks", "--digest", digest, job().folder);
    const of_digest = await serve_with(["--before", digest], folder);
    equal(JSON.stringify((await of_digest.api("job_diff")).tables), JSON.stringify(answer.tables), "the same of digests");
    const alone = await serve(folder);
    equal((await alone.api("traces")).before, null, "without it nothing is said");
  },

  "on a telephone the page of ranks is as wide as the screen": async () => {
    const { page, finish } = await ranks_page("", { viewport: { width: 390, height: 800 } });
    const wide = await page.evaluate(() => [document.querySelector(".main").scrollWidth, document.querySelector(".main").clientWidth]);
    check(wide[0] <= wide[1], `scrolls sideways: ${wide.join(" in ")}`);
    const heat = await page.evaluate(() => [document.querySelector(".heat-canvas").getBoundingClientRect().right, innerWidth]);
    check(heat[0] <= heat[1], `the map is ${heat.join(" in ")}`);
    await finish();
  },
};
