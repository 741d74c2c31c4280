import { createHash } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createLog } from "../packages/gateway/src/observability/log.ts";
import { openDatabase } from "../packages/gateway/src/storage/database.ts";
import { migrate } from "../packages/gateway/src/storage/schema/migrate.ts";
import { startServices, type Services } from "../packages/testkit/src/services.ts";
import { runSql } from "../packages/testkit/src/sql.ts";
import { run } from "./process.ts";

const SIZES = ["--channels", "15", "--users", "7", "--tokens", "11", "--teams", "2", "--until", "2026-11-01"];
const INDEXES = { logs: 9, ledger: 3, quota_data: 4 } as const;
const log = createLog({ level: "off", format: "text", out: new PassThrough() });

let services: Services;
let folder: string;

beforeAll(async () => {
  [services, folder] = await Promise.all([
    startServices({ mariadb: true, postgres: true }),
    mkdtemp(join(tmpdir(), "fairway-seed-")),
  ]);
}, 300_000);
afterAll(async () => {
  await services?.stop();
  await rm(folder, { recursive: true, force: true });
});

const urls = {
  sqlite: (name: string) => Promise.resolve(`sqlite:${join(folder, `${name}.db`)}`),
  mariadb: (name: string) => makeDatabase(services.mariadb?.url ?? "", name),
  postgres: (name: string) => makeDatabase(services.postgres?.url ?? "", name),
} as const;

describe.each(["sqlite", "mariadb", "postgres"] as const)("a seed on %s", (kind) => {
  let url: string;
  const readNumbers = async (sql: string) => Object.values((await runSql(url, sql))[0] ?? {}).map(Number);

  beforeAll(async () => {
    url = await urls[kind]("seed");
    expect(await seed(url, "--logs", "6000")).toMatchObject({ code: 0 });
  }, 180_000);

  test("makes what it was asked for", async () => {
    expect(await readNumbers("select count(*) from logs")).toEqual([6_000]);
    expect(await readNumbers("select count(*) from users where role = 1 and kind = 0")).toEqual([7]);
    expect(await readNumbers("select count(*) from tokens where member_id + service_account_id = 0")).toEqual([11]);
    expect(await readNumbers("select count(*) from channels")).toEqual([15]);
    const [from = 0, to = 0] = await readNumbers("select min(created_at), max(created_at) from logs");
    expect(to).toBeLessThanOrEqual(Date.parse("2026-11-01") / 1_000);
    expect(to - from).toBeGreaterThan(28 * 86_400);
  });

  test("makes teams whose members and service accounts use their keys with tags", async () => {
    expect(await readNumbers("select count(*) from teams")).toEqual([2]);
    expect(await readNumbers("select count(*) from team_members")).toEqual([10]);
    expect(await readNumbers("select count(*) from tokens where member_id + service_account_id > 0")).toEqual([6]);
    expect(await readNumbers("select count(*) from budgets where managed_by = 'team'")).toEqual([4]);
    const calls = "select count(*) from logs where type = 2 and account_kind = 1 and actor <> '' and tags like 'app=%'";
    expect(await readNumbers(calls)).not.toEqual([0]);
    const others = "select count(*) from logs where type = 2 and account_kind = 1 and (actor = '' or tags = '')";
    expect(await readNumbers(others)).toEqual([0]);
    expect(await readNumbers("select count(*) from events where type = 'team.member_joined'")).toEqual([10]);
  });

  test("leaves books that balance", async () => {
    await expectBalance(readNumbers);
  });

  test("leaves the indexes that the migrations make", async () => {
    const bare = await migrated(await urls[kind]("bare"));
    for (const [table, count] of Object.entries(INDEXES)) {
      const indexes = await listIndexes(kind, url, table);
      expect(indexes).toHaveLength(count);
      expect(indexes).toEqual(await listIndexes(kind, bare, table));
    }
  });

  test("refuses a database in use, and adds to it when instructed to", async () => {
    const refused = await seed(url, "--logs", "10");
    expect(refused.code).toBe(1);
    expect(refused.output).toContain("the database is not empty: name another one, or add to this one with --add");
    expect(await seed(url, "--logs", "1500", "--add")).toMatchObject({ code: 0 });
    expect(await readNumbers("select count(*) from logs")).toEqual([7_500]);
    expect(await readNumbers("select count(*) from users where role = 1 and kind = 0")).toEqual([14]);
    await expectBalance(readNumbers);
  });
});

