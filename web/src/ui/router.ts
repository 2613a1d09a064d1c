// The URL's hash is the state that can be shared: "#/timeline?t=0&r=100-900&s=17". Pages read it, change parts of it, and hear of changes.

export interface Place {
  page: string;
  parameters: URLSearchParams;
}

export function parse(hash: string): Place {
  const text = hash.replace(/^#\/?/, "");
  const cut = text.indexOf("?");
  return {
    page: decode(cut < 0 ? text : text.slice(0, cut)),
    parameters: new URLSearchParams(cut < 0 ? "" : text.slice(cut + 1)),
  };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // a broken escape is only an unknown page
  }
}

// The part of the trace that is shown (scope.ts) goes along, unless the link says another or leads to another trace.
const kCarried = ["step", "from", "to"];

export function link(page: string, parameters: Record<string, string | number | null | undefined> = {}): string {
  const query = new URLSearchParams();
  const now = here().parameters;
  const same_trace = String(parameters.t ?? 0) === (now.get("t") ?? "0");
  for (const key of same_trace ? kCarried : []) if (!(key in parameters) && now.get(key)) query.set(key, now.get(key)!);
  for (const [key, value] of Object.entries(parameters))
    if (value !== null && value !== undefined && value !== "") query.set(key, String(value));
  const text = query.toString();
  return `#/${page}${text ? `?${text}` : ""}`;
}

export const here = (): Place => parse(location.hash);

// Changes parameters of this page without a new entry in the history; null removes one. Nobody is told: the caller knows.
export function note(changes: Record<string, string | number | null>): void {
  const { page, parameters } = here();
  for (const [key, value] of Object.entries(changes)) {
    if (value === null || value === "") parameters.delete(key);
    else parameters.set(key, String(value));
  }
  const text = parameters.toString();
  history.replaceState(null, "", `#/${page}${text ? `?${text}` : ""}`);
}

export function go(hash: string): void {
  if (location.hash === hash) window.dispatchEvent(new HashChangeEvent("hashchange"));
  else location.hash = hash;
}
