// The whole life of channels and keys: changed, switched, deleted; by scripts and by people who confirm.
import { MESSAGES_ANSWER } from "@fairway/testkit/messages-answer";
import { declarativeApply, tokenUpdate } from "@fairway/wire";
import { UPSTREAM_KEY } from "@fairway/testkit";
import { once } from "node:events";
import { createServer } from "node:http";
import { readFile, rm } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { dirname } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parseJsonOutput, parseRows, startRig, type Rig } from "./rig.ts";
import { openTerminal, run } from "./terminal.ts";

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
});
afterAll(() => rig?.stop());

async function newChannel(name: string, more = ""): Promise<number> {
  const words = `channel create --type 1 --name ${name} --models gpt-4o-mini --base-url ${rig.upstream.url} --key-stdin -o json${more}`;
  const created = await rig.fairway(words, UPSTREAM_KEY);
  expect(created.code, created.err).toBe(0);
  return Number(parseJsonOutput(created)["id"]);
}

async function newToken(name: string, more = ""): Promise<{ id: number; key: string }> {
  const created = await rig.fairway(`token create --name ${name} -o json${more}`);
  expect(created.code, created.err).toBe(0);
  return parseJsonOutput(created) as { id: number; key: string };
}

test("a channel is changed where flags say so and left alone elsewhere", async () => {
  const id = await newChannel("changing", " --priority 3 --tag eu");
  const changed = await rig.fairway(
    `channel update ${id} --weight 7 --cost-ratio 0.75 --add-model gpt-4o text-embedding-3-small --remove-model gpt-4o-mini -o json`,
  );
  expect(changed.code, changed.err).toBe(0);
  expect(parseJsonOutput(changed)).toMatchObject({
    id,
    name: "changing",
    priority: 3,
    weight: 7,
    cost_ratio: 0.75,
    tag: "eu",
    auto_ban: 1,
    models: "gpt-4o,text-embedding-3-small",
  });
  expect((await rig.fairway(`channel update ${id} --no-auto-ban`)).err).toContain(`Changed channel ${id}, changing`);
  const shown = await rig.fairway(`channel get ${id}`);
  expect(shown.out).toMatch(/^models +gpt-4o,text-embedding-3-small$/m);
  expect(shown.out).not.toContain(UPSTREAM_KEY);
  expect(parseJsonOutput(await rig.fairway(`channel get ${id} -o json`))).toMatchObject({
    auto_ban: 0,
    weight: 7,
    key: "",
  });
});

test("a change without a flag, of nothing, or of nonsense says what is wrong", async () => {
  const id = await newChannel("still");
  expect(await rig.fairway(`channel update ${id}`)).toMatchObject({ code: 2 });
  expect(await rig.fairway("channel update 999 --weight 1")).toMatchObject({ code: 3 });
  expect(await rig.fairway(`channel update ${id} --model-mapping {`)).toMatchObject({ code: 2 });
  expect(await rig.fairway(`channel update ${id} --cost-ratio cheap`)).toMatchObject({ code: 2 });
  expect(await rig.fairway(`channel update ${id} --models a --add-model b`)).toMatchObject({ code: 2 });
});

test("a new key comes from standard input and is used at once", async () => {
  const words = `channel create --type 1 --name rekeyed --models gpt-4o-mini --base-url ${rig.upstream.url} --key-stdin -o json`;
  const id = Number(parseJsonOutput(await rig.fairway(words, "sk-wrong"))["id"]);
  const updated = await rig.fairway(`channel update ${id} --key-stdin -o json`, `${UPSTREAM_KEY}\n`);
  expect(updated.code, updated.err).toBe(0);
  expect(updated.out + updated.err).not.toContain(UPSTREAM_KEY);
  expect((await rig.fairway(`channel test ${id}`)).code).toBe(0);
});

test("a disable for a time has its reason, and ends by itself", async () => {
  const id = await newChannel("timed");
  const disabled = await run(["channel", "disable", "timed", "--for", "2s", "--reason", "new key on its way"], rig.env);
  expect(disabled.code, disabled.err).toBe(0);
  const row = parseJsonOutput(await rig.fairway(`channel get ${id} -o json`));
  expect(row).toMatchObject({ status: 2 });
  expect(row["other_info"]).toContain("new key on its way");
  const status = async () => parseJsonOutput(await rig.fairway(`channel get ${id} -o json`))["status"];
  await expect.poll(status, { timeout: 60_000, interval: 500 }).toBe(1);
  expect((await rig.fairway(`channel disable ${id} --for 31d`)).code).toBe(2);
});

