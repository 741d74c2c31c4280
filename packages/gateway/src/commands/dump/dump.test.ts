import { createDatabase, eachDatabase } from "@fairway/testkit/databases";
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { insertLogs } from "../../../test/kit/log-rows.ts";
import { openStoreKit, type StoreKit } from "../../../test/kit/store-kit.ts";
import { accountRow } from "../../identity/accounts/accounts.ts";
import { rollUpStatistics } from "../../resources/statistics/rollup.ts";
import { UsageError } from "../arguments.ts";
import { readDump } from "./read.ts";
import { LEFT_BEHIND, TABLE_NAMES } from "./tables.ts";
import { writeDump } from "./write.ts";
import { secondFactor, tokenKey } from "../../storage/secrets/sealed-locations.ts";

eachDatabase("export and import of everything", (open) => {
  let from: StoreKit;
  let to: StoreKit;
  let dir: string;

  beforeAll(async () => {
    from = await openStoreKit(await open());
    to = await openStoreKit(await createDatabase(open.kind));
    dir = await mkdtemp(join(tmpdir(), "fairway-export-"));
  });
  afterAll(async () => {
    await from.database.close();
    await to.database.close();
    await rm(dir, { recursive: true });
  });

  const readdirWith = async (folder: string): Promise<Record<string, string>> => {
    const names = (await readdir(folder)).filter((name) => name.includes("."));
    return Object.fromEntries(
      await Promise.all(names.map(async (name) => [name, await readFile(join(folder, name), "utf8")] as const)),
    );
  };
  const rows = async ({ database }: StoreKit, table: string) =>
    (await database.raw.rows(`select * from ${table}`, [])).map((row) => JSON.stringify(row)).sort();

  async function fill({ database: { db }, vault }: StoreKit): Promise<void> {
    const account = accountRow({ username: "änn", passwordHash: "h", createdAt: 1 });
    await db
      .insertInto("users")
      .values({ ...account, id: 70, quota: 9_007_199_254_740_991, totp_secret: vault.seal("s", secondFactor(70)) })
      .execute();
    const token = {
      user_id: 70,
      status: 1,
      created_time: 1,
      accessed_time: 1,
      expired_time: -1,
      remain_quota: -5,
      unlimited_quota: 0,
      model_limits_enabled: 0,
      model_limits: "",
      allow_ips: "",
      group: "",
      deleted_at: null,
    };
    const tokens = Array.from({ length: 2_300 }, (_, at) => ({
      ...token,
      id: at + 1,
      name: `t${at}`,
      limits: at % 2 === 0 ? '{"rpm":5}' : null,
      key_hash: vault.hashKey(`k${at}`),
      key_sealed: vault.seal(`k${at}`, tokenKey(at + 1)),
    }));
    for (let at = 0; at < tokens.length; at += 500)
      await db
        .insertInto("tokens")
        .values(tokens.slice(at, at + 500))
        .execute();
    const abilities = Array.from({ length: 1_500 }, (_, at) => ({
      group: `g${at % 7}`,
      model: `m"\n${at}`,
      channel_id: at % 3,
      enabled: 1,
      priority: 0,
      weight: 0,
      tag: null,
    }));
    for (let at = 0; at < abilities.length; at += 500)
      await db
        .insertInto("abilities")
        .values(abilities.slice(at, at + 500))
        .execute();
    // These log rows are already in the hourly sums: a reader of both must not add them twice.
    await db.insertInto("revisions").values({ topic: "usage-rollup", revision: 41 }).execute();
    await db.insertInto("options").values({ key: "SystemName", value: "中文 \\ 'x' \u{1f600}" }).execute();
    await db.insertInto("preferences").values({ user_id: 70, value: "{}", updated_at: 3 }).execute();
  }

  test("brings sums of log rows that later runs do not add again", async () => {
    const [source, copy] = [
      await openStoreKit(await createDatabase(open.kind)),
      await openStoreKit(await createDatabase(open.kind)),
    ];
    const folder = await mkdtemp(join(tmpdir(), "fairway-export-"));
    const rollUp = (kit: StoreKit) =>
      rollUpStatistics({ ...kit, logs: kit.database, settleMs: 0 }, new AbortController().signal);
    try {
      await insertLogs(source.database, [{ quota: 3 }, { type: 5, other: '{"status_code":429,"error_code":"busy",' }]);
      await rollUp(source);
      await writeDump({ ...source, logDatabase: source.database, dir: folder });
      await readDump({ ...copy, logDatabase: copy.database, vault: source.vault, dir: folder, isDry: false });
      expect(await rollUp(copy)).toBe(0);
      for (const table of ["usage_statistics", "facet_sums", "log_sums"]) {
        expect(await rows(copy, table)).toEqual(await rows(source, table));
        expect(await rows(copy, table)).not.toEqual([]);
      }
      await insertLogs(copy.database, [{ quota: 4 }]);
      expect(await rollUp(copy)).toBe(1);
      const gaps = await copy.database.raw.rows("select revision from revisions where topic like '%gap'", []);
      expect(gaps).toEqual(
        await source.database.raw.rows("select revision from revisions where topic like '%gap'", []),
      );
    } finally {
      await source.database.close();
      await copy.database.close();
      await rm(folder, { recursive: true });
    }
  });

  test("brings every row back as it was, and only into an empty database", async () => {
    await fill(from);
    const counts = await writeDump({ ...from, logDatabase: from.database, dir });
    expect(counts).toMatchObject({ users: 1, tokens: 2_300, abilities: 1_500, options: 1, logs: 0 });
    expect((await stat(join(dir, "users.ndjson"))).mode & 0o077).toBe(0);
    const read = (isDry: boolean) =>
      readDump({ database: to.database, logDatabase: to.database, vault: from.vault, dir, isDry });
    await expect(readDump({ ...to, logDatabase: to.database, dir, isDry: true })).rejects.toThrow(
      "does not open with the key",
    );
    const report = await read(true);
    expect(report.of("tokens").created).toBe(2_300);
    expect(await rows(to, "tokens")).toEqual([]);
    await read(false);
    for (const table of TABLE_NAMES) expect(await rows(to, table)).toEqual(await rows(from, table));
    await to.database.db
      .insertInto("users")
      .values(accountRow({ username: "next", passwordHash: "", createdAt: 1 }))
      .execute();
    const [mark] = await to.database.raw.rows("select revision from revisions where topic = 'usage-rollup'", []);
    expect(mark).toEqual({ revision: 41 });
    const ids = await to.database.db.selectFrom("users").select("id").orderBy("id").execute();
    expect(ids[1]?.id).toBeGreaterThan(70);
    await expect(read(false)).rejects.toThrow("the table users is not empty");
  });

  test("knows every table", async () => {
    const sql = {
      sqlite: "select name from sqlite_master where type = 'table' and name not like 'sqlite%'",
      mysql: "select table_name as name from information_schema.tables where table_schema = database()",
      postgres: "select table_name as name from information_schema.tables where table_schema = current_schema()",
    };
    const found = await from.database.raw.rows<{ name: string }>(sql[from.database.kind], []);
    const known = new Set<string>([...TABLE_NAMES, ...LEFT_BEHIND]);
    // Partitions are separate tables on PostgreSQL.
    const own = found.map(({ name }) => name).filter((name) => !/schema_versions|schema_lock|^logs_/.test(name));
    expect(own.filter((name) => !known.has(name))).toEqual([]);
  });

  test("refuses files that were cut off or changed, or are of another version, before it writes a row", async () => {
    const whole = await readdirWith(dir);
    const attempt = async (files: Record<string, string | undefined>) => {
      const other = await mkdtemp(join(dir, "other-"));
      for (const [name, text] of Object.entries({ ...whole, ...files }))
        if (text !== undefined) await writeFile(join(other, name), text);
      const empty = await openStoreKit(await createDatabase(open.kind));
      const read = readDump({ ...empty, vault: from.vault, logDatabase: empty.database, dir: other, isDry: false });
      const message = await read.then(
        () => "read",
        (error: unknown) => (error instanceof UsageError ? error.message : String(error)),
      );
      const { length } = await rows(empty, "users");
      await empty.database.close();
      return `${message}, ${length} users`;
    };
    const tokens = whole["tokens.ndjson"] ?? "";
    const manifest = JSON.parse(whole["manifest.json"] ?? "") as { tables: Record<string, number> };
    const formatManifest = (tables: Record<string, number>) => JSON.stringify({ ...manifest, tables });
    const { jobs: _jobs, ...older } = manifest.tables;
    for (const [files, message] of [
      [{ "tokens.ndjson": tokens.slice(0, tokens.lastIndexOf('{"')) }, /has 2299 rows instead of 2300/],
      [{ "tokens.ndjson": tokens.slice(0, -9) }, /tokens\.ndjson holds a line that is no row/],
      [{ "tokens.ndjson": undefined }, /tokens\.ndjson is missing/],
      [{ "options.ndjson": '{"key":"a","value":"b","hue":1}\n' }, /a column hue that this version does not know/],
      [
        { "manifest.json": formatManifest({ ...manifest.tables, comets: 0 }) },
        /by a newer version, which also has comets/,
      ],
      [{ "manifest.json": undefined }, /manifest\.json is missing/],
    ] as const) {
      const said = await attempt(files);
      expect(said).toMatch(message);
      expect(said).toMatch(/, 0 users$/);
    }
    expect(await attempt({ "manifest.json": formatManifest(older), "jobs.ndjson": undefined })).toBe("read, 1 users");
  }, 120_000);

  test("refuses a folder of something else", async () => {
    const manifest = join(dir, "manifest.json");
    expect(JSON.parse(await readFile(manifest, "utf8"))).toMatchObject({ format: "fairway-export-1" });
    await writeFile(manifest, "{}");
    await expect(readDump({ ...to, logDatabase: to.database, dir, isDry: true })).rejects.toThrow("is no export");
  });

  // SQLite blocks other writers during this time.
  if (open.kind === "sqlite") return;

  test("what is written meanwhile is in none of the files", async () => {
    const { raw } = from.database;
    await raw.run("delete from access_tokens", []);
    const touch = "insert into access_tokens (user_id, name, token_hash, created_at) values (70, 'late', ?, 1)";
    // A write happens between the first table and the others.
    const transaction: typeof raw.transaction = (work) =>
      raw.transaction((tx) => {
        let turn = 0;
        const rows: typeof tx.rows = async (sql, values) => {
          if (sql.includes("from tokens") && turn++ === 0) await raw.run(touch, ["late"]);
          return tx.rows(sql, values);
        };
        return work({ ...tx, rows });
      });
    const database = { ...from.database, raw: { ...raw, transaction } };
    const counts = await writeDump({ database, logDatabase: from.database, clock: from.clock, dir: join(dir, "one") });
    expect(counts["access_tokens"]).toBe(0);
    expect(await raw.rows("select name from access_tokens", [])).toEqual([{ name: "late" }]);
  });
});
