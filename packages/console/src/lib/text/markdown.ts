import { safeHref } from "./safe-href.ts";

export type Inline =
  | string
  | { readonly kind: "code"; readonly text: string }
  | { readonly kind: "strong" | "em" | "del"; readonly inside: readonly Inline[] }
  | { readonly kind: "link"; readonly href: string; readonly inside: readonly Inline[] }
  | { readonly kind: "break" };

export type Block =
  | { readonly kind: "code"; readonly language: string; readonly text: string }
  | { readonly kind: "heading"; readonly level: number; readonly inside: readonly Inline[] }
  | { readonly kind: "rule" }
  | { readonly kind: "quote"; readonly blocks: readonly Block[] }
  | { readonly kind: "list"; readonly start: number | undefined; readonly items: readonly (readonly Block[])[] }
  | { readonly kind: "table"; readonly head: readonly Cell[]; readonly rows: readonly (readonly Cell[])[] }
  | { readonly kind: "paragraph"; readonly inside: readonly Inline[] };

type Cell = readonly Inline[];

const FENCE = /^ {0,3}(`{3,}|~{3,})\s*([^\s`]*)[^`]*$/;
const HEADING = /^ {0,3}(#{1,6})\s+(.*?)\s*#*$/;
const RULE = /^ {0,3}([-*_])(?:\s*\1){2,}\s*$/;
const QUOTE = /^ {0,3}> ?/;
const ITEM = /^( {0,3})([-*+]|\d{1,9}[.)])(?:\s+|$)(.*)$/;
const DIVIDER = /^ {0,3}\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*$/;
/** Deeper nesting than this is shown as text: it comes from no person. */
const DEEPEST = 8;

/**
 * Reads the Markdown that models and operators write into a tree; markup of other kinds stays text. A text that is
 * still being written reads as far as it goes: an open fence is code already.
 */
export function parseMarkdown(text: string): readonly Block[] {
  return blocksOf(text.replaceAll("\r\n", "\n").split("\n"), 0);
}

interface Taken {
  readonly block: Block;
  /** First line after it. */
  readonly next: number;
}

function blocksOf(lines: readonly string[], depth: number): Block[] {
  const blocks: Block[] = [];
  let at = 0;
  while (at < lines.length) {
    const line = lines[at] ?? "";
    if (line.trim() === "") {
      at += 1;
      continue;
    }
    const taken: Taken =
      codeAt(lines, at) ??
      lineAt(line, at) ??
      tableAt(lines, at) ??
      nestedAt(lines, at, depth) ??
      paragraphAt(lines, at);
    blocks.push(taken.block);
    at = taken.next;
  }
  return blocks;
}

function codeAt(lines: readonly string[], at: number): Taken | undefined {
  const open = FENCE.exec(lines[at] ?? "");
  if (!open) return undefined;
  const fence = open[1] ?? "";
  let end = at + 1;
  while (end < lines.length && !closes(lines[end] ?? "", fence)) end += 1;
  const text = lines.slice(at + 1, end).join("\n");
  return { block: { kind: "code", language: open[2] ?? "", text }, next: end + 1 };
}

function closes(line: string, fence: string): boolean {
  const text = line.trim();
  return text.length >= fence.length && text === (fence[0] ?? "`").repeat(text.length);
}

function lineAt(line: string, at: number): Taken | undefined {
  if (RULE.test(line)) return { block: { kind: "rule" }, next: at + 1 };
  const heading = HEADING.exec(line);
  if (!heading) return undefined;
  const block = { kind: "heading", level: (heading[1] ?? "#").length, inside: parseInline(heading[2] ?? "") } as const;
  return { block, next: at + 1 };
}

function cellsOf(line: string): Cell[] {
  const inner = line
    .trim()
    .replace(/^\|/, "")
    .replace(/(?<!\\)\|$/, "");
  return inner.split(/(?<!\\)\|/).map((cell) => parseInline(cell.trim().replaceAll("\\|", "|")));
}

function tableAt(lines: readonly string[], at: number): Taken | undefined {
  const [line = "", divider = ""] = lines.slice(at, at + 2);
  if (!line.includes("|") || !DIVIDER.test(divider)) return undefined;
  const head = cellsOf(line);
  let end = at + 2;
  while (end < lines.length && (lines[end] ?? "").includes("|")) end += 1;
  const rows = lines.slice(at + 2, end).map((row) => cellsOf(row).slice(0, head.length));
  return { block: { kind: "table", head, rows }, next: end };
}

function nestedAt(lines: readonly string[], at: number, depth: number): Taken | undefined {
  if (depth >= DEEPEST) return undefined;
  return quoteAt(lines, at, depth) ?? listAt(lines, at, depth);
}

function quoteAt(lines: readonly string[], at: number, depth: number): Taken | undefined {
  let end = at;
  while (end < lines.length && QUOTE.test(lines[end] ?? "")) end += 1;
  if (end === at) return undefined;
  const inside = lines.slice(at, end).map((line) => line.replace(QUOTE, ""));
  return { block: { kind: "quote", blocks: blocksOf(inside, depth + 1) }, next: end };
}

interface Item {
  readonly indent: number;
  /** Undefined for bullets. */
  readonly number: number | undefined;
  readonly text: string;
}

function itemOf(line: string): Item | undefined {
  const found = RULE.test(line) ? null : ITEM.exec(line);
  if (!found) return undefined;
  const [, spaces = "", sign = "", text = ""] = found;
  return { indent: spaces.length, number: /\d/.test(sign) ? Number.parseInt(sign, 10) : undefined, text };
}