test("channels are switched off and on, found by their state, and copied", async () => {
  const first = await newChannel("on-off");
  const second = parseJsonOutput(await rig.fairway(`channel copy ${first} -o json`));
  expect(second).toMatchObject({ name: "on-offCopy", status: 1 });
  const ids = [first, Number(second["id"])];
  const off = await rig.fairway(`channel disable ${ids.join(" ")} -o json`);
  expect(parseJsonOutput(off)).toEqual({
    kind: "ChannelSwitchList",
    items: ids.map((id) => ({ id, ok: true, message: "disabled" })),
  });
  const listed = parseRows(await rig.fairway("channel list --status disabled -o jsonl"));
  expect(new Set(listed.map(({ id }) => id))).toEqual(new Set(ids));
  const on = await rig.fairway(`channel enable ${first} 999`);
  expect(on.code).toBe(8);
  expect(on.out).toBe(`ok    channel ${first}  enabled\nFAIL  channel 999  Channel 999 does not exist.\n`);
  expect(await rig.fairway("channel enable 999")).toMatchObject({ code: 3 });
});

test("nothing is deleted without a terminal to ask at, unless --yes is given", async () => {
  const id = await newChannel("doomed");
  const refused = await rig.fairway(`channel delete ${id}`);
  expect(refused).toMatchObject({ code: 2, out: "" });
  expect(refused.err).toContain(`Delete channel ${id} (doomed)`);
  expect(refused.err).toContain("--yes");
  expect((await rig.fairway(`channel get ${id}`)).code).toBe(0);
  expect(await rig.fairway(`channel delete ${id} --yes`)).toMatchObject({
    code: 0,
    out: `ok    channel ${id}  deleted\n`,
  });
  expect(await rig.fairway(`channel delete ${id} --yes`)).toMatchObject({ code: 3 });
});

test("a person answers y for one and the number for several", async () => {
  const ids = [await newChannel("one"), await newChannel("two")];
  const declined = openTerminal(["channel", "delete", String(ids[0])], rig.env);
  await declined.sees("[y/N]:");
  declined.type("\r");
  await declined.sees("not confirmed, nothing was changed");
  expect(await declined.exited).toBe(1);
  const careless = openTerminal(["channel", "delete", ...ids.map(String)], rig.env);
  await careless.sees("Type 2 to confirm:");
  careless.type("y\r");
  expect(await careless.exited).toBe(1);
  const meant = openTerminal(["channel", "delete", ...ids.map(String)], rig.env);
  await meant.sees("Type 2 to confirm:");
  meant.type("2\r");
  await meant.sees(`ok    channel ${ids[1]}  deleted`);
  expect(await meant.exited).toBe(0);
});

test("what is disabled goes with prune, what is enabled stays", async () => {
  const remaining = await newChannel("remaining");
  const gone = await newChannel("gone");
  await rig.fairway(`channel disable ${gone}`);
  expect((await rig.fairway("channel prune")).code).toBe(2);
  expect(Number(parseJsonOutput(await rig.fairway("channel prune --yes -o json"))["deleted"])).toBeGreaterThanOrEqual(
    1,
  );
  expect((await rig.fairway(`channel get ${gone}`)).code).toBe(3);
  expect((await rig.fairway(`channel get ${remaining}`)).code).toBe(0);
  expect(Number(parseJsonOutput(await rig.fairway("channel fix -o json"))["channels"])).toBeGreaterThanOrEqual(1);
});

test("models of an upstream are listed and taken over; all enabled channels are tested", async () => {
  const id = await newChannel("catalogue");
  const offered = parseRows(await rig.fairway(`channel models ${id} -o jsonl`));
  expect(offered.length).toBeGreaterThan(0);
  expect((await rig.fairway(`channel models ${id} --set`)).code).toBe(0);
  const { models } = parseJsonOutput(await rig.fairway(`channel get ${id} -o json`));
  expect(models).toBe(offered.map(({ model }) => model).join(","));
  expect((await rig.fairway("channel test")).code).toBe(2);
  const tested = parseRows(await rig.fairway("channel test --all -o jsonl"));
  expect(tested.map((one) => one["id"])).toContain(id);
});

