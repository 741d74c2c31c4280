import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { seedVariables, startVariables } from "./start-variables.ts";

let root: string;
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), "fairway-start-"));
});
afterAll(() => rmSync(root, { recursive: true }));

it("starts on loopback with a folder of its own", () => {
  expect(startVariables(root, {})).toMatchObject({
    FAIRWAY_HOST: "127.0.0.1",
    FAIRWAY_PORT: "3000",
    FAIRWAY_DATA_DIR: join(root, ".fairway"),
  });
});

it("takes .env before the defaults, and the shell before both", () => {
  writeFileSync(join(root, ".env"), '# the port\nFAIRWAY_PORT=4000\nFAIRWAY_LOG_LEVEL="debug"\nFAIRWAY_HOST=::1\n');
  const { FAIRWAY_PORT, FAIRWAY_LOG_LEVEL, FAIRWAY_HOST } = startVariables(root, { FAIRWAY_HOST: "127.0.0.2" });
  expect([FAIRWAY_PORT, FAIRWAY_LOG_LEVEL, FAIRWAY_HOST]).toEqual(["4000", "debug", "127.0.0.2"]);
});

it("seeds a database with the key of its own folder", () => {
  writeFileSync(join(root, ".env"), "FAIRWAY_ENCRYPTION_KEY=the-key-of-this-checkout\n");
  const key = { FAIRWAY_ENCRYPTION_KEY: "the-key-of-this-checkout" };
  expect(seedVariables(root, {}, undefined)).toMatchObject({ FAIRWAY_DATA_DIR: join(root, ".fairway"), ...key });
  const url = "sqlite:/elsewhere/data/fairway.db";
  expect(seedVariables(root, {}, url)).toEqual({ FAIRWAY_DATABASE_URL: url, FAIRWAY_DATA_DIR: "/elsewhere/data" });
  const own = { FAIRWAY_DATA_DIR: "/own", FAIRWAY_ENCRYPTION_KEY: "own" };
  expect(seedVariables(root, own, url)).toEqual({ ...own, FAIRWAY_DATABASE_URL: url });
  const server = "postgres://user@host/name";
  expect(seedVariables(root, {}, server)).toMatchObject({ ...key, FAIRWAY_DATABASE_URL: server });
});
