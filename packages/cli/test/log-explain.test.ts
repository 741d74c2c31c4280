// `log explain`, and ids from pipes with a slow writer, against a real gateway.
import { channelCreate, tokenCreate, tokenKey, tokenList } from "@fairway/wire";
import { makeExplainedCalls, signIn, type ExplainedCalls } from "@fairway/testkit";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { parseJsonOutput, startRig, type Rig } from "./rig.ts";
import { environment, PROGRAM } from "./terminal.ts";

let rig: Rig;
let request = "";
let calls: ExplainedCalls;

beforeAll(async () => {
  rig = await startRig();
  const channel = { type: 1, key: "sk-1", models: "gpt-4o", group: "default", base_url: "http://127.0.0.1:9" };
  await rig.client.call(channelCreate, { body: { ...channel, name: "gone", priority: 5 } });
  await rig.client.call(channelCreate, { body: { ...channel, name: "spare", status: 2 } });
  await rig.client.call(tokenCreate, { body: { name: "ci", unlimited_quota: true } });
  const { data: tokens } = await rig.client.call(tokenList, { query: {} });
  const { data } = await rig.client.call(tokenKey, { params: { id: tokens[0]?.id ?? 0 } });
  const response = await fetch(`${rig.gateway.url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${data.key}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "gpt-4o", messages: [{ role: "user", content: "hi" }] }),
  });
  expect(response.status).toBe(502);
  request = response.headers.get("x-request-id") ?? "";
  calls = await makeExplainedCalls(await signIn(rig.gateway.url), rig.upstream.url);
});
afterAll(() => rig?.stop());

test("a failed call is explained with its attempts and the channels that were skipped", async () => {
  const shown = await vi.waitFor(
    async () => {
      const finished = await rig.fairway(`log explain ${request}`);
      expect(finished.code, finished.err).toBe(0);
      return finished.out;
    },
    { timeout: 20_000, interval: 200 },
  );
  expect(shown).toMatch(/outcome +upstream_error 502 upstream_connect_failed/);
  expect(shown).toMatch(/\d+ gone .*no answer +upstream_connect_failed/);
  expect(shown).toMatch(/\d+ spare .*status/);
  expect(parseJsonOutput(await rig.fairway(`log explain request/${request} -o json`))).toMatchObject({ status: 502 });
  expect((await rig.fairway("log list --type error -o jsonl")).out).toContain(request);
});

test("status names who leads and the latest failures", async () => {
  const { code, out, err } = await rig.fairway("status");
  expect(code, err).toBe(0);
  expect(out).toMatch(/^replicas +1, led by \S+$/m);
  expect(out).toMatch(/^failed \d{4}-\d\d-\d\d \d\d:\d\d:\d\d +\S+ by \S.*: \S/m);
  const { replicas, latest_errors: errors } = parseJsonOutput(await rig.fairway("status -o json"));
  expect(replicas).toMatchObject([{ is_leader: true, is_lost: false }]);
  expect((errors as object[]).length).toBeGreaterThan(0);
  expect(errors).toMatchObject([
    { request_id: expect.stringMatching(/^\w+$/) as string },
    ...(errors as object[]).slice(1),
  ]);
});

test.each([
  [
    "limit",
    /429 rate_limit_exceeded/,
    /Limit of this token reached: 1 requests per minute/,
    /charged +\$0\.00 \(0 quota\)/,
  ],
  [
    "failover",
    /ok 200/,
    /Answered by attempt 2/,
    /upstream said +attempt 1: \S/,
    /with +input_tokens \d+ \(upstream\).*model_ratio 1 \(self-use\)/,
  ],
  ["guardrail", /400 prompt_blocked/, /guardrail +block: insults/, /charged +\$0\.00 \(0 quota\)/],
  [
    "guardedStream",
    /client_error 200 guardrail/,
    /guardrail +block: insults/,
    /quota\), <?\$\S+ \(\d+ quota\) were reserved/,
  ],
  [
    "cut",
    /upstream_error 200 upstream_cut/,
    /answers all .*upstream_cut +begun/,
    /quota\), <?\$\S+ \(\d+ quota\) were reserved/,
  ],
  [
    "budget",
    /403 budget_exceeded/,
    /budget +budget \d+ of model ask-budget: <\$0\.01 \(1 quota\) a day/,
    /charged +\$0\.00 \(0 quota\)/,
  ],
  [
    "budgetStream",
    /quota 200 quota_exhausted/,
    /budget \d+ of model ask-budget-stream: <?\$\S+ \(2500 quota\) a day/,
    /reserved/,
  ],
  ["cached", /route +cache/, /cache +answered from the response cache/, /formula +\(.*\) \* cache_hit_part/],
] as const)("a call that ended by %s says why it failed, where it went and what it cost", async (name, ...words) => {
  const { code, out, err } = await rig.fairway(`log explain ${calls[name]}`);
  expect(code, err).toBe(0);
  for (const word of words) expect(out.replaceAll(/\s+/g, " ")).toMatch(word);
});

test("an unknown request prints one line that says where to find its id", async () => {
  const { code, out, err } = await rig.fairway("log explain nothing");
  expect([code, out]).toEqual([3, ""]);
  expect(err).toContain("X-Request-Id");
});

test("ids come from a pipe that is not ready yet", async () => {
  const writer = `setTimeout(() => console.log("channel/1\\nchannel/2"), 700)`;
  const line = `"$NODE" --eval '${writer}' | "$NODE" "$PROGRAM" channel enable -o name -`;
  const shell = spawn("sh", ["-c", line], { env: { ...environment(rig.env), NODE: process.execPath, PROGRAM } });
  let out = "";
  let err = "";
  shell.stdout.on("data", (part: Buffer) => (out += part.toString()));
  shell.stderr.on("data", (part: Buffer) => (err += part.toString()));
  const [code] = (await once(shell, "close")) as [number | null];
  expect({ code, out, err }).toEqual({ code: 0, out: "channel/1\nchannel/2\n", err: "" });
});