test("beta flags of a channel are asked for one by one, before or after its id", async () => {
  const words = `channel create --type 14 --name betas --models claude-sonnet-4 --base-url ${rig.upstream.url} --key-stdin -o json`;
  const id = Number(parseJsonOutput(await rig.fairway(words, UPSTREAM_KEY))["id"]);
  rig.upstream.script("/v1/messages", ({ headers }) => {
    if (headers["anthropic-beta"] !== "effort-2025-11-24") return { body: MESSAGES_ANSWER };
    const error = { type: "invalid_request_error", message: "Unsupported beta header: effort-2025-11-24" };
    return { status: 400, body: { type: "error", error } };
  });
  const listed = await rig.fairway(`channel test --betas ${id}`);
  expect(listed.code, listed.err).toBe(0);
  expect(listed.out).toMatch(/^ *ID +BETA +ANSWER +CALLS +MESSAGE/);
  const rows = parseRows(await rig.fairway(`channel test betas --betas -o jsonl`));
  const answers: Record<string, unknown> = Object.fromEntries(rows.map(({ beta, answer }) => [String(beta), answer]));
  expect(answers).toMatchObject({ "effort-2025-11-24": "refused", "context-1m-2025-08-07": "taken" });
  expect(rows[0]).toMatchObject({ id, host: "anthropic", message: "", sent_as: rows[0]?.["beta"] });
  rig.upstream.script("/v1/messages", () => ({ status: 401, body: { error: { message: "no such key" } } }));
  const failed = await rig.fairway(`channel test --betas ${id}`);
  expect(failed.code).toBe(8);
  expect(failed.err).toContain("no such key");
  expect((await rig.fairway(`channel test --betas ${id} --all`)).code).toBe(2);
});

test("a channel is changed in an editor, shown and asked for first", async () => {
  const id = await newChannel("edited", " --priority 3");
  const edit = (script: string) =>
    openTerminal(["channel", "edit", String(id)], { ...rig.env, EDITOR: `sed -i -e '${script}'` });
  const meant = edit("s/^priority: 3/priority: 9/; s/^models: .*/models: gpt-4o,gpt-4o-mini/");
  await meant.sees("priority  3 → 9");
  await meant.sees("[y/N]:");
  meant.type("y\r");
  expect(await meant.exited).toBe(0);
  const after = parseJsonOutput(await rig.fairway(`channel get ${id} -o json`));
  expect(after).toMatchObject({ name: "edited", priority: 9, models: "gpt-4o,gpt-4o-mini", weight: 0 });
  const idle = edit("");
  await idle.sees("Nothing was changed.");
  expect(await idle.exited).toBe(0);
  const wrong = edit("s/^priority:/urgency:/");
  await wrong.sees(/there is no field urgency; your text is in \S+channel-\d+\.yaml/);
  expect(await wrong.exited).toBe(2);
  const saved = /your text is in (\S+\.yaml)/.exec(wrong.shown)?.[1] ?? "";
  expect(await readFile(saved, "utf8")).toContain("urgency: 9");
  await rm(dirname(saved), { recursive: true });
  expect((await rig.fairway(`channel edit ${id}`)).err).toContain("an editor needs a terminal");
});

test("an option is changed in an editor, laid out", async () => {
  const ratios = JSON.stringify({ default: 1, vip: 0.8 });
  expect((await run(["option", "set", "GroupRatio", ratios], rig.env)).code).toBe(0);
  const editor = { ...rig.env, EDITOR: "sed -i -e '/vip/s/0.8/0.7/'" };
  const terminal = openTerminal(["option", "edit", "GroupRatio"], editor);
  await terminal.sees("GroupRatio is set.");
  expect(await terminal.exited).toBe(0);
  expect(JSON.parse((await rig.fairway("option get GroupRatio")).out)).toEqual({ default: 1, vip: 0.7 });
});

