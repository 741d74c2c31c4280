import { describe, expect, it } from "vitest";
import { run } from "../../../test/kit/bridge-run.ts";
import type { DialectId, JsonObject } from "../core/types.ts";

const MODEL = "google/gemini-3-pro";
const details = [
  { type: "reasoning.text", text: "use f", signature: "c2ln", format: "anthropic-claude-v1", index: 0 },
  { type: "reasoning.encrypted", data: "gAAA", id: "call_1", format: "google-gemini-v1", index: 1 },
];
const call = { index: 0, id: "call_1", type: "function", function: { name: "f", arguments: "{}" } };
const message = {
  role: "assistant",
  content: null,
  reasoning_content: "use f",
  reasoning_details: details,
  tool_calls: [call],
};
const answer = { id: "1", model: "m", choices: [{ index: 0, message, finish_reason: "tool_calls" }] };
const chunk = (delta: object, finish: string | null = null) => ({
  id: "1",
  choices: [{ index: 0, delta, finish_reason: finish }],
});
const [spoken, sealed] = details;
const { signature, ...unsigned } = spoken as JsonObject;
const begin = [
  chunk({ reasoning_content: "use ", reasoning_details: [{ ...unsigned, text: "use " }] }),
  chunk({ reasoning_content: "f", reasoning_details: [{ ...unsigned, text: "f" }] }),
  chunk({ reasoning_details: [{ type: "reasoning.text", signature, index: 0 }] }),
];
const streams = {
  "before the call": [
    ...begin,
    chunk({ reasoning_details: [sealed] }),
    chunk({ tool_calls: [call] }),
    chunk({}, "tool_calls"),
  ],
  "with the call": [...begin, chunk({ reasoning_details: [sealed], tool_calls: [call] }), chunk({}, "tool_calls")],
  "after the call": [...begin, chunk({ tool_calls: [call] }), chunk({ reasoning_details: [sealed] }, "tool_calls")],
};

/** Builds the request of the next turn, from the part of the answer that the client preserves. */
const next = (client: DialectId, preserved: JsonObject, upstream: DialectId, model: string) =>
  run(client, upstream, model).request(preserved);
const echoBuilderByClient: Readonly<Record<string, (body: JsonObject) => JsonObject>> = {
  "anthropic-messages": (body) => ({
    max_tokens: 9,
    messages: [{ role: "assistant", content: body["content"] ?? [] }],
  }),
  "openai-responses": (body) => ({ input: body["output"] ?? [] }),
  "gemini-generate": (body) => ({ contents: (body["candidates"] as JsonObject[]).map((one) => one["content"] ?? {}) }),
};
/** Builds the whole answer that the client assembles from a stream. */
const answerBuilderByClient: Readonly<Record<string, (events: JsonObject[]) => JsonObject>> = {
  "anthropic-messages": (events) => {
    const content = events.flatMap((event) =>
      event["content_block"] === undefined ? [] : [{ ...(event["content_block"] as JsonObject) }],
    );
    for (const { index, delta } of events) {
      const { type, thinking, signature: signed } = (delta ?? {}) as JsonObject;
      const block = content[index as number];
      if (block && type === "thinking_delta") block["thinking"] = `${block["thinking"] as string}${thinking as string}`;
      if (block && type === "signature_delta") block["signature"] = signed ?? "";
    }
    return { content };
  },
  "openai-responses": (events) => events.at(-1)?.["response"] as JsonObject,
  "gemini-generate": (events) => ({ candidates: events.flatMap((event) => event["candidates"] as JsonObject[]) }),
};

describe.each(Object.keys(echoBuilderByClient) as DialectId[])("reasoning_details with %s clients", (client) => {
  const returned = (whole: JsonObject, model = MODEL) => {
    const preserved = echoBuilderByClient[client]?.(whole) ?? {};
    const [assistant] = next(client, preserved, "openai-chat", model)["messages"] as JsonObject[];
    return assistant;
  };

  it("come back to the model that they came from, and to no other", () => {
    const whole = run(client, "openai-chat", MODEL).answer(answer);
    expect(returned(whole)).toMatchObject({ reasoning_details: details, tool_calls: [{ id: "call_1" }] });
    expect(returned(whole, "gpt-4.1")).not.toHaveProperty("reasoning_details");
    if (client === "anthropic-messages") return; // requests in the same protocol are passed on unchanged
    const elsewhere = next(
      client,
      echoBuilderByClient[client]?.(whole) ?? {},
      "anthropic-messages",
      "claude-haiku-4-5",
    );
    expect(JSON.stringify(elsewhere)).not.toContain("signature");
  });

  it.each(Object.entries(streams))("come back from streams that report them %s", (_when, chunks) => {
    const whole = answerBuilderByClient[client]?.(run(client, "openai-chat", MODEL).stream(chunks)) ?? {};
    expect(returned(whole)).toMatchObject({ reasoning_details: details, tool_calls: [{ id: "call_1" }] });
  });

  it("change nothing where no one thought aloud or called", () => {
    const plain = {
      id: "1",
      model: "m",
      choices: [{ index: 0, message: { content: "hi", reasoning_details: [sealed] }, finish_reason: "stop" }],
    };
    expect(JSON.stringify(run(client, "openai-chat", MODEL).answer(plain))).not.toContain("ignature");
  });
});
