// Tool calls as servers other than the official ones write them.
import { describe, expect, it } from "vitest";
import { run } from "../../../test/kit/bridge-run.ts";
import type { DialectId, JsonObject } from "../core/types.ts";

const CLIENTS: readonly DialectId[] = ["anthropic-messages", "openai-responses", "gemini-generate"];
const chunk = (delta: object, finish: string | null = null) => ({
  id: "1",
  model: "m",
  choices: [{ index: 0, delta, finish_reason: finish }],
});
const call = (id: string, args: unknown, index?: number) => ({
  ...(index !== undefined && { index }),
  id,
  type: "function",
  function: { name: "f", arguments: args },
});
/** Returns the id and arguments of each call, under any protocol's names. */
const callsIn = (json: unknown): unknown[] => {
  if (Array.isArray(json)) return json.flatMap(callsIn);
  if (json === null || typeof json !== "object") return [];
  const { type, id, input, call_id, arguments: args, functionCall } = json as JsonObject;
  if (type === "tool_use") return [[id, input]];
  if (type === "function_call") return [[call_id, JSON.parse(args as string)]];
  if (functionCall !== undefined) return [[(functionCall as JsonObject)["id"], (functionCall as JsonObject)["args"]]];
  return Object.values(json).flatMap(callsIn);
};
/** Assembles the calls from the chunks of a stream. */
const listToolCalls = (client: DialectId, chunks: readonly object[]) => {
  const events = run(client, "openai-chat", "m").stream(chunks);
  if (client !== "anthropic-messages") return callsIn(events.at(-1));
  const blocks = events.filter((event) => (event["content_block"] as JsonObject | undefined)?.["type"] === "tool_use");
  return blocks.map((event) => {
    const pieces = events.filter(({ type, index }) => type === "content_block_delta" && index === event["index"]);
    const written = pieces.map((piece) => (piece["delta"] as { partial_json: string }).partial_json).join("");
    return [(event["content_block"] as JsonObject)["id"], JSON.parse(written) as unknown];
  });
};

describe.each(CLIENTS)("%s clients get", (client) => {
  it("arguments that were written as an object", () => {
    const message = { role: "assistant", content: null, tool_calls: [call("a", { city: "Paris" })] };
    const answer = { id: "1", model: "m", choices: [{ index: 0, message, finish_reason: "tool_calls" }] };
    expect(callsIn(run(client, "openai-chat", "m").answer(answer))).toEqual([["a", { city: "Paris" }]]);
    const chunks = [chunk({ tool_calls: [call("a", { city: "Paris" }, 0)] }), chunk({}, "tool_calls")];
    expect(listToolCalls(client, chunks)).toEqual([["a", { city: "Paris" }]]);
  });

  it("several whole calls that were all numbered 0", () => {
    const chunks = [
      chunk({ tool_calls: [call("a", '{"city":"Paris"}', 0)] }),
      chunk({ tool_calls: [call("b", '{"city":"Rome"}', 0)] }),
      chunk({}, "tool_calls"),
    ];
    expect(listToolCalls(client, chunks)).toEqual([
      ["a", { city: "Paris" }],
      ["b", { city: "Rome" }],
    ]);
  });

  it("the name of a call whose arguments began before it", () => {
    const pieces = [{ index: 0, function: { arguments: '{"city":' } }, call("a", '"Paris"}', 0)];
    const chunks = [...pieces.map((piece) => chunk({ tool_calls: [piece] })), chunk({}, "tool_calls")];
    const written = JSON.stringify(run(client, "openai-chat", "m").stream(chunks));
    expect(written).toContain('"name":"f"');
    expect(written).not.toContain('"name":""');
    expect(listToolCalls(client, chunks)).toEqual([["a", { city: "Paris" }]]);
  });

  it("one call where every piece repeats its id", () => {
    const pieces = [call("a", '{"city":', 0), call("a", '"Paris"', 0), { index: 0, function: { arguments: "}" } }];
    const chunks = [...pieces.map((piece) => chunk({ tool_calls: [piece] })), chunk({}, "tool_calls")];
    expect(listToolCalls(client, chunks)).toEqual([["a", { city: "Paris" }]]);
  });
});

it("arguments of a block that was never opened are no call", () => {
  const delta = { type: "input_json_delta", partial_json: "{}" };
  const orphan = { type: "content_block_delta", index: 3, delta };
  expect(() => run("openai-chat", "anthropic-messages", "claude").stream([orphan])).toThrow("without their call");
});

it.each<DialectId>(["anthropic-messages", "gemini-generate", "openai-responses"])(
  "chat clients may send back such arguments to %s",
  (upstream) => {
    const messages = [
      { role: "user", content: "hi" },
      { role: "assistant", content: null, tool_calls: [call("a", { city: "Paris" })] },
      { role: "tool", tool_call_id: "a", content: "sun" },
    ];
    const sent = callsIn(run("openai-chat", upstream, "gemini-2.5-flash").request({ model: "m", messages }));
    expect(sent.map((each) => (each as unknown[])[1])).toEqual([{ city: "Paris" }]);
  },
);
