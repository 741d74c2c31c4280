// Every documented variable and option has a reader: a switch that nothing reads makes a false promise.
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ENV_VARIABLES } from "../packages/gateway/src/config/env.ts";
import { VARIABLES } from "../packages/gateway/src/config/variables.ts";
import { OPTIONS } from "../packages/wire/src/index.ts";
import { ROOT } from "./bootstrap.mjs";

const source = (pattern: string, isReader: (path: string) => boolean) =>
  globSync(pattern, { cwd: ROOT })
    .filter((path) => !path.includes(".test.") && isReader(path))
    .map((path) => readFileSync(join(ROOT, path), "utf8"))
    .join("\n");

const gateway = source(
  "packages/gateway/src/**/*.ts",
  (path) => !/config\/(?:(?:limit-|process-)?variables|aliases)\.ts$/.test(path),
);
const readers = gateway + source("packages/console/src/**/*.{ts,tsx}", (path) => !path.includes("/locale/"));

test("every variable of the environment has a reader", () => {
  expect(ENV_VARIABLES.length).toBeGreaterThan(50);
  const unread = Object.keys(VARIABLES).filter((name) => !new RegExp(`\\.${name}\\b|[{,] ${name}\\b`).test(gateway));
  expect(unread).toEqual([]);
});

test("every option that the public status does not send to consoles has a reader", () => {
  const unread = Object.entries(OPTIONS)
    .filter(([name, { shownAs }]) => shownAs === undefined && !new RegExp(`\\b${name}\\b`).test(readers))
    .map(([name]) => name);
  expect(unread).toEqual([]);
});
