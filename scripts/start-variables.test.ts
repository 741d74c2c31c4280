import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startVariables } from "./start-variables.ts";

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
