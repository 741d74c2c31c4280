import { setModelRatios } from "@fairway/testkit";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { readError, useRelay } from "../../kit/relay-app.ts";
import { anthropicMessages, TOOLS, openResponseClient, stranger } from "./response-store-kit.ts";

const relay = useRelay();
const client = openResponseClient(relay);
const { respond, answered, send } = client;
const CLAUDE = "claude+echo";
const FREE = "claude+free";

beforeAll(async () => {
  await setModelRatios(relay.gateway.root, { [FREE]: 0 });
  await relay.gateway.channel(`${CLAUDE},${FREE},claude+tool-loop,claude+reasoning,claude+length,claude+cut-after-3`, {
    type: 14,
  });
  await relay.gateway.channel("chat+echo,chat+no-usage,chat+json-for-stream,chat+sse-for-plain", { type: 43 });
  await relay.gateway.channel("gemini+echo", { type: 24 });
});
afterEach(async () => {
  await relay.gateway.option("KeptResponsesHours", 24);
});

describe.each([false, true])("a conversation by previous_response_id (stream: %s)", (stream) => {
  it("continues over three turns", async () => {
    const one = await respond({ model: CLAUDE, input: "one", instructions: "Be brief.", stream });
    expect(one).toMatchObject({ store: true, previous_response_id: null, status: "completed" });
    const two = await respond({ model: CLAUDE, input: "two", previous_response_id: one.id, stream });
    expect(two).toMatchObject({ store: true, previous_response_id: one.id });
    await respond({ model: CLAUDE, input: "three", previous_response_id: two.id, stream });
    const last = relay.gateway.upstream.requests.at(-1)?.json;
    expect(last?.["system"]).toBeUndefined();
    expect(anthropicMessages(last)).toEqual([
      ["user", "one"],
      ["assistant", "one"],
      ["user", "two"],
      ["assistant", "two"],
      ["user", "three"],
    ]);
  });

  it("continues with the result of a tool, by reference as well", async () => {
    const ask = { model: "claude+tool-loop", tools: TOOLS, stream };
    const called = await respond({ ...ask, input: "Weather?" });
    const [call] = called.output;
    const result = { type: "function_call_output", call_id: call?.["call_id"], output: "sunny" };
    const messages = () => JSON.stringify(relay.gateway.upstream.requests.at(-1)?.json?.["messages"]);
    await respond({ ...ask, input: [result], previous_response_id: called.id });
    const byPrevious = messages();
    const question = { role: "user", content: "Weather?" };
    for (const type of ["item_reference", undefined, null]) {
      await respond({ ...ask, input: [question, { type, id: call?.["id"] }, result] });
      expect(messages()).toBe(byPrevious);
    }
    expect(byPrevious).toMatch(/tool_use.*tool_result.*sunny/);
  });
});

it.each([
  ["chat+json-for-stream", true],
  ["chat+sse-for-plain", false],
])("an upstream that answers in the other shape makes no difference (%s)", async (model, stream) => {
  const first = await respond({ model, input: "one", stream });
  await respond({ model, input: [{ type: "item_reference", id: first.output[0]?.["id"] }], stream });
  expect(relay.gateway.upstream.requests.at(-1)?.json?.["messages"]).toMatchObject([{ role: "assistant" }]);
  expect(await answered(client.call("GET", first.id))).toEqual(first);
});

it("sends thinking with its signatures to the model that produced it", async () => {
  const first = await respond({ model: "claude+reasoning", input: "one", reasoning: { effort: "low" } });
  await respond({
    model: "claude+reasoning",
    input: "two",
    previous_response_id: first.id,
    reasoning: { effort: "low" },
  });
  expect(JSON.stringify(relay.gateway.upstream.requests.at(-1)?.json)).toContain('"type":"thinking"');
});

it("the protocol may change during a conversation, also to one that needs no conversion", async () => {
  const first = await respond({ model: "claude+reasoning", input: "one" });
  const second = await respond({ model: "gemini+echo", input: "two", previous_response_id: first.id });
  await relay.gateway.channel("native+echo", { type: 1 });
  relay.gateway.upstream.reset();
  const native = await send({
    model: "native+echo",
    input: "three",
    previous_response_id: second.id,
  });
  await native.text();
  const [sent] = relay.gateway.upstream.requests;
  expect(sent?.path).toBe("/v1/responses");
  const { input, ...rest } = (sent?.json ?? {}) as unknown as { input: readonly Record<string, unknown>[] };
  expect(rest).not.toHaveProperty("previous_response_id");
  expect(input.map(({ type, role, id }) => [type, role, id])).toEqual([
    ["message", "user", undefined],
    ["message", "assistant", undefined],
    ["message", "user", undefined],
    ["message", "assistant", undefined],
    ["message", "user", undefined],
  ]);
});

