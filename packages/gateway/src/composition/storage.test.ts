import { createDatabase } from "@fairway/testkit/databases";
import { startMariadb } from "@fairway/testkit/services";
import { startProxy } from "@fairway/testkit/proxy";
import { runSql } from "@fairway/testkit/sql";
import { open } from "node:fs/promises";
import { createServer, type AddressInfo } from "node:net";
import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { openStorage, ownStorage, StartError } from "./storage.ts";
import { loadEnv } from "../config/env.ts";
import { createLog } from "../observability/log.ts";

const log = createLog({ level: "off", format: "text", out: new PassThrough() });
const start = async (url: string, mode = "auto", more: Record<string, string> = {}) => {
  const variables = { FAIRWAY_DATABASE_URL: url, FAIRWAY_ENCRYPTION_KEY: "an-encryption-key-of-a-test", ...more };
  const storage = await openStorage(loadEnv({ ...variables, FAIRWAY_MIGRATE: mode }), log);
  await storage.close();
};
const refused = async (url: string, mode?: string, more?: Record<string, string>) => {
  const error = await start(url, mode, more).then(
    () => undefined,
    (cause: unknown) => cause,
  );
  expect(error, mode).toBeInstanceOf(StartError);
  return (error as StartError).message;
};
const READ_ONLY = /is read-only \(.*\): name the primary, or let it take writes$/;

test("a MariaDB in read-only mode is refused at the start, whether its schema is there or not", async () => {
  const server = await startMariadb();
  const buildUrl = (name: string) => new URL(`/${name}`, server.url).href;
  for (const name of ["full", "empty"]) await runSql(server.url, `CREATE DATABASE ${name}`);
  await start(buildUrl("full"));
  await runSql(server.url, "SET GLOBAL tx_read_only = 1");
  for (const mode of ["auto", "verify", "off"]) expect(await refused(buildUrl("full"), mode)).toMatch(READ_ONLY);
  expect(await refused(buildUrl("empty"))).toMatch(READ_ONLY);
  await server.stop();
});

test("a pooler that lends connections for a transaction is refused, and the error says what to set", async () => {
  const fields = ["SFATAL", "C08P01", "Munsupported startup parameter: idle_in_transaction_session_timeout", ""];
  const text = Buffer.from(`${fields.join("\0")}\0`);
  const head = Buffer.from([0x45, 0, 0, 0, text.length + 4]);
  const pooler = createServer((socket) => socket.once("data", () => socket.end(Buffer.concat([head, text]))));
  await new Promise<void>((resolve) => void pooler.listen(0, "127.0.0.1", resolve));
  const { port } = pooler.address() as AddressInfo;
  const message = await refused(`postgres://fairway:secret@127.0.0.1:${port}/fairway?sslmode=disable`);
  expect(message).toContain("cannot be used (08P01: unsupported startup parameter");
  expect(message).toContain("pool_mode = session and ignore_startup_parameters = idle_in_transaction_session_timeout");
  pooler.close();
});

test("a PostgreSQL in read-only mode is refused at the start, for requests' logs too", async () => {
  const [main, logs] = [await createDatabase("postgres"), await createDatabase("postgres")];
  const separate = { FAIRWAY_LOG_DATABASE_URL: logs };
  await start(main, "auto", separate);
  const lock = (url: string) =>
    runSql(url, `ALTER DATABASE ${new URL(url).pathname.slice(1)} SET default_transaction_read_only = on`);
  await lock(logs);
  expect(await refused(main, "auto", separate)).toMatch(/^the database of FAIRWAY_LOG_DATABASE_URL is read-only/);
  await lock(main);
  for (const mode of ["auto", "verify", "off"]) expect(await refused(main, mode)).toMatch(READ_ONLY);
});

test("an error for a folder that cannot be written names its variable", async () => {
  const embedded = (variables: Record<string, string>) =>
    openStorage(loadEnv(variables), log).then(
      () => "",
      (error: unknown) => (error instanceof StartError ? error.message : String(error)),
    );
  expect(await embedded({ FAIRWAY_DATA_DIR: "/dev/null/data" })).toMatch(
    /^no encryption key can be stored in \/dev\/null\/data \(ENOTDIR.*\): make FAIRWAY_DATA_DIR a folder/,
  );
  expect(await refused("sqlite:/dev/null/data/fairway.db")).toMatch(
    /^the database of FAIRWAY_DATABASE_URL cannot be opened \(ENOTDIR.*\): let the account of this process write it/,
  );
});

test("an SQLite file that accepts no writes is refused with the cure", async () => {
  const url = await createDatabase("sqlite");
  await start(url);
  const file = await open(url.slice("sqlite:".length), "r+");
  await file.write(Uint8Array.of(3), 0, 1, 18); // a format that this SQLite can read but not write
  await file.close();
  expect(await refused(url)).toMatch(
    /is read-only \(ERR_SQLITE_ERROR.*\): let the account of this process write it and its folder$/,
  );
});

test("names the variable when the account may not change its schema", async () => {
  const server = await startMariadb();
  await runSql(server.url, "CREATE DATABASE narrow");
  await runSql(server.url, "CREATE USER narrow@'%' IDENTIFIED BY 'n'");
  const root = server.url.replace("fairway:fairway@", "root@");
  await runSql(root, "GRANT SELECT, INSERT, UPDATE, DELETE ON narrow.* TO narrow@'%'");
  const mariadb = await refused(new URL("/narrow", server.url.replace("fairway:fairway@", "narrow:n@")).href);
  expect(mariadb).toMatch(/^the account of FAIRWAY_DATABASE_URL has too few rights \(.*CREATE command denied/);
  const as = (who: string, name = "narrow") =>
    refused(new URL(`/${name}`, server.url.replace("fairway:fairway@", who)).href);
  expect(await as("narrow:wrong@")).toContain("the server refuses the user name or password");
  expect(await as("narrow:n@", "absent")).toContain("make the database and let the account use it");
  await server.stop();

  const postgres = await createDatabase("postgres");
  await runSql(postgres, "drop role if exists narrow");
  await runSql(postgres, "create role narrow login");
  expect(await refused(postgres.replace("fairway:fairway@", "narrow@"))).toMatch(
    /has too few rights \(42501: permission denied for schema public\): let it create and change tables/,
  );
  const absent = new URL("/absent", postgres.replace("fairway:fairway@", "narrow@"));
  expect(await refused(absent.href)).toContain("make the database and let the account use it");
});

test("a second process on an SQLite file is refused until the first has ended", async () => {
  const env = loadEnv({ FAIRWAY_DATABASE_URL: await createDatabase("sqlite"), FAIRWAY_ENCRYPTION_KEY: "k".repeat(32) });
  const serve = async () => ownStorage(env, await openStorage(env, log));
  const first = await serve();
  await expect(serve()).rejects.toThrow(/^another gateway serves from .*: stop it, or give this one/);
  await (await openStorage(env, log)).close();
  await first.close();
  await (await serve()).close();
}, 30_000);

test.each(["mariadb", "postgres"] as const)(
  "a %s that goes away during the start is named with its variable",
  async (kind) => {
    const url = new URL(await createDatabase(kind));
    const proxy = await startProxy(Number(url.port));
    url.port = String(proxy.port);
    for (const statement of ["schema_versions", "revisions"]) {
      proxy.cutsAt = statement;
      expect(await refused(url.href)).toMatch(
        /^the database of FAIRWAY_DATABASE_URL stopped answering \(.+\): check that it runs and is not overloaded/,
      );
    }
    await proxy.stop();
  },
);
