import type { Endpoint } from "@fairway/wire";
import { CliError, EXIT } from "../../core/exit.ts";
import { documentWriter, type Output } from "../../print/output.ts";
import type { SessionClient } from "../../session/session.ts";

/** The input of a call without its query. */
interface Given {
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
}

interface PageOfRows {
  readonly rows: readonly unknown[];
  /** Cursor behind the last row; "" at the end, undefined if pages have numbers. */
  readonly next: string | undefined;
  readonly total: number | undefined;
  /** Number of the first page. */
  readonly first: 0 | 1;
}

/** Prints the rows of all pages as one list: an array, or with `-o jsonl` one line each, as they arrive. */
export async function printPages(client: SessionClient, call: Endpoint, given: Given, output: Output): Promise<void> {
  if (call.method !== "GET" || call.answer === "stream" || call.answer === "file")
    throw new CliError(`${call.name} has no pages`, EXIT.usage, "leave out --paginate");
  const writer = await writerFor(output);
  for await (const rows of readPages(client, call, given)) {
    for (const row of rows) writer.add(row);
    await output.room();
  }
  writer.end();
}

/** Rows of a page; the server may return fewer than requested. */
const SIZE = "100";

async function* readPages(client: SessionClient, call: Endpoint, given: Given): AsyncGenerator<readonly unknown[]> {
  let query: Readonly<Record<string, string>> = { page_size: SIZE, ...given.query };
  let count = 0;
  let first: number | undefined;
  for (;;) {
    const { data, total: named } = await client.call(call, { params: given.params, query });
    const page = pageIn(data, named, call.name);
    yield page.rows;
    count += page.rows.length;
    first ??= page.rows.length;
    const isLast = page.rows.length === 0 || page.rows.length < first || count >= (page.total ?? Infinity);
    if (page.next === undefined ? isLast : page.next === "") return;
    if (page.next === undefined) query = { ...query, p: String(Number(query["p"] ?? page.first) + 1) };
    else query = { ...query, before: page.next };
  }
}

/** Reads a list, which is either rows with their total next to them, or a page object around the rows. */
function pageIn(data: unknown, total: number | undefined, name: string): PageOfRows {
  if (Array.isArray(data)) return { rows: data, next: undefined, total, first: 0 };
  const page = typeof data === "object" && data !== null ? (data as Readonly<Record<string, unknown>>) : {};
  const { items, next, total: all } = page;
  if (!Array.isArray(items)) throw new CliError(`${name} answers no list`, EXIT.usage, "leave out --paginate");
  return {
    rows: items,
    next: typeof next === "string" ? next : undefined,
    total: typeof all === "number" ? all : total,
    first: 1,
  };
}

interface Writer {
  add(row: unknown): void;
  end(): void;
}

async function writerFor(output: Output): Promise<Writer> {
  if (output.format === "jsonl") return { add: (row) => output.out(JSON.stringify(row)), end: () => undefined };
  if (output.format === "yaml") {
    const rows: unknown[] = [];
    const write = await documentWriter(output);
    return { add: (row) => void rows.push(row), end: () => write(rows) };
  }
  let last: string | undefined;
  return {
    add(row) {
      output.out(last === undefined ? "[" : `${last},`);
      last = `  ${JSON.stringify(row, undefined, 2).replaceAll("\n", "\n  ")}`;
    },
    end: () => output.out(last === undefined ? "[]" : `${last}\n]`),
  };
}
