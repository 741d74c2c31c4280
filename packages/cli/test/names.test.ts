// Names in place of ids, and lists that say what they leave out.
import { channelCreate, optionUpdate, tokenCreate } from "@fairway/wire";
import { createServer } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parseJsonOutput, parseRows, startRig, type Rig } from "./rig.ts";
import { openTerminal, run } from "./terminal.ts";

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
  for (const name of ["openai", "openai-eu", "azure one"]) {
    const body = { type: 1, key: "sk-1", models: "gpt-4o", group: "default", base_url: rig.upstream.url, name };
    await rig.client.call(channelCreate, { body });
  }
  for (let at = 0; at < 3; at++) await rig.client.call(tokenCreate, { body: { name: "twin", unlimited_quota: true } });
});
afterAll(() => rig?.stop());

test("takes a name, and the beginning of one where it is the only one", async () => {
  expect(parseJsonOutput(await rig.fairway("channel get openai -o json"))).toMatchObject({ name: "openai" });
  expect(parseJsonOutput(await rig.fairway("channel get azu -o json"))).toMatchObject({ name: "azure one" });
  expect(parseJsonOutput(await rig.fairway("channel get channel/openai-eu -o json"))).toMatchObject({
    name: "openai-eu",
  });
  expect(parseJsonOutput(await rig.fairway("user get root -o json"))).toMatchObject({ id: 1 });
  const disabled = await rig.fairway("channel disable - -o name", "azure one\nopenai-eu\n");
  expect(disabled.code, disabled.err).toBe(0);
  expect(disabled.out.trim().split("\n")).toHaveLength(2);
  expect((await rig.fairway("channel enable openai-eu azure -o jsonl")).code).toBe(0);
  expect((await rig.fairway("log list --channel openai")).code).toBe(0);
});

test("names the candidates of an ambiguous name, and the nearest of an unknown one", async () => {
  const begun = await rig.fairway("channel get open");
  expect(begun.code).toBe(2);
  expect(begun.err).toMatch(
    /channel open is ambiguous: \d+ \(openai.*\), \d+ \(openai.*\)\n +try +name the id or the whole/,
  );
  expect((await rig.fairway("token get twin")).err).toMatch(
    /token twin is ambiguous: \d+ \(twin\), .*\n +try +name the id\n/,
  );
  const unknown = await rig.fairway("channel get opnai");
  expect(unknown.code).toBe(3);
  expect(unknown.err).toBe("error: there is no channel opnai\n  try  did you mean openai?\n");
  expect((await rig.fairway("user get nowhere-near")).err).toContain("fairway user list");
});

test("deletes by whole names alone", async () => {
  const refused = await rig.fairway("channel delete azu --yes");
  expect(refused.code).toBe(3);
  expect(refused.err).toContain("azure one");
  expect((await rig.fairway("channel list --search azure -o name")).out).not.toBe("");
  expect((await rig.fairway("channel delete openai-eu --yes")).code).toBe(0);
  expect((await rig.fairway("channel list --search openai-eu -o name")).out).toBe("");
});

test("types of channels have names", async () => {
  const made = [
    "channel",
    "create",
    "--type",
    "anthropic",
    "--name",
    "claude",
    "--models",
    "m",
    "--key-stdin",
    "-o",
    "json",
  ];
  expect((await run(made, rig.env, "sk-2")).code).toBe(0);
  expect(parseJsonOutput(await rig.fairway("channel get claude -o json"))).toMatchObject({ type: 14 });
  expect((await rig.fairway("channel list --type anthropic")).out).toMatch(/claude +claude +enabled/);
  const wrong = await run(made.with(3, "no-such-type"), rig.env, "sk-2");
  expect(wrong).toMatchObject({ code: 2 });
  expect(wrong.err).toContain("fairway channel types");
});

test("says on standard error that a list is cut, and how to get the rest", async () => {
  const cut = await rig.fairway("token list --limit 2 -o json");
  expect(parseJsonOutput(cut)).toMatchObject({ kind: "TokenList", page: { complete: false, total: 3 } });
  expect(cut.err).toBe("2 of 3 rows are listed; --limit all lists the others too.\n");
  const whole = await rig.fairway("token list --limit all -o json");
  expect(whole.err).toBe("");
  expect(parseJsonOutput(whole)).not.toHaveProperty("page");
  expect((await rig.fairway("token list --limit 2 --quiet")).err).toBe("");
});

