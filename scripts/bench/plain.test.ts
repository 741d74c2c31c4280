// The bench must work: a short run, whose figures mean nothing but whose calls must all succeed.
import { join } from "node:path";
import { expect, test } from "vitest";
import { run } from "../process.ts";
import { orderRound } from "./plain.ts";

test("the other build is measured first in every second round", () => {
  const systems = ["nginx", "fairway", "fairway, other build"].map((name) => ({ name }));
  expect(orderRound(systems, 0).map(({ name }) => name)).toEqual(["nginx", "fairway", "fairway, other build"]);
  expect(orderRound(systems, 1).map(({ name }) => name)).toEqual(["nginx", "fairway, other build", "fairway"]);
});

test("a quick bench of plain calls reports every system next to nginx", async () => {
  const { code, output } = await run(process.execPath, [join(import.meta.dirname, "bench.ts"), "--plain", "--quick"]);
  const row = String.raw`(?:\| [\d.]+ ){5}\|`;
  const rows = ["nginx", "bare Node", "fairway, SQLite", String.raw`fairway, MariaDB \+ Redis`];
  expect([code, output]).toEqual([
    0,
    expect.stringMatching(new RegExp(rows.map((name) => `${name} ${row}`).join(String.raw`\s+\| `))),
  ]);
}, 300_000);

test("a quick bench of streams leaves out what it is asked to, and takes another build in turn", async () => {
  const bundle = join(import.meta.dirname, "../../packages/gateway/dist/main.mjs");
  const args = [join(import.meta.dirname, "bench.ts"), "--at-once", "--quick", "--embedded", `--against=${bundle}`];
  const { code, output } = await run(process.execPath, args);
  expect([code, output]).toEqual([0, expect.stringMatching(/fairway, SQLite, other build (?:\| [\d.]+ ){5}\|/)]);
  expect(output).toMatch(/fairway, SQLite: [\d.]+ times the other build, round by round \([\d.]+ to [\d.]+\)/);
  expect(output).not.toContain("MariaDB");
}, 300_000);

test("a number of rounds that is none is refused in words", async () => {
  const args = [join(import.meta.dirname, "bench.ts"), "--plain", "--rounds=many"];
  const { code, output } = await run(process.execPath, args);
  expect([code, output]).toEqual([1, expect.stringContaining("--rounds=many is not a whole number from 1")]);
});
