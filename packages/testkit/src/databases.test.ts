import { existsSync } from "node:fs";
import { Redis } from "ioredis";
import { expect, test } from "vitest";
import { dropDatabases, eachDatabase, freshRedis } from "./databases.ts";
import { runSql } from "./sql.ts";

eachDatabase("a fresh database", (open) => {
  test("is empty each time and takes tables", async () => {
    const first = await open();
    const second = await open();
    expect(first).not.toBe(second);
    await runSql(first, "CREATE TABLE notes (id INTEGER PRIMARY KEY)");
    await runSql(second, "CREATE TABLE notes (id INTEGER PRIMARY KEY)");
  });

  test("no longer exists after the file", async () => {
    const url = await open();
    await runSql(url, "SELECT 1");
    await dropDatabases();
    await expect(runSql(url, "SELECT 1")).rejects.toThrow();
  });
});

test("a fresh Redis survives a kill with its data when it is durable, and leaves nothing behind", async () => {
  const redis = await freshRedis({ isDurable: true });
  const write = new Redis(redis.url);
  await write.set("key", "value");
  write.disconnect();

  await redis.kill("SIGKILL");
  await redis.restart();

  const read = new Redis(redis.url);
  expect(await read.get("key")).toBe("value");
  read.disconnect();
  await redis.stop();
  expect(existsSync(redis.folder)).toBe(false);
});