function listAt(lines: readonly string[], at: number, depth: number): Taken | undefined {
  const first = itemOf(lines[at] ?? "");
  if (!first) return undefined;
  const items: string[][] = [];
  const isNext = (item: Item | undefined) =>
    item !== undefined &&
    item.indent < first.indent + 2 &&
    (item.number === undefined) === (first.number === undefined);
  let end = at;
  for (; end < lines.length; end += 1) {
    const line = lines[end] ?? "";
    const item = itemOf(line);
    if (item && isNext(item)) items.push([item.text]);
    else if (endsList(lines, end)) break;
    else items.at(-1)?.push(line.replace(/^(?: {1,4}|\t)/, ""));
  }
  const list = items.map((item) => blocksOf(item, depth + 1));
  return { block: { kind: "list", start: first.number, items: list }, next: end };
}

/** A list continues over indented lines, over lazy ones, and over one empty line if it is indented or listed after it. */
function endsList(lines: readonly string[], at: number): boolean {
  const line = lines[at] ?? "";
  const before = lines[at - 1] ?? "";
  if (/^(?: {2,}|\t)/.test(line)) return false;
  if (line.trim() === "") return !/^(?: {2,}|\t)|^ {0,3}(?:[-*+]|\d{1,9}[.)])\s/.test(lines[at + 1] ?? "");
  return before.trim() === "" || FENCE.test(line) || HEADING.test(line) || RULE.test(line) || ITEM.test(line);
}

function startsBlock(lines: readonly string[], at: number): boolean {
  const line = lines[at] ?? "";
  if (FENCE.test(line) || HEADING.test(line) || RULE.test(line) || QUOTE.test(line) || ITEM.test(line)) return true;
  return line.includes("|") && DIVIDER.test(lines[at + 1] ?? "");
}

function paragraphAt(lines: readonly string[], at: number): Taken {
  let end = at + 1;
  while (end < lines.length && (lines[end] ?? "").trim() !== "" && !startsBlock(lines, end)) end += 1;
  const text = lines.slice(at, end).map((line) => line.trimStart());
  return { block: { kind: "paragraph", inside: parseInline(text.join("\n")) }, next: end };
}

const INLINE = new RegExp(
  [
    "\\\\(?<escape>[!-/:-@[-`{-~])",
    // A run of ticks opens as a whole, so that a long one is looked at once.
    "(?<!`)(?<ticks>`+)(?!`)(?<code>[^`]|[^`].*?[^`])\\k<ticks>(?!`)",
    '!?\\[(?<label>(?:[^\\[\\]\\\\]|\\\\.)*)\\]\\((?<href>[^\\s()]*(?:\\([^\\s()]*\\)[^\\s()]*)*)(?:\\s+"[^"]*")?\\)',
    "(?<bare>https?://[^\\s<>\"'`]*[^\\s<>\"'`.,;:!?)\\]*_])",
    "\\*\\*(?<strong>(?=\\S).+?(?<=\\S))\\*\\*(?!\\*)",
    "\\*(?<em>(?=[^\\s*]).+?(?<=[^\\s*]))\\*(?!\\*)",
    "(?<![\\p{L}\\p{N}_])__(?<strong2>(?=\\S).+?(?<=\\S))__(?![\\p{L}\\p{N}_])",
    "(?<![\\p{L}\\p{N}_])_(?<em2>(?=\\S).+?(?<=\\S))_(?![\\p{L}\\p{N}_])",
    "~~(?<del>(?=\\S).+?(?<=\\S))~~",
    "(?<break> {2,}\\n|\\\\\\n)",
  ].join("|"),
  "su",
);

/** Emphasis inside of emphasis ends somewhere; long runs of stars are no text that anybody reads. */
const LONGEST = 5_000;

function parseInline(text: string, depth = 0): Inline[] {
  const parts: Inline[] = [];
  let rest = text;
  while (rest !== "" && depth < DEEPEST && text.length <= LONGEST) {
    const found = INLINE.exec(rest);
    if (!found) break;
    if (found.index > 0) parts.push(rest.slice(0, found.index));
    parts.push(inlineOf(found, depth));
    rest = rest.slice(found.index + found[0].length);
  }
  if (rest !== "") parts.push(rest);
  return parts;
}

function linkOf(found: RegExpExecArray, depth: number): Inline {
  const { label = "", href = "" } = found.groups ?? {};
  const target = safeHref(href);
  if (target === undefined) return found[0];
  return { kind: "link", href: target, inside: parseInline(label || target, depth + 1) };
}

const EMPHASIS = { strong: "strong", strong2: "strong", em: "em", em2: "em", del: "del" } as const;

function inlineOf(found: RegExpExecArray, depth: number): Inline {
  const groups = found.groups ?? {};
  const { escape, code, bare } = groups;
  if (escape !== undefined) return escape;
  if (code !== undefined) return { kind: "code", text: code };
  if (bare !== undefined) return { kind: "link", href: bare, inside: [bare] };
  if (groups["label"] !== undefined) return linkOf(found, depth);
  for (const [name, kind] of Object.entries(EMPHASIS)) {
    const inside = groups[name];
    if (inside !== undefined) return { kind, inside: parseInline(inside, depth + 1) };
  }
  return { kind: "break" };
}
