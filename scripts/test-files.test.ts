import { existsSync, globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import config from "../vitest.config.ts";
import { ROOT } from "./bootstrap.mjs";
import { NAMED } from "./test-files.ts";

interface Project {
  readonly test: { readonly name: string; readonly include: string[] };
}

const projects = (config.test?.projects ?? []) as unknown as readonly Project[];
const exclude = ["**/node_modules/**", "**/dist/**"];

test("every test file belongs to a project", () => {
  const included = new Set(projects.flatMap((project) => globSync(project.test.include, { cwd: ROOT, exclude })));
  const found = globSync(["{packages,scripts,charts,deploy}/**/*.test.{ts,tsx}"], { cwd: ROOT, exclude });
  expect(found.length).toBeGreaterThan(400);
  expect(found.filter((file) => !included.has(file))).toEqual([]);
});

test("every project is run by a stage", () => {
  const stages = readFileSync(join(ROOT, "scripts/stages.ts"), "utf8");
  const run = projects.filter(({ test: { name } }) => stages.includes(`"${name}"`));
  expect(run.map(({ test: { name } }) => name)).toEqual(projects.map(({ test: { name } }) => name));
});

test("every file that a list names exists", () => {
  expect(NAMED.filter((file) => !existsSync(join(ROOT, file)))).toEqual([]);
});
