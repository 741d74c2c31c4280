// How commands respond to a wrong word, to empty input and to programs.
import { afterAll, beforeAll, expect, test } from "vitest";
import { parseJsonOutput, startRig, type Rig } from "./rig.ts";

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
});
afterAll(() => rig?.stop());

test("a misspelt option, type or column is answered with what is meant, once", async () => {
  expect(await rig.fairway("option set RetryTims 3")).toMatchObject({
    code: 3,
    err: "error: there is no option RetryTims\n  try  did you mean RetryTimes?\n",
  });
  expect((await rig.fairway("option get RetryTims")).err).toContain("did you mean RetryTimes?");
  const create = (type: string) => rig.fairway(`channel create --type ${type} --name part --models m --key-stdin`, "k");
  expect((await create("openai-comp")).code).toBe(0);
  expect((await rig.fairway("channel list --columns nam")).err.match(/used_quota/g)).toHaveLength(1);
  expect((await create("co")).err).toMatch(/type co is ambiguous: co\w+ \(/);
});

test("an empty standard input is no password", async () => {
  const refused = { code: 2, err: expect.stringContaining("standard input holds no password") as string };
  expect(await rig.fairway("user create --username empty --password-stdin")).toMatchObject(refused);
  expect(await rig.fairway(`login ${rig.gateway.url} --username root --password-stdin`)).toMatchObject(refused);
});

test("a wrong --server is named by its flag", async () => {
  expect((await rig.fairway("channel list --server ftp://x")).err).toContain(
    "--server (FAIRWAY_SERVER) is not an http(s)",
  );
});

test("status gives programs raw numbers and the names of the API", async () => {
  const facts = parseJsonOutput(await rig.fairway("status -o json"));
  expect(facts).toMatchObject({ quota: expect.any(Number) as number, started_at: expect.any(Number) as number });
  expect(facts["channels"]).toMatchObject({ auto_disabled: expect.any(Number) as number });
  expect(Object.keys(facts)).not.toContain("balance");
});

test("a secret that the gateway lacks is explained with the field that reads it where the command runs", async () => {
  const spec = { type: "openai", models: ["m"], credentialsFrom: { env: "MAIN" } };
  const document = { apiVersion: "fairway.dev/v1alpha1", kind: "Channel", metadata: { name: "lacking" }, spec };
  const { out, err } = await rig.fairway("diff -f -", JSON.stringify(document));
  expect(out).toContain("not found: variable FAIRWAY_SECRET_MAIN");
  expect(err).toContain("`keyFrom: {env: NAME}` reads one where this command runs");
});