test("a seed makes the same rows on a server that takes no files", { timeout: 180_000 }, async () => {
  const rows = async (name: string) => {
    const url = await urls.mariadb(name);
    expect(await seed(url, "--logs", "6000")).toMatchObject({ code: 0 });
    const rows = await runSql(url, "select * from logs order by id");
    // The server leaves gaps between the ids of several statements.
    return createHash("sha256")
      .update(JSON.stringify(rows.map((row) => ({ ...row, id: 0 }))))
      .digest("hex");
  };
  const sent = await rows("files");
  await runSql(services.mariadb?.url ?? "", "set global local_infile = 0");
  const stated = await rows("no_files");
  await runSql(services.mariadb?.url ?? "", "set global local_infile = 1");
  expect(stated).toBe(sent);
});

test("a seed makes the same rows again from the same arguments", async () => {
  const texts = await Promise.all(
    ["a.db", "b.db"].map(async (name) => {
      const url = `sqlite:${join(folder, name)}`;
      expect(await seed(url, "--logs", "500")).toMatchObject({ code: 0 });
      return JSON.stringify(await runSql(url, "select * from logs order by id"));
    }),
  );
  expect(texts[0]).toBe(texts[1]);
});

test.each([
  ["--logs", "many"],
  ["--logs", "0"],
  ["--until", "soon"],
  ["--rows", "5"],
])("a seed explains itself where %s is %s", async (...args) => {
  const { code, output } = await seed(`sqlite:${join(folder, "none.db")}`, ...args);
  expect(code).toBe(1);
  expect(output).toContain("npm run seed -- --logs N");
});

function seed(url: string, ...args: readonly string[]) {
  const env = {
    FAIRWAY_ENCRYPTION_KEY: "seed-encryption-key-0123456789",
    FAIRWAY_ROOT_PASSWORD: "seed-root-password",
    FAIRWAY_DATA_DIR: folder,
  };
  const script = join(import.meta.dirname, "seed.ts");
  return run(process.execPath, [script, "--database", url, ...SIZES, ...args], { env });
}

async function expectBalance(readNumbers: (sql: string) => Promise<number[]>): Promise<void> {
  const moved = "(select coalesce(sum(quota), 0) from ledger where ledger.user_id = users.id)";
  expect(await readNumbers(`select count(*) from users where role = 1 and quota <> ${moved}`)).toEqual([0]);
  expect(await readNumbers("select count(*) from users where quota < 0")).toEqual([0]);
  const [charged = 0] = await readNumbers("select sum(quota) from logs where type = 2");
  expect(charged).toBeGreaterThan(0);
  expect(await readNumbers("select 0 - sum(quota) from ledger where kind = 'consume'")).toEqual([charged]);
  expect(await readNumbers("select sum(quota) from quota_data")).toEqual([charged]);
  for (const table of ["users", "tokens", "channels"])
    expect(await readNumbers(`select sum(used_quota) from ${table}`)).toEqual([charged]);
  const [calls = 0] = await readNumbers("select count(*) from logs where type = 2");
  expect(await readNumbers("select sum(count) from quota_data")).toEqual([calls]);
  expect(await readNumbers("select sum(request_count) from users")).toEqual([calls]);
  expect(
    await readNumbers("select revision - (select max(id) from logs) from revisions where topic = 'usage-rollup'"),
  ).toEqual([0]);
}

/** Returns definitions, sorted by their text. */
async function listIndexes(kind: keyof typeof urls, url: string, table: string): Promise<string[]> {
  const sql = {
    sqlite: `select sql as definition from sqlite_master where type = 'index' and sql is not null and tbl_name = '${table}'`,
    mariadb: `select concat_ws(' ', index_name, non_unique, group_concat(concat_ws(' ', column_name, collation, sub_part) order by seq_in_index)) as definition from information_schema.statistics where table_schema = database() and index_name <> 'PRIMARY' and table_name = '${table}' group by index_name, non_unique`,
    postgres: `select indexdef as definition from pg_indexes where indexname not like '%_pkey' and tablename = '${table}'`,
  };
  return (await runSql(url, sql[kind])).map((row) => String(row["definition"])).sort();
}

async function migrated(url: string): Promise<string> {
  const database = openDatabase({ url, log });
  await migrate(database, { log, mode: "auto" });
  await database.close();
  return url;
}

async function makeDatabase(server: string, name: string): Promise<string> {
  await runSql(server, `CREATE DATABASE ${name}`);
  const url = new URL(server);
  url.pathname = `/${name}`;
  return url.href;
}
