import { splitList } from "@fairway/wire";
import { existsSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { parseObject } from "../lib/text/json.ts";
import type { Logger } from "../observability/log.ts";
import { openDatabase } from "./database.ts";
import { hasTable } from "./schema/introspect.ts";

/** A value that cannot be taken over; the message names table, row and column. */
export class ForeignValueError extends Error {
  override readonly name = "ForeignValueError";
}

/** Contents that say nothing. */
const BLANK: ReadonlySet<string> = new Set(["", "0", "false", "f", "null", "{}", "[]"]);

/** A row of another program's database: every reader accepts any column type. */
export class ForeignRow {
  readonly #values: Readonly<Record<string, unknown>>;
  readonly #table: string;
  readonly #labels: readonly string[];

  /** Messages call the row by the first of the columns `labels` that holds something. */
  constructor(values: Readonly<Record<string, unknown>>, table: string, labels: readonly string[] = ["id", "key"]) {
    this.#values = values;
    this.#table = table;
    this.#labels = labels;
  }

  get label(): string {
    return this.#labels.map((name) => this.text(name)).find((text) => text !== "") ?? "?";
  }

  /** Columns that hold something. */
  get filled(): string[] {
    return Object.keys(this.#values).filter((name) => !BLANK.has(this.#plain(name)));
  }

  #plain(name: string): string {
    const value = this.#values[name];
    return typeof value === "boolean" ? String(value) : this.text(name).trim();
  }

  /** Fails for a value of this row. */
  refuse(column: string, reason: string): never {
    throw new ForeignValueError(
      `${this.#table}, row ${this.label}, column ${column}: ${reason}; correct it there and try again`,
    );
  }

  has(name: string): boolean {
    return this.#values[name] !== undefined;
  }

  /** "" when there is nothing. Columns of fixed width are padded with spaces: they go. */
  text(name: string): string {
    const value = this.#values[name];
    if (typeof value === "string") return value.trimEnd();
    if (value instanceof Uint8Array) return Buffer.from(value).toString("utf8");
    if (typeof value === "object" && value !== null) return JSON.stringify(value);
    return typeof value === "number" || typeof value === "bigint" ? String(value) : "";
  }

  /** Names joined by commas, a JSON list, or an array of the database; trimmed, without blanks and repeats. */
  list(name: string): string[] {
    const text = this.text(name);
    const parsed = text.trimStart().startsWith("[") ? parseObject(`{"names":${text}}`)?.["names"] : undefined;
    if (!Array.isArray(parsed)) return splitList(text);
    const names = parsed.filter((item) => typeof item === "string").map((item) => item.trim());
    return [...new Set(names.filter((item) => item !== ""))];
  }

  /** Epoch seconds of a time column or a number; undefined when there is none. A text that is no time is refused. */
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

  /** Undefined when there is nothing; columns of SQLite hold any text. */
  #number(name: string): number | undefined {
    const value = this.#values[name];
    if (value === null || value === undefined || this.text(name).trim() === "") return undefined;
    const number = Number(value);
    return Number.isFinite(number) ? number : this.refuse(name, `${this.text(name).slice(0, 60)} is not a number`);
  }

  flag(name: string): boolean {
    return ["1", "t", "true"].includes(String(this.#values[name] as unknown).toLowerCase());
  }

  /** Compatible gateways mark soft deletes by a time that is null for existing rows. */
  get isDeleted(): boolean {
    return (this.#values["deleted_at"] ?? null) !== null;
  }
}

/** A database of a compatible gateway, only read. */
export interface ForeignDatabase {
  has(table: string): Promise<boolean>;
  /**
   * All rows in the order of a column that is unique: numbers above 0 for `id`, else texts. Messages call a row by the
   * columns `labels`, which default to that column.
   */
  pages(table: string, key?: string, labels?: readonly string[]): AsyncGenerator<ForeignRow[]>;
  close(): Promise<void>;
}

const PAGE = 500;

type Values = Record<string, unknown>;
type Query = (sql: string, values: readonly (string | number)[]) => Promise<Values[]>;

/** Throws for a file that is not there and for addresses of an unknown kind. */
export function openForeign(url: string, log: Logger): ForeignDatabase {
  return url.startsWith("sqlite:")
    ? openFile(url.slice("sqlite:".length).replace(/^\/\/(?=\/)/, ""))
    : openServer(url, log);
}

/** Opened for reading only: the other gateway may be running on it. */
function openFile(path: string): ForeignDatabase {
  if (!existsSync(path)) throw new Error(`there is no database file ${path}`);
  const handle = new DatabaseSync(path, { readOnly: true });
  const query: Query = (sql, values) => {
    const statement = handle.prepare(sql);
    // Numbers beyond 2^53 would fail without their place.
    statement.setReadBigInts(true);
    return Promise.resolve(statement.all(...values));
  };
  return {
    has: async (table) =>
      (await query("select 1 from sqlite_master where type = 'table' and name = ?", [table])).length > 0,
    pages: (table, key, labels) => pages(query, { table, key, labels }),
    close: () => Promise.resolve(handle.close()),
  };
}

function openServer(url: string, log: Logger): ForeignDatabase {
  const { db, raw, kind, close } = openDatabase({ url, log, connections: 1, isForeign: true });
  return {
    has: (table) => hasTable(db, kind, table),
    pages: (table, key, labels) => pages((sql, values) => raw.rows<Values>(sql, values), { table, key, labels }),
    close,
  };
}

interface Paging {
  readonly table: string;
  readonly key?: string | undefined;
  readonly labels?: readonly string[] | undefined;
}

async function* pages(query: Query, { table, key = "id", labels = [key] }: Paging): AsyncGenerator<ForeignRow[]> {
  let last: string | number = key === "id" ? 0 : "";
  for (;;) {
    const sql = `select * from "${table}" where "${key}" > ? order by "${key}" limit ${PAGE}`;
    const rows = (await query(sql, [last])).map((values) => new ForeignRow(values, table, labels));
    const end = rows.at(-1);
    if (!end) return;
    yield rows;
    last = key === "id" ? end.int("id") : end.text(key);
  }
}