test("streams the whole log, and waits where the gateway has no time", async () => {
  for (let at = 0; at < 130; at++)
    await rig.client.call(optionUpdate, { body: { key: "SystemName", value: `Harbour ${at}` } });
  const paged = parseRows(await rig.fairway("log list --limit 1000 -o jsonl"));
  const all = await rig.fairway("log list --limit all -o jsonl");
  expect(parseRows(all)).toEqual(paged);
  expect(parseJsonOutput(await rig.fairway("log list --limit all -o json"))).toEqual({ kind: "LogList", items: paged });
  let calls = 0;
  const busy = createServer((request, response) => {
    if (request.url?.startsWith("/api/log/export") && ++calls < 3)
      return void response.writeHead(429, { "retry-after": "1" }).end();
    const headers = { authorization: request.headers.authorization ?? "" };
    void fetch(rig.gateway.url + (request.url ?? ""), { headers }).then(async (answer) => {
      const text = await answer.text();
      response.writeHead(200, { "content-type": answer.headers.get("content-type") ?? "" });
      // The first export breaks off after some rows.
      if (!request.url?.startsWith("/api/log/export") || calls > 3) return response.end(text);
      return response.write(text.slice(0, text.length / 2), () => response.destroy());
    });
  }).listen(0, "127.0.0.1");
  await once(busy, "listening");
  const env = { FAIRWAY_SERVER: `http://127.0.0.1:${(busy.address() as AddressInfo).port}`, FAIRWAY_TOKEN: rig.token };
  const { code, out, err } = await run(["log", "list", "--limit", "all", "-o", "jsonl"], env);
  busy.closeAllConnections();
  busy.close();
  expect(code, err).toBe(0);
  expect(out).toBe(all.out);
  expect(err).toMatch(/is busy \(429\); trying again in 1 s\n.*is busy[^]*The connection was lost; continuing in 1 s/);
});

test("nothing of a list is wider than a terminal of 80 columns", async () => {
  const long = "channel-with-a-name-that-no-person-would-type-by-hand";
  const body = { type: 1, key: "sk-1", models: "a-model,".repeat(40), group: "default,vip,staff", name: long };
  await rig.client.call(channelCreate, { body });
  for (const list of ["channel list", "token list", "user list", "log list --limit 5", "pricing list"]) {
    const terminal = openTerminal(list.split(" "), rig.env, 80);
    expect(await terminal.exited).toBe(0);
    const lines = terminal.shown.split(/\r?\n/);
    expect(lines.length).toBeGreaterThan(1);
    expect(lines.filter((line) => line.length > 80)).toEqual([]);
  }
});

test("shows dollars to people, units to programs, and both in a wide table", async () => {
  await rig.fairway("token create --name paid --quota 5usd");
  expect((await rig.fairway("token list --search paid")).out).toMatch(/paid .* \$5\.00 +\$0\.00/);
  expect((await rig.fairway("token list --search paid -o wide")).out).toMatch(/\$5\.00 .*2500000/);
  expect((await rig.fairway("token list --search paid --columns name,left,remain_quota")).out).toMatch(
    /paid +\$5\.00 +2500000/,
  );
  expect(parseJsonOutput(await rig.fairway("token list --search paid -o json"))).toMatchObject({
    items: [{ remain_quota: 2_500_000 }],
  });
  expect((await rig.fairway("token get paid")).out).toMatch(/^left +\$5\.00 \(2500000 quota\)$/m);
});

test("tasks and drawings are listed, and one that does not exist is named", async () => {
  expect(parseJsonOutput(await rig.fairway("drawing list -o json"))).toEqual({ kind: "DrawingList", items: [] });
  expect((await rig.fairway("task list")).err).toBe("No tasks match.\n");
  const task = await rig.fairway("task get task_none");
  expect(task).toMatchObject({ code: 3, out: "" });
  expect(task.err).toBe("error: there is no task task_none\n  try  list them with `fairway task list`\n");
  expect((await rig.fairway("drawing get 17")).err).toContain("there is no drawing 17");
});

test("a redemption code is read without its secret", async () => {
  const { out: code } = await rig.fairway("redemption create --name spring --quota 2usd");
  const { out } = await rig.fairway("redemption get spring");
  expect(out).toMatch(/^value +\$2\.00 \(1000000 quota\)$/m);
  expect(out + (await rig.fairway("redemption get spring -o json")).out).not.toContain(code.trim());
});

test("built-in ratios are put back after a question", async () => {
  await rig.fairway('option set ModelRatio {"only":1}');
  expect((await rig.fairway("option reset-ratios")).code).toBe(2);
  expect((await rig.fairway("option get ModelRatio")).out).toBe('{"only":1}\n');
  expect((await rig.fairway("option reset-ratios --yes")).code).toBe(0);
  expect((await rig.fairway("option get ModelRatio")).out).toContain("gpt-4o");
});
