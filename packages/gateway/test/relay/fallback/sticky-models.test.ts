import { beforeAll, beforeEach, expect, it } from "vitest";
import { consumeRows, useRelay } from "../../kit/relay-app.ts";
import { ANSWER, answer, explain, FIRST, OVERLOADED, SECOND } from "./fallback-kit.ts";

const relay = useRelay();

/** The conversation of the request, which the rule `named` finds. */
const inTalk = (name: string) => ({ prompt_cache_key: name });
const list = (entry: object) =>
  relay.gateway.option("ModelFallbacks", JSON.stringify({ [FIRST]: [{ model: SECOND, ...entry }] }));

beforeAll(async () => {
  await relay.gateway.channel(FIRST, { type: 14 });
  await relay.gateway.channel(SECOND);
  await relay.gateway.option("RetryTimes", 0);
});

beforeEach(() => list({ sticky_seconds: 300 }));

it("a conversation that fell back to a sticky model goes straight to it, and other conversations do not", async () => {
  answer(relay, OVERLOADED, ANSWER);
  await (await relay.ask(FIRST, inTalk("a"))).text();
  const seen = answer(relay, OVERLOADED, ANSWER);
  const straight = await relay.ask(FIRST, inTalk("a"));
  expect(straight.headers.get("x-fairway-model")).toBe(SECOND);
  expect(straight.headers.get("x-fairway-fallback")).toBe(`from=${FIRST}; reason=overloaded; hops=0`);
  expect(seen.map(({ model }) => model)).toEqual([SECOND]);
  const explained = await explain(relay, straight);
  expect(explained.summary).toBe(`Answered by ${SECOND}, with which the conversation stays in place of ${FIRST}.`);
  expect(explained.fallback?.hops).toEqual([{ model: FIRST, outcome: "sticky", is_skipped: true }]);
  const [row] = await consumeRows(relay.gateway, straight.headers.get("x-request-id") ?? "");
  expect(row?.model_name).toBe(SECOND);
  await (await relay.ask(FIRST, inTalk("b"))).text();
  expect(seen.map(({ model }) => model)).toEqual([SECOND, FIRST, SECOND]);
});

it("a sticky model that fails gives its conversation back to the requested one", async () => {
  answer(relay, OVERLOADED, ANSWER);
  await (await relay.ask(FIRST, inTalk("c"))).text();
  const healthy = { body: { ...(ANSWER.body as object), type: "message" } };
  const ofFirst = {
    body: {
      id: "msg_1",
      type: "message",
      role: "assistant",
      model: FIRST,
      content: [{ type: "text", text: "ok" }],
      stop_reason: "end_turn",
      stop_sequence: null,
      usage: { input_tokens: 20, output_tokens: 10 },
    },
  };
  const seen = answer(relay, ofFirst, { status: 500, body: { error: { message: "broken" } } });
  const response = await relay.ask(FIRST, inTalk("c"));
  expect(response.status).toBe(200);
  await response.text();
  expect(seen.map(({ model }) => model)).toEqual([SECOND, FIRST]);
  const next = answer(relay, ofFirst, healthy);
  await (await relay.ask(FIRST, inTalk("c"))).text();
  expect(next.map(({ model }) => model)).toEqual([FIRST]);
});

it("a list without the time, or a sticky model that left the list, begins with the requested model", async () => {
  answer(relay, OVERLOADED, ANSWER);
  await (await relay.ask(FIRST, inTalk("d"))).text();
  const seen = answer(relay, OVERLOADED, ANSWER);
  await list({});
  await (await relay.ask(FIRST, inTalk("d"))).text();
  await relay.gateway.option("ModelFallbacks", JSON.stringify({ [FIRST]: [{ model: "other", sticky_seconds: 300 }] }));
  await (await relay.ask(FIRST, inTalk("d"))).text();
  expect(seen.map(({ model }) => model)).toEqual([FIRST, SECOND, FIRST]);
});
