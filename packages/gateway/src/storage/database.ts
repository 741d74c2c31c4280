import { Kysely, type Dialect } from "kysely";
import type { Logger } from "../observability/log.ts";
import { openMysql } from "./engines/mysql.ts";
import { openPostgres } from "./engines/postgres.ts";
import type { RawDatabase } from "./engines/raw.ts";
import type { Schema } from "./tables/schema.ts";
import { openSqlite } from "./engines/sqlite.ts";

export interface DatabaseSettings {
  /** `sqlite:PATH`, `sqlite::memory:`, `mysql://user:password@host:port/name` or `postgres://...`. */
  readonly url: string;
  readonly log: Logger;
  /** Connections of the pool; SQLite always has one. */
  readonly connections?: number;
  /** True for the database of another program, whose numbers may be too large to read. */
  readonly isForeign?: boolean;
  /** With `full`, a power failure does not lose the last commits, at the cost of one disk flush per commit. */
  readonly sqliteSync?: "normal" | "full";
}

/** One database with a query builder and with prepared statements. */
export interface Database {
  readonly kind: RawDatabase["kind"];
  readonly db: Kysely<Schema>;
  readonly raw: RawDatabase;
  /** Rejects when the database does not answer. */
  ping(): Promise<void>;
  /** Rejects when the database does not answer or accepts no writes; `table` must exist in it. */
  check(table: "revisions" | "logs"): Promise<void>;
  close(): Promise<void>;
}

const DEFAULT_CONNECTIONS = 20;

/** Creates the pools, which connect at the first query. Throws if the kind of URL is unknown. */
export function openDatabase(settings: DatabaseSettings): Database {
  const { raw, dialect, checkDiskSpace, close } = open(settings);
  const db = new Kysely<Schema>({ dialect });
  return {
    kind: raw.kind,
    db,
    raw,
    async ping() {
      await raw.rows("select 1 as one", []);
    },
    async check(table) {
      await raw.run(`delete from ${table} where 1 = 0`, []);
      await checkDiskSpace?.();
    },
    async close() {
      await close();
    },
  };
}

interface Parts {
  readonly dialect: Dialect;
  readonly raw: RawDatabase;
  /** Rejects while the disk is full, on databases that report this in no other way. */
  checkDiskSpace?(): Promise<void>;
  close(): Promise<void> | void;
}

function open({
  url,
  log,
  isForeign,
  connections = DEFAULT_CONNECTIONS,
  sqliteSync = "normal",
}: DatabaseSettings): Parts {
  const scheme = url.slice(0, url.indexOf(":"));
  switch (scheme) {
    case "sqlite":
      return openSqlite(sqlitePath(url), sqliteSync, log);
    case "mysql":
    case "mariadb":
      return openMysql(url, connections, log);
    case "postgres":
    case "postgresql":
      return openPostgres(url, connections, log, isForeign);
    default:
      throw new Error(
        `a database URL begins with sqlite:, mysql:// or postgres://, not with ${scheme === "" ? "this" : `${scheme}:`}`,
      );
  }
}

/** Returns the path in `sqlite:data/fairway.db`, `sqlite:/var/lib/fairway.db` and the same with two more slashes. */
export function sqlitePath(url: string): string {
  const path = url.slice("sqlite:".length);
  return path.startsWith("//") ? decodeURIComponent(path.slice(2)) : path;
}
