import MarkdownIt from "markdown-it";
import type { Token } from "markdown-it";
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

/** HTML stays text, because the tree below cannot represent it. Nesting deeper than people write is text, too. */
const parser = new MarkdownIt({ html: false, linkify: true, maxNesting: 20 });
// Pictures would load from servers that the author of a text chooses. Their address becomes a link.
parser.disable("image");
parser.linkify.set({ fuzzyLink: false, fuzzyEmail: false });
parser.validateLink = (href) => safeHref(href) !== undefined;

/**
 * Parses Markdown into a tree of elements, never into HTML. An unfinished text is parsed as far as it goes: an open
 * fence is already code.
 */
export function parseMarkdown(text: string): readonly Block[] {
  return readBlocks(new Reader(parser.parse(text, {})));
}

/** The tokens of one level, read from the front. */
class Reader {
  readonly #tokens: readonly Token[];
  #at = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  next(): Token | undefined {
    return this.#tokens[this.#at++];
  }

  /** Returns the tokens up to the one that closes `open`, and consumes that one too. */
  inside({ type, level }: Token): Reader {
    const closing = type.replace(/_open$/, "_close");
    const start = this.#at;
    while (this.#at < this.#tokens.length) {
      const token = this.#tokens[this.#at++];
      if (token?.type === closing && token.level === level) return new Reader(this.#tokens.slice(start, this.#at - 1));
    }
    return new Reader(this.#tokens.slice(start));
  }
}

function readBlocks(reader: Reader): Block[] {
  const blocks: Block[] = [];
  for (let token = reader.next(); token; token = reader.next()) {
    const block = readBlock(token, reader);
    if (block) blocks.push(block);
  }
  return blocks;
}

function readBlock(token: Token, reader: Reader): Block | undefined {
  switch (token.type) {
    case "fence":
    case "code_block":
      return { kind: "code", language: token.info.trim().split(/\s/)[0] ?? "", text: token.content.replace(/\n$/, "") };
    case "heading_open":
      return { kind: "heading", level: Number(token.tag.slice(1)), inside: readLine(reader.inside(token)) };
    case "hr":
      return { kind: "rule" };
    case "blockquote_open":
      return { kind: "quote", blocks: readBlocks(reader.inside(token)) };
    case "bullet_list_open":
    case "ordered_list_open":
      return readList(token, reader.inside(token));
    case "table_open":
      return readTable(reader.inside(token));
    case "paragraph_open":
      return { kind: "paragraph", inside: readLine(reader.inside(token)) };
    default:
      return undefined;
  }
}

function readList(open: Token, reader: Reader): Block {
  const items: Block[][] = [];
  for (let token = reader.next(); token; token = reader.next())
    if (token.type === "list_item_open") items.push(readBlocks(reader.inside(token)));
  const start = open.type === "ordered_list_open" ? Number(open.attrGet("start") ?? 1) : undefined;
  return { kind: "list", start, items };
}

function readTable(reader: Reader): Block {
  const rows: Cell[][] = [];
  for (let token = reader.next(); token; token = reader.next()) {
    if (token.type === "tr_open") rows.push([]);
    if (token.type === "th_open" || token.type === "td_open") rows.at(-1)?.push(readLine(reader.inside(token)));
  }
  const [head = [], ...body] = rows;
  return { kind: "table", head, rows: body };
}

function readLine(reader: Reader): Inline[] {
  const token = reader.next();
  return token?.type === "inline" ? readInlines(new Reader(token.children ?? [])) : [];
}

const EMPHASIS = { strong_open: "strong", em_open: "em", s_open: "del" } as const;

function readInlines(reader: Reader): Inline[] {
  const parts: Inline[] = [];
  for (let token = reader.next(); token; token = reader.next()) {
    const part = readInline(token, reader);
    const before = parts.at(-1);
    if (typeof part === "string" && typeof before === "string") parts[parts.length - 1] = before + part;
    else if (part !== "") parts.push(part);
  }
  return parts;
}

function readInline(token: Token, reader: Reader): Inline {
  switch (token.type) {
    case "code_inline":
      return { kind: "code", text: token.content };
    case "softbreak":
      return "\n";
    case "hardbreak":
      return { kind: "break" };
    case "link_open":
      return { kind: "link", href: String(token.attrGet("href") ?? ""), inside: readInlines(reader.inside(token)) };
    case "strong_open":
    case "em_open":
    case "s_open":
      return { kind: EMPHASIS[token.type], inside: readInlines(reader.inside(token)) };
    default:
      return token.content;
  }
}
