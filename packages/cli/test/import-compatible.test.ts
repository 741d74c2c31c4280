// `fairway import` from a running gateway of another family, replayed from recorded answers, into a real one.
import { channelList, tokenList, userList } from "@fairway/wire";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { CANARY, CHANNEL, NEW_API, ONE_API, ONE_HUB, startRecorded, TOKEN, USER } from "./recorded-families.ts";
import { startRig, type Rig } from "./rig.ts";
import { run } from "./terminal.ts";

const KEY = "sk-of-the-operator-0123456789";
let rig: Rig;
beforeAll(async () => void (rig = await startRig()));
afterAll(() => rig?.stop());

const OLD = {
  ...ONE_API,
  "/api/status": { ...(ONE_API["/api/status"] as object), quota_per_unit: 1_000_000 },
  "/api/channel/": [
    { ...CHANNEL, id: 3, name: "upstream", group: "default,staff", model_mapping: '{"gpt-4o":"gpt-4o-2024"}' },
    { ...CHANNEL, id: 4, name: "bedrock", type: 33, config: '{"ak":"AK","sk":"SK","region":"us-east-1"}', key: "" },
    { ...CHANNEL, id: 5, name: "own-key", system_prompt: "be brief", header_override: "{}" },
    { ...CHANNEL, id: 6, name: "unknown", type: 38 },
  ],
  "/api/token/": [
    { ...TOKEN, limits: { rpm: 5 }, rotate_days: 30 },
    { ...TOKEN, id: 8, name: "ended", expired_time: 1_600_000_000 },
  ],
  "/api/user/": [
    USER,
    {
      ...USER,
      id: 2,
      username: "ann",
      display_name: "Ann",
      role: 10,
      quota: 4_000_000,
      group: "staff",
      email: "a@b.c",
    },
    { ...USER, id: 3, username: "bob", display_name: "", role: 1, quota: 0, status: 2, group: "default" },
  ],
  "/api/option/": [
    { key: "RetryTimes", value: "2" },
    { key: "GroupRatio", value: '{"default":1,"staff":0.5}' },
    { key: "QuotaForInviter", value: "not a number" },
    { key: "Theme", value: "berry" },
  ],
};

const source = async (answers: Parameters<typeof startRecorded>[0]) => {
  const { env, seen } = await startRecorded(answers);
  const from = env["FAIRWAY_SERVER"] ?? "";
  return {
    seen,
    from,
    take: (kind: string, ...more: string[]) =>
      run(["import", "--from", kind, from, "--token-stdin", "--user-id", "1", ...more], rig.env, `${CANARY}\n`),
  };
};
const channels = async () => (await rig.client.call(channelList, { query: { id_sort: true } })).data;

test("a rehearsal reads, names what would be made, and makes nothing", async () => {
  const { take, seen } = await source(OLD);
  const { code, out, err } = await take("one-api", "--dry-run");
  expect(code, err).toBe(0);
  expect(out).toContain("channels: 3 created, 1 skipped\n");
  expect(err).toContain("Nothing was changed: --dry-run.");
  expect(await channels()).toEqual([]);
  expect(seen.every((one) => one.startsWith("GET "))).toBe(true);
  expect(seen.every((one) => one.endsWith(`Bearer ${CANARY} 1`))).toBe(true);
});

test("what the calls show is carried over, and every loss is named", async () => {
  const keys = join(rig.home, "keys.yaml");
  await writeFile(keys, `upstream: ${KEY}\nmissing: ${KEY}\n`);
  const { take } = await source(OLD);
  const flags = ["--channel-keys", keys, "--map-group", "staff=crew", "--debug"];
  const { code, out, err } = await take("one-api", ...flags);
  expect(code, err).toBe(0);
  for (const secret of [CANARY, KEY, "AK|SK"]) expect(out + err).not.toContain(secret);
  expect(out.split("\n").slice(0, 4)).toEqual([
    "options: 2 updated, 2 skipped",
    "channels: 3 created, 1 skipped",
    "users: 1 unchanged, 2 created",
    "keys: 1 created, 1 skipped",
  ]);
  for (const line of [
    "- amounts are converted: a dollar is 1000000 units there, 500000 here",
    "- the channel unknown has the type 38, which this gateway does not know",
    "- options that this gateway does not have: Theme",
    "- options with a value that cannot be used: QuotaForInviter",
    "- channels without a key, disabled until they have one: own-key",
    "- keys of channels that are not there: missing",
    "- columns of channels that are not carried over: system_prompt (1)",
    "- users without a password, until `fairway user passwd NAME` sets one: ann, bob",
    "- keys that have expired: ended",
    "- keys that are new, because a key cannot be chosen: print one with `fairway token key NAME`: laptop",
    "- its calls list the keys of the token's owner alone, not those of other users",
  ])
    expect(out).toContain(`${line}\n`);
  expect(out).toMatch(/- columns of users that are not carried over: .*email \(1\)/);
  expect(out).toContain("`fairway-gateway import --from one-api --database URL`");
  const made = Object.fromEntries((await channels()).map((one) => [one.name, one]));
  expect(made["upstream"]).toMatchObject({
    status: 1,
    group: "default,crew",
    model_mapping: '{"gpt-4o":"gpt-4o-2024"}',
    priority: 5,
  });
  expect(made["bedrock"]).toMatchObject({ type: 33, status: 1 });
  expect(made["own-key"]).toMatchObject({ status: 2, models: "gpt-4o,gpt-4o-mini" });
  const { data: users } = await rig.client.call(userList, { query: {} });
  expect(users.find(({ username }) => username === "ann")).toMatchObject({ role: 10, quota: 2_000_000, group: "crew" });
  expect(users.find(({ username }) => username === "bob")).toMatchObject({ role: 1, quota: 0, status: 2 });
  const { data: tokens } = await rig.client.call(tokenList, { query: { keyword: "laptop" } });
  expect(tokens).toMatchObject([
    { name: "laptop", remain_quota: 250_000, expired_time: -1, limits: { rpm: 5 }, rotate_days: 30 },
  ]);
  expect(tokens[0]?.key).not.toBe(TOKEN.key);
  expect((await rig.fairway("option get RetryTimes -o raw")).out).toBe("2\n");
  const again = await take("one-api", ...flags);
  expect(again.out).toContain("channels: 3 unchanged, 1 skipped\n");
  expect(again.out).toContain("users: 3 unchanged\n");
  expect(again.out).toContain("keys: 1 unchanged, 1 skipped\n");
});

