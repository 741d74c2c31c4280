// Dumps by the tools of the databases: each row reads as it does from the database itself.
import { execFileSync } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { createDatabase } from "@fairway/testkit/databases";
import { afterAll, beforeAll, expect, test } from "vitest";
import { LITELLM, NEW_API, SourceDatabase, type SourceRow } from "../../../test/import/source-database.ts";
import { channel, token, user } from "../../../test/import/rows.ts";
import { quietLog } from "../../../test/kit/support.ts";
import { openForeign, type ForeignDatabase, type ForeignRow } from "../foreign.ts";
import { DumpError } from "./literals.ts";
import { openExport } from "./open-export.ts";

let folder: string;
let files = 0;
beforeAll(() => void (folder = mkdtempSync(join(tmpdir(), "dumps-"))));
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Texts that break a reader which forgets one of the rules. */
const HARD = [
  'it\'s; "quoted" `and` -- not a comment # nor this /* or that */',
  "back\\slash \\' \\N \\. tab\tline\nend\r\n",
  '\\.\n$$ $tag$ 名称 🚢 {a,"b"}',
  "",
  "NULL",
  "{}",
];

type Kind = "mariadb" | "postgres";

function dump(url: string, kind: Kind, ...flags: string[]): Buffer {
  const { hostname, port, username, password, pathname } = new URL(url);
  const place = [`--host=${hostname}`, `--port=${port}`];
  const name = pathname.slice(1);
  const limit = { maxBuffer: 64 * 1024 * 1024 };
  return kind === "postgres"
    ? execFileSync("pg_dump", [`--dbname=${url.split("?", 1)[0]}`, ...flags], limit)
    : execFileSync(
        "mariadb-dump",
        [
          ...place,
          `--user=${decodeURIComponent(username)}`,
          `--password=${decodeURIComponent(password)}`,
          ...flags,
          name,
        ],
        limit,
      );
}

function open(content: Buffer | string, wants: (table: string) => boolean = () => true, maxBytes = 1e9) {
  const path = join(folder, `dump-${(files += 1)}`);
  writeFileSync(path, content);
  return openExport({ path, scratch: `${path}.db`, wants, maxBytes, signal: new AbortController().signal });
}

async function rowsOf(database: ForeignDatabase, table: string, key: string): Promise<readonly ForeignRow[]> {
  const rows: ForeignRow[] = [];
  for await (const some of database.pages(table, key)) rows.push(...some);
  return rows;
}

const readTokens = (row: ForeignRow) => [
  row.text("name"),
  row.text("key"),
  row.int("remain_quota"),
  row.flag("unlimited_quota"),
  row.isDeleted,
];

const LITELLM_KEY: SourceRow = {
  token: "a".repeat(64),
  key_name: "sk-...1",
  models: ["gpt-4o", 'odd "name", with', "NULL"],
  spend: 1.25,
  blocked: false,
  auto_rotate: true,
  aliases: '{"a":"b"}',
  expires: "2030-01-02 03:04:05",
  created_at: "2025-10-01 10:00:00",
};

const readKey = (row: ForeignRow) => [
  row.text("token"),
  row.list("models"),
  row.decimal("spend"),
  row.flag("blocked"),
  row.flag("auto_rotate"),
  row.text("aliases").replaceAll(" ", ""),
  row.time("expires"),
  row.filled.toSorted(),
];

const FORMS: readonly [Kind, ...string[]][] = [
  ["mariadb"],
  ["mariadb", "--skip-extended-insert", "--complete-insert"],
  ["mariadb", "--hex-blob"],
  ["postgres"],
  ["postgres", "--inserts"],
  ["postgres", "--column-inserts", "--rows-per-insert=3"],
];

test.each(FORMS)("%s %s %s reads like the database", async (...form) => {
  const [kind, ...flags] = form;
  const source = new SourceDatabase(await createDatabase(kind), kind);
  await source.create({ ...NEW_API, ...LITELLM });
  await source.insert("users", user(1, "ann"), user(2, "bob", { quota: 9_007_199_254_740_991 }));
  await source.insert("channels", channel(1, 1, { key: HARD.join("\n") }));
  await source.insert(
    "tokens",
    ...HARD.map((name, at) => token(at + 1, 1, { name, unlimited_quota: at % 2 === 0, key: `key-${at}` })),
    token(9, 2, { name: "gone", deleted_at: "2025-01-01 00:00:00" }),
  );
  await source.insert("LiteLLM_VerificationToken", LITELLM_KEY);
  const [there, here] = [openForeign(source.url, quietLog), await open(dump(source.url, kind, ...flags))];
  for (const [table, key, read] of [
    ["tokens", "id", readTokens],
    ["users", "id", (row: ForeignRow) => [row.text("username"), row.int("quota"), row.text("password")]],
    ["channels", "id", (row: ForeignRow) => [row.text("key"), row.list("models"), row.int("priority")]],
    ["LiteLLM_VerificationToken", "token", readKey],
  ] as const) {
    const expected = (await rowsOf(there, table, key)).map(read);
    expect(expected.length).toBeGreaterThan(0);
    expect((await rowsOf(here, table, key)).map(read), table).toEqual(expected);
    expect(await here.count(table)).toBe(await there.count(table));
  }
  expect(await here.has("none")).toBe(false);
  await there.close();
  await here.close();
});

test("a compressed dump is unpacked, up to a bound, and other tables are skipped", async () => {
  const source = new SourceDatabase(await createDatabase("mariadb"), "mariadb");
  await source.create({ users: NEW_API["users"] ?? {}, logs: NEW_API["logs"] ?? {} });
  await source.insert("users", user(1, "ann"));
  const packed = gzipSync(dump(source.url, "mariadb"));
  const here = await open(packed, (table) => table === "users");
  expect([await here.has("users"), await here.has("logs"), await here.count("users")]).toEqual([true, false, 1]);
  await here.close();
  await expect(open(packed, () => true, 100)).rejects.toThrow("too large when it is unpacked");
});

test.each([
  ["", "it is no SQLite file"],
  ["PGDMP\u0001", "--format=plain"],
  ["name,quota\nann,5\n", "it is no SQLite file"],
  ["-- MySQL dump\nCREATE TABLE `users` (`id` int);\nINSERT INTO `users` VALUES (1", "not complete"],
  ["-- MySQL dump\nCREATE TABLE `users` (`id` int);\nINSERT INTO `users` VALUES (now());", "no number and no text"],
  ["-- PostgreSQL database dump\nCREATE TABLE users (id int);\nCOPY users (id) FROM stdin;\n1\n", "inside a COPY"],
  ["-- MySQL dump\nINSERT INTO `users` VALUES ('a", "inside a text"],
])("what is no whole export is refused: %s", async (content, reason) => {
  const failure = await open(content).then(
    () => "it was opened",
    (error: unknown) => (error instanceof DumpError ? error.message : error),
  );
  expect(failure).toContain(reason);
});
