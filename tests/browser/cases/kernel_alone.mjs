// A kernel's page: its source, the script that runs it alone, and what bench measured.
import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { check, equal, fixture, open, ridge, scratch, serve_with, shoot, visit } from "../harness.mjs";

const kinds = fixture("inductor_kernel_kinds.json.gz");
const kernel = "triton_red_fused_sum_0";

const cache = () => {
  const folder = join(scratch, "kernel_alone");
  mkdirSync(folder, { recursive: true });
  execFileSync("tar", ["xzf", fixture("kernel_files.tar.gz"), "-C", folder]);
  return folder;
};

const results = () => {
  const path = join(scratch, "results.json");
  const columns = [
    { name: "kernel", type: "text", unit: null, role: null },
    { name: "status", type: "text", unit: null, role: null },
    { name: "cold_ns", type: "integer", unit: "ns", role: null },
  ];
  const rows = [
    [kernel, "measured here", 61234],
    ["another_kernel", "never shown", 7],
  ];
  const tables = [{ name: "bench", columns, rows, total: null, parent: null }];
  writeFileSync(path, JSON.stringify({ schema: 2, ridge: "0", command: "bench", traces: [], tables, series: [], diagnostics: [] }));
  return path;
};

const look = async (page, shot) => {
  await page.waitForSelector(".kernel-script");
  const text = await page.textContent("main");
  check(text.includes("measured here") && !text.includes("never shown"), "the figures of this kernel alone");
  await page.click(".kernel-script > summary");
  await page.waitForSelector(".kernel-script pre");
  const script = await page.textContent(".kernel-script pre");
  check(script.startsWith("#!/usr/bin/env python3") && script.trimEnd().endsWith("main()"), "the script is whole");
  check(script.includes(`def ${kernel}`) && script.includes("def make_inputs"), "its kernel and its inputs");
  if (shot) await shoot(page, shot);
};

export const cases = {
  "a kernel's page has its source, its script and what bench measured": async () => {
    const server = await serve_with(["--inductor-cache", cache(), "--bench", results()], kinds);
    const { page, finish } = await open(server.url);
    await visit(page, "kernel", `name=${kernel}`);
    await look(page, "kernel_alone");
    check((await page.textContent("main")).includes(`def ${kernel}(in_ptr0`), "the source");
    const whole = await server.api(`replay?kernel=${kernel}`);
    equal(whole.tables[1].rows[0][1], await page.textContent(".kernel-script pre"), "the page and the API say the same");
    await finish();
  },

  "a report holds scripts and bench figures too": async () => {
    const path = join(scratch, "alone.html");
    execFileSync(ridge, ["report", kinds, "--inductor-cache", cache(), "--bench", results(), "-o", path]);
    const { page, finish } = await open(`file://${path}`);
    await visit(page, "kernel", `name=${kernel}`);
    await look(page, null);
    await finish();
  },

  "where no script can be made the page says why": async () => {
    const server = await serve_with([], kinds);
    const { page, finish } = await open(server.url);
    await visit(page, "kernel", `name=${kernel}`);
    await page.click(".kernel-script > summary");
    await page.waitForSelector(".kernel-script .note");
    check((await page.textContent(".kernel-script")).includes("inductor-cache"), "what to give");
    await finish();
  },
};
