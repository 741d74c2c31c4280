// The bench must keep working: a short run, whose figures mean nothing but whose calls must all be good.
import { join } from "node:path";
import { expect, test } from "vitest";
import { run } from "../process.ts";

test("a quick bench of plain calls reports every system next to nginx", async () => {
  const { code, output } = await run(process.execPath, [join(import.meta.dirname, "bench.ts"), "--plain", "--quick"]);
  const row = String.raw`(?:\| [\d.]+ ){5}\|`;
  const rows = ["nginx", "bare Node", "fairway, SQLite", String.raw`fairway, MariaDB \+ Redis`];
  expect([code, output]).toEqual([
    0,
    expect.stringMatching(new RegExp(rows.map((name) => `${name} ${row}`).join(String.raw`\s+\| `))),
  ]);
}, 300_000);
