import { createReadStream } from "node:fs";
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { createGunzip } from "node:zlib";
import { DumpError, readTuples, type DumpDialect, type DumpValue } from "./literals.ts";
import { DumpSplitter } from "./statements.ts";
import { arrange, readColumnNames, readCreateTable, readTableName, type DumpTable } from "./tables.ts";

export interface DumpLoad {
  readonly path: string;
  readonly dialect: DumpDialect;
  readonly isCompressed: boolean;
  /** Returns true for the tables that are loaded; the rows of others are skipped. */
  wants(table: string): boolean;
  /** Characters of a compressed dump that are read at most. */
  readonly maxBytes: number;
  readonly signal: AbortSignal;
}

/** Tables that were loaded, and the statement that inserts a row into the last one. */
interface Loading {
  readonly handle: DatabaseSync;
  readonly tables: Map<string, DumpTable>;
  readonly inserts: Map<string, StatementSync>;
  /** The table and columns of the `COPY` whose rows follow. */
  copy: { readonly table: DumpTable; readonly names: readonly string[] | undefined } | undefined;
}

const ROWS_PER_COMMIT = 5_000;

/** Writes the tables of a dump into a new SQLite file at `into`, without their indexes and rules. */
export async function loadDump(load: DumpLoad, into: string): Promise<void> {
  const handle = new DatabaseSync(into);
  try {
    handle.exec("pragma journal_mode = off; pragma synchronous = off; begin");
    const loading: Loading = { handle, tables: new Map(), inserts: new Map(), copy: undefined };
    let count = 0;
    for await (const _row of readRows(load, loading)) {
      count += 1;
      if (count % ROWS_PER_COMMIT !== 0) continue;
      handle.exec("commit; begin");
      load.signal.throwIfAborted();
    }
    for (const table of loading.tables.values()) addIndexes(handle, table);
    handle.exec("commit");
  } finally {
    handle.close();
  }
}

async function* readRows(load: DumpLoad, loading: Loading): AsyncGenerator<void> {
  const splitter = new DumpSplitter(load.dialect);
  for await (const text of readTexts(load)) {
    for (const piece of splitter.write(text.value, text.isLast)) {
      if (piece.kind === "row") {
        const { copy } = loading;
        if (!copy) continue;
        insert(loading, copy.table, { names: copy.names, values: piece.values });
        yield;
      } else yield* takeStatement(load, loading, piece.text);
    }
  }
}

function* takeStatement({ dialect, wants }: DumpLoad, loading: Loading, text: string): Generator<void> {
  loading.copy = undefined;
  const created = readCreateTable(text);
  if (created) {
    if (wants(created.name) && created.columns.length > 0) createTable(loading, created);
    return;
  }
  const target = findTarget(loading, text);
  if (!target) return;
  const { table, names, at, isCopy } = target;
  if (isCopy) {
    loading.copy = { table, names };
    return;
  }
  const head = /^\s*(?:OVERRIDING\s+\w+\s+VALUE\s+)?VALUES?\s*/i.exec(text.slice(at, at + 128));
  if (!head) throw new DumpError(`an INSERT into ${table.name} has no values`);
  for (const values of readTuples(text, at + head[0].length, dialect)) {
    insert(loading, table, { names, values });
    yield;
  }
}

interface Target {
  readonly table: DumpTable;
  readonly names: readonly string[] | undefined;
  /** The position after the table and its columns. */
  readonly at: number;
  readonly isCopy: boolean;
}

/** Returns the loaded table that the statement adds rows to; undefined if there is none. */
function findTarget({ tables }: Loading, text: string): Target | undefined {
  const begin = /^(?:INSERT\s+(?:IGNORE\s+)?INTO|REPLACE\s+INTO|COPY)\s/i.exec(text);
  const named = begin ? readTableName(text, begin[0].length) : undefined;
  const table = named ? tables.get(named.name) : undefined;
  if (!begin || !named || !table) return undefined;
  const columns = readColumnNames(text, named.at);
  return { table, names: columns?.names, at: columns?.at ?? named.at, isCopy: /^COPY/i.test(begin[0]) };
}

function createTable({ handle, tables, inserts }: Loading, table: DumpTable): void {
  if (tables.has(table.name))
    throw new DumpError(`the dump has the table ${table.name} twice: dump one database alone`);
  const columns = table.columns.map(({ name, type }) => `${quote(name)} ${type}`);
  handle.exec(`create table ${quote(table.name)} (${columns.join(", ")})`);
  tables.set(table.name, table);
  const places = table.columns.map(() => "?").join(", ");
  inserts.set(table.name, handle.prepare(`insert into ${quote(table.name)} values (${places})`));
}

interface DumpRow {
  readonly names: readonly string[] | undefined;
  readonly values: readonly DumpValue[];
}

function insert({ inserts }: Loading, table: DumpTable, { names, values }: DumpRow): void {
  inserts.get(table.name)?.run(...arrange(table, names, values));
}

/** Rows are read in the order of the first column, or of `id`. */
function addIndexes(handle: DatabaseSync, { name, columns }: DumpTable): void {
  const [first] = columns;
  const sorted = new Set([first?.name ?? "", ...columns.filter((one) => one.name === "id").map((one) => one.name)]);
  for (const column of sorted)
    handle.exec(`create index ${quote(`${name} ${column}`)} on ${quote(name)} (${quote(column)})`);
}

function quote(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

async function* readTexts({ path, isCompressed, maxBytes, signal }: DumpLoad) {
  const file = createReadStream(path, { highWaterMark: 256 * 1024, signal });
  const source = isCompressed ? file.pipe(createGunzip()) : file;
  if (isCompressed) file.on("error", (error) => source.destroy(error));
  const decoder = new TextDecoder("utf-8");
  let size = 0;
  for await (const chunk of source as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxBytes) throw new DumpError("the dump is too large when it is unpacked");
    yield { value: decoder.decode(chunk, { stream: true }), isLast: false };
  }
  yield { value: decoder.decode(), isLast: true };
}
