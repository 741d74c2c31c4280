// Prices of models are planned, listed and cancelled.
import { afterAll, beforeAll, expect, test } from "vitest";
import { parseJsonOutput, parseRows, startRig, type Rig } from "./rig.ts";

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
});
afterAll(() => rig?.stop());

test("a price is planned, listed and cancelled, and a dry run plans none", async () => {
  const flags = "--input-price 2.5 --output-price 10";
  const dry = await rig.fairway(`price plan gpt-4o --from 1d ${flags} --dry-run`);
  expect(dry.code, dry.err).toBe(0);
  expect(dry.err).toContain("0 requests of gpt-4o in 24 hours cost $0.0000, would have cost $0.0000.");
  expect(parseRows(await rig.fairway("price list -o jsonl"))).toEqual([]);

  const made = await rig.fairway(`price plan gpt-4o --from 1d ${flags}`);
  expect(made.code, made.err).toBe(0);
  expect(made.err).toContain("Planned from ");
  const [plan] = parseRows(await rig.fairway("price list -o jsonl"));
  expect(plan).toMatchObject({ state: "planned", prices: [{ model: "gpt-4o", input: "2.5", output: "10" }] });
  const cancelled = await rig.fairway(`price cancel ${String(plan?.["id"])} -o json`);
  expect(parseJsonOutput(cancelled)).toMatchObject({ state: "cancelled" });
});

test("a price without a number and a time that is none are refused before the gateway is asked", async () => {
  const without = await rig.fairway("price plan gpt-4o --from 1d");
  expect([without.code, without.err]).toEqual([2, expect.stringContaining("which price?")]);
  const when = await rig.fairway("price plan gpt-4o --from soon --input-price 1");
  expect([when.code, when.err]).toEqual([2, expect.stringContaining("--from soon is no time")]);
});
