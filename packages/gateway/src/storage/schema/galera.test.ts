// Named locks hold on one node of a cluster only: these tests run on three nodes that replicate to each other.
import { startGalera, type Service } from "@fairway/testkit/services";
import { PassThrough } from "node:stream";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createLog } from "../../observability/log.ts";
import { openDatabase, type Database } from "../database.ts";
import { migrate, migrateTracks } from "./migrate.ts";
import type { Migration } from "./migration.ts";
import { MIGRATIONS } from "./migrations/index.ts";

const log = createLog({ level: "off", format: "text", out: new PassThrough() });
const auto = { log, mode: "auto" } as const;

let nodes: readonly Service[] = [];
beforeAll(async () => {
  nodes = await startGalera();
}, 240_000);
afterAll(async () => {
  for (const node of nodes) await node.stop();
});

/** Opens an empty database over each node. */
async function openAll(name: string): Promise<readonly Database[]> {
  const [first] = nodes;
  const root = openDatabase({ url: first?.url ?? "", log });
  await root.raw.run(`create database ${name} character set utf8mb4`, []);
  await root.close();
  for (const { url } of nodes) {
    const node = openDatabase({ url, log });
    const find = () => node.raw.rows("select 1 from information_schema.schemata where schema_name = ?", [name]);
    await expect.poll(find, { timeout: 10_000 }).toHaveLength(1);
    await node.close();
  }
  return nodes.map(({ url }) => openDatabase({ url: `${url}${name}`, log }));
}

const closeAll = (databases: readonly Database[]) => Promise.all(databases.map((database) => database.close()));

describe("three processes on three nodes of a Galera cluster", () => {
  it("that start at once on an empty database all succeed", { timeout: 120_000 }, async () => {
    for (const round of [1, 2]) {
      const databases = await openAll(`start${round}`);
      await Promise.all(databases.map((database) => migrate(database, auto)));
      for (const { raw } of databases)
        expect(await raw.rows("select version from schema_versions", [])).toHaveLength(MIGRATIONS.length);
      await closeAll(databases);
    }
  });

  it("run each step once, also the next process after one was killed in the middle", { timeout: 120_000 }, async () => {
    const databases = await openAll("killed");
    const ran: string[] = [];
    const create = (name: string): Migration => ({
      version: 1,
      name: "notes",
      steps: [
        // Fails if two processes run it.
        async (on) => {
          ran.push(name);
          if (!(await on.hasColumn("notes", "id"))) await on.run("create table notes (id bigint primary key)");
        },
        () => (name === "killed" ? new Promise<never>(() => {}) : Promise.resolve()),
      ],
    });
    const track = (name: string) => [{ table: "note_versions", migrations: [create(name)] }];
    const [first, second, third] = databases as [Database, Database, Database];
    void migrateTracks(first, track("killed"), auto).catch(() => undefined);
    await expect.poll(() => ran).toEqual(["killed"]);
    // The process dies: its connections end, its row stays.
    const ids = await first.raw.rows<{ id: number }>(
      "select id from information_schema.processlist where db = 'killed' and id <> connection_id()",
      [],
    );
    for (const { id } of ids) await first.raw.run(`kill ${id}`, []);
    void first.close().catch(() => undefined);
    const held = await second.raw.rows("select holder from schema_lock where holder <> ''", []);
    expect(held).toHaveLength(1);
    // A minute passes without a renewal.
    await second.raw.run("update schema_lock set expires_at = unix_timestamp() - 1", []);
    await Promise.all([second, third].map((database, at) => migrateTracks(database, track(`next${at}`), auto)));
    expect(ran).toHaveLength(2);
    await closeAll([second, third]);
  });
});
