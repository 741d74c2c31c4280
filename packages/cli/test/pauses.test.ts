// Channels are paused together and come back together.
import { afterAll, beforeAll, expect, test } from "vitest";
import { parseJsonOutput, parseRows, startRig, type Rig } from "./rig.ts";

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
});
afterAll(() => rig?.stop());

const create = (name: string, flags = "") =>
  rig.fairway(`channel create --type openai --name ${name} --models gpt-4o --key-stdin ${flags} -o json`, "sk-key");

const statuses = async () =>
  Object.fromEntries(
    parseRows(await rig.fairway("channel list -o jsonl")).map((row) => [String(row["name"]), row["status"]]),
  );

test("channels of a provider or tag pause and resume", async () => {
  for (const [name, flags] of [
    ["pier", "--tag eu"],
    ["dock", "--tag us"],
  ] as const)
    expect((await create(name, flags)).code).toBe(0);
  const paused = await rig.fairway("channel pause --tag eu --for 1h --reason outage");
  expect(paused.code, paused.err).toBe(0);
  expect(paused.err).toContain("Paused pier, until ");
  expect(await statuses()).toMatchObject({ pier: 2, dock: 1 });
  expect(parseRows(await rig.fairway("channel pauses -o jsonl"))).toMatchObject([{ reason: "outage", end: "" }]);
  const resumed = await rig.fairway("channel resume -o json");
  expect(parseJsonOutput(resumed)).toMatchObject({ end: "person" });
  expect(await statuses()).toMatchObject({ pier: 1, dock: 1 });
  const all = await rig.fairway("channel pause --provider openai --until-tests -o json");
  expect(parseJsonOutput(all)).toMatchObject({ until_tests: true, until: 0 });
  expect((await rig.fairway("channel pause pier")).code).not.toBe(0);
  expect((await rig.fairway("channel resume")).code).toBe(0);
  const none = await rig.fairway("channel resume");
  expect(none.err).toContain("no pause lasts");
  expect((await rig.fairway("channel pause")).code).toBe(2);
});
