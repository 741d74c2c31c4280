import { splitList } from "@fairway/wire";
import { existsSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { parseObject } from "../lib/text/json.ts";
import type { Logger } from "../observability/log.ts";
import { openDatabase } from "./database.ts";
import { hasTable } from "./schema/introspect.ts";

/** A value or a table that cannot be imported; the message names table, row and column. */
export class ForeignValueError extends Error {
  override readonly name = "ForeignValueError";
}

/** Contents that count as empty. */
const BLANK: ReadonlySet<string> = new Set(["", "0", "false", "f", "null", "{}", "[]"]);

/** A row of another program's database: every reader accepts any column type. */
export class ForeignRow {
  readonly #values: Readonly<Record<string, unknown>>;
  readonly #table: string;
  readonly #labels: readonly string[];

  /** Messages identify the row by the first non-empty column of `labels`. */
  constructor(values: Readonly<Record<string, unknown>>, table: string, labels: readonly string[] = ["id", "key"]) {
    this.#values = values;
    this.#table = table;
    this.#labels = labels;
  }

  get label(): string {
    return this.#labels.map((name) => this.text(name)).find((text) => text !== "") ?? "?";
  }

  /** Names of the non-empty columns. */
  get filled(): string[] {
    return Object.keys(this.#values).filter((name) => !BLANK.has(this.#plain(name)));
  }

  #plain(name: string): string {
    const value = this.#values[name];
    return typeof value === "boolean" ? String(value) : this.text(name).trim();
  }

  /** Throws for a value of this row. */
  refuse(column: string, reason: string): never {
    throw new ForeignValueError(
      `${this.#table}, row ${this.label}, column ${column}: ${reason}; correct it there and try again`,
    );
  }

  has(name: string): boolean {
    return this.#values[name] !== undefined;
  }

  /** Returns the text; "" if it is empty. Removes the spaces that pad columns of fixed width. */
  text(name: string): string {
    const value = this.#values[name];
    if (typeof value === "string") return value.trimEnd();
    if (value instanceof Uint8Array) return Buffer.from(value).toString("utf8");
    if (typeof value === "object" && value !== null) return JSON.stringify(value);
    return typeof value === "number" || typeof value === "bigint" ? String(value) : "";
  }

  /**
   * Returns the names in a list joined by commas, a JSON list, or an array of the database; trimmed, without blanks and
   * duplicates.
   */
  list(name: string): string[] {
    const text = this.text(name);
    const parsed = text.trimStart().startsWith("[") ? parseObject(`{"names":${text}}`)?.["names"] : undefined;
    if (!Array.isArray(parsed)) return splitList(text);
    const names = parsed.filter((item) => typeof item === "string").map((item) => item.trim());
    return [...new Set(names.filter((item) => item !== ""))];
  }

  /**
   * Returns the epoch seconds of a time column or a number; undefined if it is empty. Refuses a text that is not a
   * time.
   */
  time(name: string): number | undefined {
    const value = this.#values[name];
    if (value instanceof Date) return Math.floor(value.getTime() / 1000);
    const text = this.text(name).trim();
    if (text === "") return undefined;
    if (/^\d+$/.test(text)) return this.int(name);
    const ms = Date.parse(/[zZ]$|[+-]\d\d:?\d\d$/.test(text) ? text : `${text.replace(" ", "T")}Z`);
    return Number.isNaN(ms) ? this.refuse(name, `${text.slice(0, 60)} is not a time`) : Math.floor(ms / 1000);
  }

  int(name: string, fallback = 0): number {
    const value = this.#values[name];
    if (typeof value === "boolean") return Number(value);
    const number = this.#number(name);
    if (number === undefined) return fallback;
    if (Number.isSafeInteger(Math.trunc(number))) return Math.trunc(number);
    return this.refuse(name, `the number ${this.text(name)} is larger than ${Number.MAX_SAFE_INTEGER}`);
  }

  decimal(name: string): number {
    return this.#number(name) ?? 0;
  }

  /** Returns the number; undefined if it is empty. Columns of SQLite may hold any text. */
  #number(name: string): number | undefined {
    const value = this.#values[name];
    if (value === null || value === undefined || this.text(name).trim() === "") return undefined;
    const number = Number(value);
    return Number.isFinite(number) ? number : this.refuse(name, `${this.text(name).slice(0, 60)} is not a number`);
  }

  flag(name: string): boolean {
    return ["1", "t", "true"].includes(String(this.#values[name] as unknown).toLowerCase());
  }

  /** True if the row is soft-deleted: compatible gateways set a time that is null for existing rows. */
  get isDeleted(): boolean {
    return (this.#values["deleted_at"] ?? null) !== null;
  }
}

/** A database of a compatible gateway, which is only read. */
export interface ForeignDatabase {
  has(table: string): Promise<boolean>;
  /**
   * Yields all rows in the order of a column: numbers above 0 for `id`, else texts, which fewer than 500 rows share.
   * Messages identify a row by the columns `labels`, which default to that column.
   */
  pages(table: string, key?: string, labels?: readonly string[]): AsyncGenerator<readonly ForeignRow[]>;
  /** Returns the number of rows; 0 for a table that is not there. */
  count(table: string): Promise<number>;
  /** Returns a row for each value of `by` that the chosen rows have: that value, and the sum of the later ones. */
  sums(table: string, chosen: ChosenSums): Promise<ForeignRow[]>;
  close(): Promise<void>;
}

export interface ChosenSums {
  readonly by: string;
  /** The column that is summed; the sum has its name. */
  readonly sum: string;
  readonly where: { readonly column: string; readonly value: string };
  /** Rows below this value of their column count, but with 0. */
  readonly since: { readonly column: string; readonly value: string };
}

const PAGE = 500;

type Values = Record<string, unknown>;
type Query = (sql: string, values: readonly (string | number)[]) => Promise<Values[]>;

/** Opens the database. Throws if a file does not exist or the kind of address is unknown. */
export function openForeign(url: string, log: Logger): ForeignDatabase {
  return url.startsWith("sqlite:")
    ? openForeignFile(url.slice("sqlite:".length).replace(/^\/\/(?=\/)/, ""))
    : openServer(url, log);
}

/** Opens a file for reading only, because the other gateway may be running on it. */
export function openForeignFile(path: string): ForeignDatabase {
  if (!existsSync(path)) throw new Error(`there is no database file ${path}`);
  const handle = new DatabaseSync(path, { readOnly: true });
  // Its views and generated columns may be made by anyone, so they may call nothing that has effects.
  handle.exec("pragma trusted_schema = off");
  const query: Query = (sql, values) => {
    const statement = handle.prepare(sql);
    // Without this, an error for a number beyond 2^53 would not name its place.
    statement.setReadBigInts(true);
    return Promise.resolve(statement.all(...values));
  };
  const has = async (table: string) =>
    (await query("select 1 from sqlite_master where type = 'table' and name = ?", [table])).length > 0;
  return {
    has,
    pages: (table, key, labels) => pages(query, { table, key, labels }),
    count: async (table) => ((await has(table)) ? countRows(query, table) : 0),
    sums: (table, chosen) => readSums(query, table, chosen),
    close: () => Promise.resolve(handle.close()),
  };
}

function openServer(url: string, log: Logger): ForeignDatabase {
  const { db, raw, kind, close } = openDatabase({ url, log, connections: 1, isForeign: true });
  const query: Query = (sql, values) => raw.rows<Values>(sql, values);
  return {
    has: (table) => hasTable(db, kind, table),
    pages: (table, key, labels) => pages(query, { table, key, labels }),
    count: async (table) => ((await hasTable(db, kind, table)) ? countRows(query, table) : 0),
    sums: (table, chosen) => readSums(query, table, chosen),
    close,
  };
}

async function countRows(query: Query, table: string): Promise<number> {
  const [row] = await query(`select count(*) as number from "${table}"`, []);
  return Number(row?.["number"] ?? 0);
}

async function readSums(query: Query, table: string, { by, sum, where, since }: ChosenSums): Promise<ForeignRow[]> {
  const later = `case when "${since.column}" >= ? then "${sum}" else 0 end`;
  const sql = `select "${by}", sum(${later}) as "${sum}" from "${table}" where "${where.column}" = ? group by "${by}" order by "${by}"`;
  return (await query(sql, [since.value, where.value])).map((values) => new ForeignRow(values, table, [by]));
}

interface Paging {
  readonly table: string;
  readonly key?: string | undefined;
  readonly labels?: readonly string[] | undefined;
}

/** The next page begins with the last value, which several rows may have; a page of one value is whole. */
function withoutLastValue(rows: readonly ForeignRow[], key: string): readonly ForeignRow[] {
  const last = rows.at(-1)?.text(key);
  const others = rows.filter((row) => row.text(key) !== last);
  return others.length === 0 ? rows : others;
}

async function* pages(
  query: Query,
  { table, key = "id", labels = [key] }: Paging,
): AsyncGenerator<readonly ForeignRow[]> {
  let last: string | number = key === "id" ? 0 : "";
  for (;;) {
    const sql = `select * from "${table}" where "${key}" > ? order by "${key}" limit ${PAGE}`;
    const rows = (await query(sql, [last])).map((values) => new ForeignRow(values, table, labels));
    const whole = rows.length < PAGE || key === "id" ? rows : withoutLastValue(rows, key);
    const end = whole.at(-1);
    if (!end) return;
    yield whole;
    last = key === "id" ? end.int("id") : end.text(key);
  }
}
