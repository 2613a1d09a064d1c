// What the page in sight shows, for tests and for the console: `window.__ridge`. Gone when the page is left, so that nobody takes it for the next one's.

const place = window as unknown as { __ridge?: object };

export function publish(what: object): object {
  place.__ridge = what;
  return what;
}
export function withdraw(what: object | null): void {
  if (place.__ridge === what) delete place.__ridge;
}