test("keys of one channel are shown by their ends and switched one by one", async () => {
  const many = `${UPSTREAM_KEY}\nsk-second-key-of-the-channel-22\n`;
  const words = `channel create --type 1 --name several --models gpt-4o-mini --base-url ${rig.upstream.url} --multi-key --key-stdin -o json`;
  const id = Number(parseJsonOutput(await rig.fairway(words, many))["id"]);
  const listed = await rig.fairway(`channel keys ${id}`);
  expect(listed.code, listed.err).toBe(0);
  expect(listed.out).toMatch(/^ +2 +…l-22 +enabled/m);
  expect(listed.out).not.toContain("sk-second");
  const off = parseRows(await rig.fairway(`channel keys ${id} --disable 2 -o jsonl`));
  expect(off).toMatchObject([
    { index: 0, status: 1 },
    { index: 1, status: 2 },
  ]);
  expect(parseRows(await rig.fairway(`channel keys ${id} --enable 2 -o jsonl`))).toMatchObject([{}, { status: 1 }]);
  for (const number of [0, 7]) expect((await rig.fairway(`channel keys ${id} --disable ${number}`)).code).toBe(2);
});

test("a key of a channel is added switched off, tested, used, and the old one removed", async () => {
  const words = `channel create --type 1 --name rotated --models gpt-4o-mini --base-url ${rig.upstream.url} --key-stdin -o json`;
  const id = Number(parseJsonOutput(await rig.fairway(words, UPSTREAM_KEY))["id"]);
  const keys = async (more: string, input?: string) => {
    const reply = await rig.fairway(`channel keys ${id} ${more} -o jsonl`, input);
    expect(reply.code, reply.err).toBe(0);
    expect(reply.out).not.toContain("sk-next");
    return parseRows(reply).map(({ hint, status }) => `${String(hint)} ${String(status)}`);
  };
  const old = UPSTREAM_KEY.slice(-4);
  expect(await keys("--key-stdin", "sk-next-key-of-the-channel-33")).toEqual([`${old} 1`, "l-33 2"]);
  expect((await rig.fairway(`channel keys ${id} --test 2`)).err).toMatch(/^Key 2 answered in \d+\.\d\d s\.$/m);
  expect(await keys("--enable 2")).toEqual([`${old} 1`, "l-33 1"]);
  expect(await keys("--disable 1")).toEqual([`${old} 2`, "l-33 1"]);
  expect((await rig.fairway(`channel keys ${id} --remove 1 --enable 1`)).code).toBe(2);
  expect((await rig.fairway(`channel keys ${id} --remove 7 --yes`)).err).toContain("the channel has no key 7");
  expect(await keys("--remove 1 --yes")).toEqual(["l-33 1"]);
});