test("a channel that waits for its key takes it later", async () => {
  const updated = await rig.fairway("channel update own-key --key-stdin", KEY);
  expect(updated.code, updated.err).toBe(0);
  expect((await rig.fairway("channel enable own-key")).code).toBe(0);
});

test.each([
  ["new-api", NEW_API, 1],
  ["new-api", ONE_HUB, 123],
] as const)("pages of %s are read to their end", async (kind, answers, count) => {
  const { take } = await source(answers);
  const { code, out, err } = await take(kind, "--only", "channels", "--dry-run");
  expect(code, err).toBe(0);
  const [line = ""] = /^channels: .*$/m.exec(out) ?? [];
  const made = [...line.matchAll(/\d+/g)].reduce((sum, [number]) => sum + Number(number), 0);
  expect(made).toBe(count);
  expect(out).not.toContain("users:");
});

test("what the owner of the token may not read is said, and the rest is carried over", async () => {
  const { take } = await source({ ...OLD, "/api/user/self": { ...USER, role: 1 } });
  const { code, out } = await take("one-api", "--dry-run");
  expect(code).toBe(0);
  expect(out).toContain("- options were not read: that needs the token of a super administrator there");
  expect(out).toContain("- channels were not read: that needs the token of an administrator there");
  expect(out).toContain("keys: ");
});

test("models without a price are named, and take what the addresses of their channels publish", async () => {
  const prices = [{ model_name: "sold-there", quota_type: 0, model_ratio: 2, completion_ratio: 4 }];
  const publisher = await startRecorded({ ...ONE_API, "/api/pricing": prices });
  const served = {
    ...CHANNEL,
    id: 9,
    name: "seller",
    models: "sold-model,dark-model,priced-model",
    model_mapping: '{"sold-model":"sold-there"}',
    base_url: publisher.env["FAIRWAY_SERVER"],
  };
  const { take } = await source({
    ...OLD,
    "/api/channel/": [served],
    "/api/option/": [{ key: "ModelRatio", value: '{"priced-model":3}' }],
  });
  const named = await take("new-api", "--only", "options,channels", "--dry-run");
  expect(named.code, named.err).toBe(0);
  expect(named.out).toContain(
    "- 2 models have no price, so calls are refused until there is one: dark-model, sold-model\n",
  );
  expect(publisher.seen.filter((one) => one.includes("/api/pricing"))).toEqual([]);
  const flags = ["--only", "options,channels", "--price-from-upstream"];
  const dry = await take("new-api", ...flags, "--dry-run");
  const made = await take("new-api", ...flags);
  expect(made.code, made.err).toBe(0);
  for (const { out } of [dry, made]) {
    expect(out).toContain("prices: 1 created\n");
    expect(out).toMatch(/- prices as 127\.0\.0\.1:\d+ publishes them: sold-model\n/);
    expect(out).toContain("- 1 model has no price, so calls are refused until there is one: dark-model\n");
  }
  const explained = await rig.fairway("pricing explain sold-model --prompt 1000 --completion 500 -o json");
  expect(explained.code, explained.err).toBe(0);
});

test("mistakes are one sentence", async () => {
  const { from, take } = await source(OLD);
  const wrong = await run(["import", "--from", "new-api", from], { ...rig.env, FAIRWAY_SOURCE_TOKEN: "two words" });
  expect(wrong).toMatchObject({ code: 2, out: "" });
  expect((await take("one-api", "--only", "boats")).err).toContain("choose among options, channels, users, keys");
  expect((await take("one-api", "--price-from", "http://x.example.com")).err).toContain(
    "does not go with --from one-api",
  );
  const litellm = await rig.fairway("import --from litellm nothing.yaml --only channels");
  expect(litellm.err).toContain("--only does not go with --from litellm");
  const plain = await run(["import", "--from", "new-api", "http://old.example.com"], {
    ...rig.env,
    FAIRWAY_SOURCE_TOKEN: "t",
  });
  expect(plain.err).toContain("would carry the token unencrypted");
  const keys = join(rig.home, "wrong.yaml");
  await writeFile(keys, `- ${KEY}\n`);
  const table = await take("one-api", "--channel-keys", keys);
  expect(table.code).toBe(2);
  expect(table.err).toContain("is no table of keys");
  expect(table.err).not.toContain(KEY);
  const env = { ...rig.env, FAIRWAY_SOURCE_TOKEN: "unknown" };
  const stranger = await run(["import", "--from", "new-api", rig.gateway.url], env);
  expect(stranger).toMatchObject({ code: 4, out: "" });
  expect(stranger.err).toContain("does not take the access token");
});
