// Runs beside a report's page: which texts an expression matches. The page gives it up when it takes too long.
interface Order {
  expression: string;
  flags: string;
  texts: string[];
}

self.addEventListener("message", ({ data }: MessageEvent<Order>) => {
  const expression = new RegExp(data.expression, data.flags);
  const hits: number[] = [];
  data.texts.forEach((text, i) => expression.test(text) && hits.push(i));
  (self as unknown as { postMessage(message: number[]): void }).postMessage(hits);
});

export {};