test("a balance is asked for where the provider tells one", async () => {
  const provider = createServer((request, response) => {
    const isAsked = request.url === "/user/balance";
    const answer = { is_available: true, balance_infos: [{ currency: "USD", total_balance: "12.50" }] };
    response.writeHead(isAsked ? 200 : 404, { "content-type": "application/json" }).end(JSON.stringify(answer));
  }).listen(0, "127.0.0.1");
  try {
    await once(provider, "listening");
    const address = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`;
    const words = `channel create --type 43 --name telling --models m --base-url ${address} --key-stdin -o json`;
    const id = Number(parseJsonOutput(await rig.fairway(words, "sk-telling"))["id"]);
    expect((await rig.fairway(`channel balance ${id}`)).out).toBe(`ok    channel ${id}  $12.50\n`);
    const silent = await rig.fairway(`channel balance ${id} 999 -o json`);
    expect(silent.code).toBe(8);
    expect(parseJsonOutput(silent)["items"]).toMatchObject([{ ok: true }, { id: 999, ok: false }]);
  } finally {
    provider.close();
  }
});

test("the kinds of upstream are listed with their numbers", async () => {
  const { out } = await rig.fairway("channel types");
  expect(out).toMatch(/^ +1 +openai /m);
});

test("a channel of documents is changed there and nowhere else", async () => {
  const metadata = { name: "declared" };
  const spec = { type: "openai", models: ["gpt-4o"], key: "sk-declared", enabled: true };
  const documents = [{ apiVersion: "fairway.dev/v1alpha1", kind: "Channel", metadata, spec }];
  await rig.client.call(declarativeApply, { body: { manager: "file:test", documents } });
  const [row] = parseRows(await rig.fairway("channel list --search declared -o jsonl"));
  const refused = await rig.fairway(`channel update ${String(row?.["id"])} --models gpt-4`);
  expect(refused.code).toBe(5);
  expect(refused.err).toContain("fairway apply -f");
  const id = String(row?.["id"]);
  const before = await rig.fairway(`channel get ${id}`);
  expect(before.out).toMatch(/^managed by +file:test \(.*models/m);
  expect(before.out).not.toContain("switched by hand");
  expect((await rig.fairway(`channel disable ${id}`)).code).toBe(0);
  expect((await rig.fairway(`channel get ${id}`)).out).toMatch(/^switched by hand +until 20/m);
});

test("keys are listed without themselves, and printed when asked for", async () => {
  const { id, key } = await newToken("listed", " --quota 5usd --models gpt-4o-mini");
  for (const words of ["token list", "token list -o json", `token get ${id}`, `token get ${id} -o json`]) {
    const { code, out, err } = await rig.fairway(words);
    expect(code, err).toBe(0);
    expect(out).toContain("listed");
    expect(out).toContain(key.slice(-4));
    expect(out).not.toContain(key);
  }
  expect(await rig.fairway(`token key ${id}`)).toMatchObject({ code: 0, out: `${key}\n`, err: "" });
  expect(await rig.fairway("token key 999")).toMatchObject({ code: 3, out: "" });
});

test("a key is changed where flags say so and left alone elsewhere", async () => {
  const { id } = await newToken("limits", " --quota 700 --models gpt-4o --allow-ip 10.0.0.0/8 127.0.0.1");
  const changed = await rig.fairway(`token update ${id} --name renamed --expires 30d -o json`);
  expect(changed.code, changed.err).toBe(0);
  expect(parseJsonOutput(changed)).toMatchObject({
    name: "renamed",
    remain_quota: 700,
    unlimited_quota: false,
    model_limits: "gpt-4o",
    model_limits_enabled: true,
    allow_ips: "10.0.0.0/8\n127.0.0.1",
  });
  expect(parseJsonOutput(changed)["key"]).toBeUndefined();
  const freed = await run(
    ["token", "update", String(id), "--models", "", "--allow-ip", "", "--quota", "2usd", "-o", "json"],
    rig.env,
  );
  expect(parseJsonOutput(freed)).toMatchObject({
    name: "renamed",
    model_limits_enabled: false,
    allow_ips: "",
    remain_quota: 1_000_000,
  });
  expect((await rig.fairway(`token update ${id}`)).code).toBe(2);
  expect((await rig.fairway(`token update ${id} --allow-ip nowhere`)).code).toBe(2);
});

test("a disabled key is refused by the relay, an enabled one served, a deleted one unknown", async () => {
  await newChannel("serving");
  const { id, key } = await newToken("switched");
  const call = async () => {
    const answer = await fetch(`${rig.gateway.url}/v1/models`, { headers: { authorization: `Bearer ${key}` } });
    await answer.arrayBuffer();
    return answer.status;
  };
  expect((await rig.fairway(`token disable ${id}`)).out).toBe(`ok    token ${id}  disabled\n`);
  await expect.poll(call).toBe(401);
  const disabled = parseRows(await rig.fairway("token list --status disabled -o jsonl"));
  expect(disabled.map((one) => one["id"])).toEqual([id]);
  expect((await rig.fairway(`token enable ${id}`)).code).toBe(0);
  await expect.poll(call).toBe(200);
  expect((await rig.fairway(`token delete ${id}`)).code).toBe(2);
  const terminal = openTerminal(["token", "delete", String(id)], rig.env);
  await terminal.sees(`Delete key ${id} (switched)? [y/N]:`);
  terminal.type("y\r");
  expect(await terminal.exited).toBe(0);
  await expect.poll(call).toBe(401);
  expect((await rig.fairway(`token get ${id}`)).code).toBe(3);
});

test("keys that are about to expire are found", async () => {
  const { id } = await newToken("soon", " --expires 1d");
  const rows = parseRows(await rig.fairway("token list --expiring 2d -o jsonl"));
  expect(rows.map((one) => one["id"])).toEqual([id]);
  await rig.client.call(tokenUpdate, { body: { id, name: "later", expired_time: -1 } });
  expect(parseRows(await rig.fairway("token list --expiring 2d -o jsonl"))).toEqual([]);
});