it("unknown ids are refused on native channels too, because another user's would be known there", async () => {
  await relay.gateway.channel("native+named", { type: 1 });
  for (const id of [`msg_${"0".repeat(26)}_0`, "msg_6862a1f0", "rs_6862a1f0"]) {
    const refused = await send({ model: "native+named", input: [{ type: "item_reference", id }] });
    expect([refused.status, (await readError(refused)).code]).toEqual([404, "item_not_found"]);
  }
  expect(relay.gateway.upstream.requests).toEqual([]);
});

describe("what is stored", () => {
  it("belongs to its user", async () => {
    const { id, output } = await respond({ model: FREE, input: "mine" });
    const other = await stranger(relay);
    const foreign = await send({ model: FREE, input: "x", previous_response_id: id }, other);
    expect([foreign.status, (await readError(foreign)).code]).toEqual([404, "response_not_found"]);
    const item = { type: "item_reference", id: output[0]?.["id"] };
    const named = await send({ model: FREE, input: [item] }, other);
    expect([named.status, (await readError(named)).code]).toEqual([404, "item_not_found"]);
    for (const [method, rest] of [
      ["GET", ""],
      ["GET", "/input_items"],
      ["POST", "/cancel"],
      ["DELETE", ""],
    ] as const)
      expect((await client.call(method, `${id}${rest}`, other)).status).toBe(404);
    expect((await client.call("GET", id)).status).toBe(200);
  });

  it("excludes store: false, answers while the option is off, and answers that broke off", async () => {
    const unstored = await respond({ model: CLAUDE, input: "x", store: false });
    expect(unstored.store).toBe(false);
    expect((await send({ model: CLAUDE, input: "y", previous_response_id: unstored.id })).status).toBe(404);
    const cut = await (await send({ model: "claude+cut-after-3", input: "x", stream: true })).text();
    const broken = /"id":"(resp_\w+)"/.exec(cut)?.[1] ?? "";
    expect((await client.call("GET", broken)).status).toBe(404);
    const before = await respond({ model: CLAUDE, input: "x" });
    await relay.gateway.option("KeptResponsesHours", 0);
    const off = await respond({ model: CLAUDE, input: "x" });
    expect(off.store).toBe(false);
    for (const { id } of [before, off]) {
      const refused = await send({ model: CLAUDE, input: "y", previous_response_id: id });
      expect([refused.status, (await readError(refused)).code]).toEqual([404, "response_not_found"]);
    }
    const item = await send({ model: CLAUDE, input: [{ type: "item_reference", id: off.output[0]?.["id"] }] });
    const error = await readError(item);
    expect(error.message).toContain(String(off.output[0]?.["id"]));
    expect(error.message).toContain("store: false");
  });

  it("includes an answer that ended at its output limit", async () => {
    const short = await respond({ model: "claude+length", input: "x" });
    expect(short.status).toBe("incomplete");
    expect(await answered(client.call("GET", short.id))).toEqual(short);
  });

  it("can be read, listed and deleted, but not cancelled", async () => {
    const input = [
      { role: "user", content: "a" },
      { role: "user", content: [{ type: "input_text", text: "b" }] },
    ];
    const made = await respond({ model: "chat+no-usage", input, metadata: { a: "b" } });
    expect(made.usage).toMatchObject({ input_tokens: expect.any(Number) as number });
    expect(await answered(client.call("GET", made.id))).toEqual(made);
    type List = { data: { id: string; content: { text: string }[] }[]; has_more: boolean; first_id: string };
    const list = (query: string) => answered<List>(client.call("GET", `${made.id}/input_items${query}`));
    const all = await list("?order=asc");
    expect(all).toMatchObject({ object: "list", has_more: false, first_id: all.data[0]?.id });
    expect(all.data.map(({ content }) => content[0]?.text)).toEqual(["a", "b"]);
    const newest = await list("?limit=1");
    expect([newest.data[0]?.id, newest.has_more]).toEqual([all.data[1]?.id, true]);
    expect((await list(`?limit=1&after=${newest.data[0]?.id}`)).data).toEqual([all.data[0]]);
    for (const refused of [client.call("POST", `${made.id}/cancel`), client.call("GET", `${made.id}?stream=true`)])
      expect((await refused).status).toBe(400);
    expect(await answered(client.call("DELETE", made.id))).toEqual({ id: made.id, object: "response", deleted: true });
    expect((await client.call("GET", made.id)).status).toBe(404);
    expect((await client.call("DELETE", made.id)).status).toBe(404);
    const item = { type: "item_reference", id: made.output[0]?.["id"] };
    expect((await send({ model: "chat+echo", input: [item] })).status).toBe(404);
  });
});

it("limits apply to the whole conversation", async () => {
  const first = await respond({ model: CLAUDE, input: "word ".repeat(20_000) });
  const key = await relay.gateway.token({ unlimited_quota: false, remain_quota: 20_000 });
  const short = await send({ model: CLAUDE, input: "x" }, key);
  expect(short.status).toBe(200);
  const long = await send({ model: CLAUDE, input: "x", previous_response_id: first.id }, key);
  expect([long.status, (await readError(long)).code]).toEqual([403, "insufficient_token_quota"]);
});
