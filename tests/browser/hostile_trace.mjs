// A trace whose every text tries to be something else: markup, script, quotes, direction marks, control characters, 100 KB of name.
import { writeFileSync } from "node:fs";

const script = "<script>window.__pwned = 1</script>";
const image = '"><img src=x onerror="window.__pwned = 2">';
const closer = "</script><script>window.__pwned = 3</script><!--";
const direction = "\u202Egnp.live\u202C \u2066abc\u2069 \u05D0\u05D1\u05D2";
const quotes = `'"\`\${window.__pwned = 4}\\u003cscript\\u003e &lt;b&gt; &amp; \u0000\u0007\u001b[31m`;
const long = `long_${"<b>x</b>".repeat(12_800)}`; // 102,405 characters
const link = "javascript:window.__pwned=5";
const prototype = "__proto__";

export const texts = { script, image, closer, direction, quotes, long, link, prototype };

export function write_hostile_trace(path) {
  const events = [
    { ph: "M", name: "process_name", pid: 1, tid: 0, args: { name: script } },
    { ph: "M", name: "process_labels", pid: 1, tid: 0, args: { labels: image } },
    { ph: "M", name: "thread_name", pid: 1, tid: 2, args: { name: closer } },
    { ph: "M", name: "thread_name", pid: 0, tid: 7, args: { name: direction } },
  ];
  const names = Object.values(texts);
  let correlation = 1;
  for (let i = 0; i < 64; ++i) {
    const name = names[i % names.length];
    const ts = 1000 + i * 100;
    const call = correlation++;
    events.push({
      ph: "X",
      cat: "cpu_op",
      name,
      pid: 1,
      tid: 2,
      ts,
      dur: 60,
      args: { "External id": call, "Input Dims": [[2, 3]], [script]: image, [prototype]: quotes, constructor: closer },
    });
    events.push({
      ph: "X",
      cat: "cuda_runtime",
      name: "cudaLaunchKernel",
      pid: 1,
      tid: 2,
      ts: ts + 10,
      dur: 5,
      args: { correlation: call, "External id": call },
    });
    events.push({
      ph: "X",
      cat: "kernel",
      name,
      pid: 0,
      tid: 7,
      ts: ts + 30,
      dur: 40,
      args: {
        device: 0,
        stream: 7,
        correlation: call,
        "External id": call,
        grid: [1, 1, 1],
        block: [32, 1, 1],
        kernel_file: link,
        [image]: script,
      },
    });
    events.push({ ph: "X", cat: "user_annotation", name: `${name} ${i}`, pid: 1, tid: 3, ts, dur: 90, args: {} });
    events.push({
      ph: "X",
      cat: "python_function",
      name: `${closer}(1): ${image}`,
      pid: 1,
      tid: 4,
      ts,
      dur: 90,
      args: { "Python id": i, "Python parent id": i - 1 },
    });
  }
  const device = { id: 0, name: `${image} H200`, totalGlobalMem: 1, computeMajor: 9, computeMinor: 0, numSms: 132 };
  writeFileSync(
    path,
    JSON.stringify({ schemaVersion: 1, deviceProperties: [device], traceName: script, [image]: closer, traceEvents: events }),
  );
}
