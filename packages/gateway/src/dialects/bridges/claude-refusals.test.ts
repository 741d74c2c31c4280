// Requests of chat clients that Anthropic's API would refuse.
import { describe, expect, it } from "vitest";
import { run } from "../../../test/kit/bridge-run.ts";
import type { JsonObject } from "../core/types.ts";

const hi = { role: "user", content: "hi" };
const call = (id: string) => ({ id, type: "function", function: { name: "f", arguments: "{}" } });
const asked = (body: object) => {
  const bridge = run("openai-chat", "anthropic-messages", "claude-sonnet-4-5");
  return { ...bridge, body: bridge.request({ messages: [hi], ...body }) };
};
const sent = (...messages: object[]) => asked({ messages }).body["messages"];

it("texts without a visible character are left out", () => {
  const answer = { role: "assistant", content: "\n\n", tool_calls: [call("a")] };
  expect(
    sent(
      { role: "system", content: " " },
      hi,
      answer,
      { role: "tool", tool_call_id: "a", content: "r" },
      {
        role: "user",
        content: [
          { type: "text", text: " " },
          { type: "text", text: "continue" },
        ],
      },
    ),
  ).toEqual([
    hi,
    { role: "assistant", content: [{ type: "tool_use", id: "a", name: "f", input: {} }] },
    {
      role: "user",
      content: [
        { type: "tool_result", tool_use_id: "a", content: "r" },
        { type: "text", text: "continue" },
      ],
    },
  ]);
  expect(sent(hi, { role: "assistant", content: " \n" })).toEqual([hi]);
});

describe("ids of calls", () => {
  /** Ids of calls and results in the order in which they are sent. */
  const listSentIds = (...messages: object[]) =>
    (sent(hi, ...messages) as JsonObject[]).flatMap(({ content }) =>
      Array.isArray(content)
        ? content.map((block) => (block as JsonObject)["id"] ?? (block as JsonObject)["tool_use_id"])
        : [],
    );
  const turn = (...ids: string[]) => [
    { role: "assistant", content: null, tool_calls: ids.map(call) },
    ...ids.map((id) => ({ role: "tool", tool_call_id: id, content: "r" })),
  ];

  it("are made different where a server counts again in every answer, or gives none", () => {
    const counted = ["call_0", "call_1", "call_0", "call_1", "call_0_2", "call_0_2"];
    expect(listSentIds(...turn("call_0", "call_1"), ...turn("call_0"))).toEqual(counted);
    expect(listSentIds(...turn("", ""))).toEqual(["call", "call_2", "call", "call_2"]);
    expect(listSentIds(...turn("f:0"), ...turn("f.0"))).toEqual(["f_0", "f_0", "f_0_2", "f_0_2"]);
  });

  it("are made different for a function that is called again", () => {
    const round = [
      { role: "assistant", content: null, function_call: { name: "f", arguments: "{}" } },
      { role: "function", name: "f", content: "r" },
    ];
    expect(listSentIds(...round, ...round)).toEqual(["call_f", "call_f", "call_f_2", "call_f_2"]);
  });
});

it("names that identify the user are left out and reported, others are sent", () => {
  for (const user of ["ann@example.com", "+49 (30) 123-4567", "x".repeat(257)]) {
    const { body, dropped } = asked({ user });
    expect(body["metadata"]).toBeUndefined();
    expect(dropped).toEqual(["user"]);
  }
  for (const user of ["u-1", "12345678"]) {
    expect(asked({ user }).body["metadata"]).toEqual({ user_id: user });
    expect(asked({ safety_identifier: user }).body["metadata"]).toEqual({ user_id: user });
  }
});

it("tiers that this API has no word for are named", () => {
  expect(asked({ service_tier: "flex" }).dropped).toEqual(["service_tier"]);
  expect(asked({ service_tier: "default" }).body["service_tier"]).toBe("standard_only");
});

it("schemas of strict tools are sent without what the decoder does not know", () => {
  const parameters = {
    type: "object",
    properties: { n: { type: "integer", minimum: 1 } },
    required: ["n"],
    additionalProperties: false,
  };
  const convertSchema = (strict: boolean) =>
    (
      asked({ tools: [{ type: "function", function: { name: "f", parameters, strict } }] }).body[
        "tools"
      ] as JsonObject[]
    )[0];
  expect(convertSchema(true)).toEqual({
    name: "f",
    input_schema: { ...parameters, properties: { n: { type: "integer", description: "minimum: 1." } } },
    strict: true,
  });
  expect(convertSchema(false)).toEqual({ name: "f", input_schema: parameters });
});

it("images of a type that it does not know by this name, and documents in their place, are what they are", () => {
  const convertBlock = (type: string) => {
    const part = { type: "image_url", image_url: { url: `data:${type};base64,AA` } };
    const [message] = sent({ role: "user", content: [part] }) as { content: JsonObject[] }[];
    return message?.content[0];
  };
  const source = (media_type: string) => ({ type: "base64", media_type, data: "AA" });
  expect(convertBlock("image/jpg")).toEqual({ type: "image", source: source("image/jpeg") });
  expect(convertBlock("image/png")).toEqual({ type: "image", source: source("image/png") });
  expect(convertBlock("application/pdf")).toEqual({ type: "document", source: source("application/pdf") });
});
