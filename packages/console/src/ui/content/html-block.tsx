import { createElement, useMemo, type ReactNode } from "react";
import { safeHref } from "../../lib/text/safe-href.ts";
import "./markdown.css";

/** Allowed elements; those that are not listed are replaced by their content. */
const ELEMENTS = new Set(
  (
    "a abbr b blockquote br caption center code dd del details div dl dt em figcaption figure h1 h2 h3 h4 h5 h6 hr i " +
    "img ins kbd li mark ol p pre q s section small span strong sub summary sup table tbody td tfoot th thead tr u ul"
  ).split(" "),
);
/** Elements that are removed with their content. */
const GONE = new Set(
  "applet audio base button canvas embed form frame frameset iframe input link math meta noscript object script select style svg template textarea title video".split(
    " ",
  ),
);
const EMPTY = new Set(["br", "hr", "img"]);
/** Elements that are renamed: the page has the first heading, and React has no `center`. */
const NAMES: Readonly<Record<string, string>> = { h1: "h2", center: "div" };
const ATTRIBUTES: Readonly<Record<string, string>> = {
  alt: "alt",
  title: "title",
  colspan: "colSpan",
  rowspan: "rowSpan",
  start: "start",
  width: "width",
  height: "height",
};
const DEEPEST = 40;

function safeSource(text: string): string | undefined {
  const isPicture = /^data:image\/(?:png|jpeg|gif|webp|avif);base64,/i.test(text);
  return isPicture || URL.parse(text)?.protocol === "https:" ? text : undefined;
}

/** Returns addresses on this console, in addition to those that are safe anywhere. */
function toSafeLink(text: string): string | undefined {
  return /^\/(?![/\\])|^#/.test(text) ? text : safeHref(text);
}

function readAttributes(element: Element, name: string): Record<string, string> {
  const allowed: Record<string, string> = {};
  for (const [from, to] of Object.entries(ATTRIBUTES)) {
    const value = element.getAttribute(from);
    if (value !== null && (from === "alt" || from === "title" || /^\d{1,5}%?$/.test(value))) allowed[to] = value;
  }
  const href = name === "a" ? toSafeLink(element.getAttribute("href") ?? "") : undefined;
  if (href !== undefined) Object.assign(allowed, { href, rel: "noopener noreferrer" });
  if (href !== undefined && !/^[/#]/.test(href)) allowed["target"] = "_blank";
  const source = name === "img" ? safeSource(element.getAttribute("src") ?? "") : undefined;
  if (source !== undefined)
    Object.assign(allowed, { src: source, referrerPolicy: "no-referrer", alt: allowed["alt"] ?? "" });
  return allowed;
}

/** Tables and lists, whose white space between parts may not become text. */
const STRICT = new Set(["table", "tbody", "thead", "tfoot", "tr", "ul", "ol", "dl"]);

function renderNodes(parent: Node, depth: number): ReactNode[] {
  const isStrict = STRICT.has(parent.nodeName.toLowerCase());
  return [...parent.childNodes].map((node, index) => {
    if (node.nodeType === Node.TEXT_NODE) return isStrict && node.nodeValue?.trim() === "" ? null : node.nodeValue;
    return node instanceof Element && depth < DEEPEST ? renderElement(node, index, depth) : null;
  });
}

function renderElement(element: Element, key: number, depth: number): ReactNode {
  const name = element.localName;
  if (GONE.has(name)) return null;
  const inside = EMPTY.has(name) ? [] : renderNodes(element, depth + 1);
  if (!ELEMENTS.has(name)) return inside;
  const attributes = readAttributes(element, name);
  // A picture without an allowed address is replaced by its alternative text.
  if (name === "img" && attributes["src"] === undefined) return attributes["alt"] ?? null;
  return createElement(NAMES[name] ?? name, { ...attributes, key }, ...inside);
}

const STYLE = /<style\b[^]*?(?:<\/style\s*>|$)/gi;
const TAG = /<[a-z](?:"[^"]*"|'[^']*'|[^"'>])*>/gi;
const NOISY = /\s(?:style|on\w+)\s*=\s*(?:"[^"]*"|'[^']*'|[^\s>]+)/gi;

/**
 * Removes styles and handlers, which browsers report as violations of the page's policy even if nothing uses them.
 * Security does not depend on this.
 */
function withoutNoise(html: string): string {
  return html.replace(STYLE, "").replace(TAG, (tag) => tag.replace(NOISY, " "));
}

/**
 * HTML of an operator, rebuilt from a list of allowed elements and attributes; everything else is dropped. It is parsed
 * in a separate document, where nothing loads and nothing runs, and becomes elements without becoming text again.
 */
export function HtmlBlock(props: { readonly html: string }) {
  const nodes = useMemo(() => {
    const { body } = new DOMParser().parseFromString(withoutNoise(props.html), "text/html");
    return renderNodes(body, 0);
  }, [props.html]);
  return <div className="prose">{nodes}</div>;
}
