import { existsSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { Redis } from "ioredis";
import mysql from "mysql2/promise";
import pg from "pg";
import { expect, test } from "vitest";
import { eachDatabase, freshRedis } from "./databases.ts";

async function query(url: string, sql: string): Promise<void> {
  if (url.startsWith("sqlite:")) {
    const database = new DatabaseSync(url.slice("sqlite:".length));
    database.exec(sql);
    database.close();
  } else if (url.startsWith("mysql:")) {
    const connection = await mysql.createConnection(url);
    await connection.query(sql);
    await connection.end();
  } else {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    await client.query(sql);
    await client.end();
  }
}

eachDatabase("a fresh database", (open) => {
  test("is empty each time and takes tables", async () => {
    const first = await open();
    const second = await open();
    expect(first).not.toBe(second);
    await query(first, "CREATE TABLE notes (id INTEGER PRIMARY KEY)");
    await query(second, "CREATE TABLE notes (id INTEGER PRIMARY KEY)");
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
