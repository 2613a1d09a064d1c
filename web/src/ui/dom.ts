// Elements from code. Text goes in as text nodes only, so that nothing a trace holds can become markup.

export type Child = Node | string | number | null | undefined | false;

export interface Props {
  class?: string;
  title?: string;
  style?: Record<string, string>;
  on?: Record<string, (event: any) => void>;
  [attribute: string]: unknown;
}

const kSvg = "http://www.w3.org/2000/svg";

// Control characters, and those that turn the direction of writing or show nothing: a name could look like another one. They are shown by
// their number; line ends and tabs stay.
const kUnseen = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;
export function visible(text: string): string {
  return text.replace(kUnseen, (each) => `‹${each.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}›`);
}

function nodes(children: Child[]): (Node | string)[] {
  const list: (Node | string)[] = [];
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue;
    list.push(child instanceof Node ? child : visible(String(child)));
  }
  return list;
}

function apply(node: HTMLElement | SVGElement, props: Props, children: Child[]): void {
  for (const [key, value] of Object.entries(props)) {
    if (value === undefined || value === null || value === false) continue;
    if (key === "class") node.setAttribute("class", String(value));
    else if (key === "style")
      for (const [name, text] of Object.entries(value as Record<string, string>)) node.style.setProperty(name, text);
    else if (key === "on")
      for (const [name, listener] of Object.entries(value as object)) node.addEventListener(name, listener as EventListener);
    else node.setAttribute(key, value === true ? "" : key === "title" ? visible(String(value)) : String(value));
  }
  node.append(...nodes(children));
}

export function el<K extends keyof HTMLElementTagNameMap>(tag: K, props: Props = {}, ...children: Child[]): HTMLElementTagNameMap[K] {
  const node = document.createElement(tag);
  apply(node, props, children);
  return node;
}

export function svg<K extends keyof SVGElementTagNameMap>(tag: K, props: Props = {}, ...children: Child[]): SVGElementTagNameMap[K] {
  const node = document.createElementNS(kSvg, tag) as SVGElementTagNameMap[K];
  apply(node, props, children);
  return node;
}

export function fill(parent: Element, ...children: Child[]): void {
  parent.replaceChildren(...nodes(children));
}

export function button(label: Child, on_click: () => void, props: Props = {}): HTMLButtonElement {
  return el("button", { type: "button", ...props, on: { click: on_click, ...(props.on ?? {}) } }, label);
}

// Both ends of a long name, where names of one kind differ: `late_hos…r1_rank0`.
export function shorten_middle(text: string, most: number): string {
  if (text.length <= most) return text;
  const end = Math.floor((most - 1) / 2);
  return `${text.slice(0, most - 1 - end)}…${text.slice(text.length - end)}`;
}

// The start of a long text and an ellipsis: 100 KB of a name serve nobody.
export function shorten(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most - 1)}…`;
}
