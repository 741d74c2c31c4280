import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, inject } from "vitest";
import { startRedis, type Service } from "./services.ts";
import { runSql } from "./sql.ts";
import type {} from "./vitest-setup.ts";

export type DatabaseKind = "sqlite" | "mariadb" | "postgres";
export const DATABASE_KINDS: readonly DatabaseKind[] = ["sqlite", "mariadb", "postgres"];

/** Creates a fresh empty database and returns its URL; it is dropped after the last test of the file. */
export interface OpenDatabase {
  (): Promise<string>;
  readonly kind: DatabaseKind;
}

const cleanups: (() => Promise<void>)[] = [];

/** Drops every database and stops every server that the functions below created; `vitest-cleanup.ts` calls it. */
export async function dropDatabases(): Promise<void> {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
}

/**
 * The same suite on SQLite, MariaDB and PostgreSQL:
 *
 *     eachDatabase("token store", (open) => {
 *       beforeAll(async () => { database = await openDatabase(await open()); });
 *       afterAll(() => database.close());
 *       test(...);
 *     });
 */
export function eachDatabase(name: string, suite: (open: OpenDatabase) => void): void {
  describe.each(DATABASE_KINDS)(`${name} on %s`, (kind) => suite(Object.assign(() => createDatabase(kind), { kind })));
}

/** Creates one fresh empty database of the given kind, for suites that need two, or only one kind. */
export async function createDatabase(kind: DatabaseKind): Promise<string> {
  const name = `fw_${randomBytes(6).toString("hex")}`;
  const { url, drop } = await MAKERS[kind](name);
  cleanups.push(drop);
  return url;
}

/** Creates a fresh empty database of ClickHouse, which holds the log alone. */
export async function createClickhouse(): Promise<string> {
  const name = `fw_${randomBytes(6).toString("hex")}`;
  const server = await serverUrl("clickhouse");
  await runClickhouse(server, `create database ${name}`);
  cleanups.push(() => runClickhouse(server, `drop database ${name} sync`));
  return withDatabase(server, name);
}

async function runClickhouse(server: string, statement: string): Promise<void> {
  const { host, username, password } = new URL(server);
  const headers = { "X-ClickHouse-User": username === "" ? "default" : username, "X-ClickHouse-Key": password };
  const answer = await fetch(`http://${host}/`, { method: "POST", body: statement, headers });
  const text = await answer.text();
  if (!answer.ok) throw new Error(text);
}

/** Creates an empty database for the log, and returns its URL. */
interface OpenLogDatabase {
  (): Promise<string>;
  readonly kind: DatabaseKind | "clickhouse";
}

const CLICKHOUSE_MS = 300_000;

/** ClickHouse has a project of its own: its engine is half a gigabyte, and answers one statement at a time. */
const LOG_KINDS = process.env["FAIRWAY_TEST_LOGS"] === "clickhouse" ? (["clickhouse"] as const) : DATABASE_KINDS;

/** The same suite on every database that a log can be in. */
export function eachLogDatabase(name: string, suite: (open: OpenLogDatabase) => void): void {
  for (const kind of LOG_KINDS) {
    const isClickhouse = kind === "clickhouse";
    const open = Object.assign(() => (isClickhouse ? createClickhouse() : createDatabase(kind)), { kind });
    // Its front runs one statement at a time, for all files of a run.
    describe(`${name} on ${kind}`, isClickhouse ? { timeout: CLICKHOUSE_MS } : {}, () => suite(open));
  }
}

/** Starts an empty Redis server for the caller alone; it is stopped after the last test of the file. */
export async function freshRedis(settings: { readonly isDurable?: boolean } = {}): Promise<Service> {
  const service = await startRedis(settings);
  cleanups.push(() => service.stop());
  return service;
}

interface Made {
  readonly url: string;
  drop(): Promise<void>;
}

const MAKERS: Readonly<Record<DatabaseKind, (name: string) => Promise<Made>>> = {
  async sqlite(name) {
    const folder = await mkdtemp(join(tmpdir(), "fairway-sqlite-"));
    return { url: `sqlite:${join(folder, `${name}.db`)}`, drop: () => rm(folder, { recursive: true, force: true }) };
  },
  async mariadb(name) {
    const server = await serverUrl("mariadb");
    await runSql(server, `CREATE DATABASE ${name} CHARACTER SET utf8mb4`);
    return { url: withDatabase(server, name), drop: async () => void (await runSql(server, `DROP DATABASE ${name}`)) };
  },
  async postgres(name) {
    const server = await serverUrl("postgres");
    await runSql(server, `CREATE DATABASE ${name}`);
    const drop = async () => void (await runSql(server, `DROP DATABASE ${name} WITH (FORCE)`));
    return { url: withDatabase(server, name), drop };
  },
};

async function serverUrl(name: "mariadb" | "postgres" | "clickhouse"): Promise<string> {
  const answer = await fetch(`${inject("services")}/${name}`);
  const text = await answer.text();
  if (!answer.ok) throw new Error(text);
  return text;
}

function withDatabase(server: string, name: string): string {
  const url = new URL(server);
  url.pathname = `/${name}`;
  return url.href;
}
