// A regular expression over texts that the page has, in a worker with a time limit: the browser's own engine can take forever. Served pages
// ask the server instead, whose engine cannot.
import { SourceError } from "./source";

declare const RIDGE_REGEX_WORKER: string; // the script of regex_worker.ts, put in by build.mjs

const kMost_ms = 1000;
let script = ""; // its address, made when it is first needed

// Indexes of the texts that match. An error says that the expression is wrong, or that it takes too long.
export function matching_texts(expression: string, flags: string, texts: string[]): Promise<number[]> {
  try {
    new RegExp(expression, flags);
  } catch (error) {
    const reason = (error as Error).message.replace(/^Invalid regular expression: \/.*\/\w*: /s, "");
    return Promise.reject(new SourceError("bad_request", `Not a valid regular expression: ${reason}`));
  }
  script ||= URL.createObjectURL(new Blob([RIDGE_REGEX_WORKER], { type: "text/javascript" }));
  const worker = new Worker(script);
  return new Promise<number[]>((done, failed) => {
    const too_long = (): void => failed(new SourceError("too_slow", `This expression takes longer than ${kMost_ms / 1000} s: make it simpler`));
    const timer = window.setTimeout(too_long, kMost_ms);
    worker.addEventListener("message", ({ data }: MessageEvent<number[]>) => (clearTimeout(timer), done(data)));
    worker.addEventListener("error", () => (clearTimeout(timer), failed(new SourceError("failed", "The expression could not be run"))));
    worker.postMessage({ expression, flags, texts });
  }).finally(() => worker.terminate());
}
