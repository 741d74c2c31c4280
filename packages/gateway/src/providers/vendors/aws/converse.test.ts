import { describe, expect, it } from "vitest";
import { createBridgeContext, listEventData, event } from "../../../../test/kit/provider-kit.ts";
import { converseBridge } from "./converse.ts";

const png = "data:image/png;base64,aGk=";
const tool = { type: "function", function: { name: "f", description: "", parameters: { type: "object" } } };

describe("requests of Converse", () => {
  it("alternate: results of one turn together, with the user's next words", () => {
    const messages = [
      {
        role: "user",
        content: [
          { type: "text", text: "a" },
          { type: "image_url", image_url: { url: png } },
        ],
      },
      {
        role: "assistant",
        content: "b",
        tool_calls: [
          { id: "1", function: { name: "f", arguments: '{"x":1}' } },
          { id: "2", function: { name: "f", arguments: "broken" } },
        ],
      },
      { role: "tool", tool_call_id: "1", content: "r1" },
      { role: "tool", tool_call_id: "2", content: "r2" },
      { role: "user", content: "c" },
    ];
    const body = converseBridge
      .begin(createBridgeContext())
      .request({ model: "m", messages, tools: [tool], tool_choice: "none" });
    expect(body["messages"]).toEqual([
      { role: "user", content: [{ text: "a" }, { image: { format: "png", source: { bytes: "aGk=" } } }] },
      {
        role: "assistant",
        content: [
          { text: "b" },
          { toolUse: { toolUseId: "1", name: "f", input: { x: 1 } } },
          { toolUse: { toolUseId: "2", name: "f", input: {} } },
        ],
      },
      {
        role: "user",
        content: [
          { toolResult: { toolUseId: "1", content: [{ text: "r1" }], status: "success" } },
          { toolResult: { toolUseId: "2", content: [{ text: "r2" }], status: "success" } },
          { text: "c" },
        ],
      },
    ]);
    expect(body["toolConfig"]).toEqual({
      tools: [{ toolSpec: { name: "f", inputSchema: { json: { type: "object" } } } }],
    });
  });

  it("name what they leave out and refuse several answers", () => {
    const context = createBridgeContext();
    converseBridge.begin(context).request({ messages: [], seed: 1, user: "u" });
    expect(context.lost).toEqual(["seed", "user"]);
    expect(() => converseBridge.begin(context).request({ messages: [], n: 2 })).toThrow("n cannot be used");
    const remote = [{ role: "user", content: [{ type: "image_url", image_url: { url: "https://x.example/a.png" } }] }];
    expect(() => converseBridge.begin(context).request({ messages: remote })).toThrow("data URLs");
  });
});

describe("streams of Converse", () => {
  it("end in an error event when the upstream throws", () => {
    const stream = converseBridge.begin(createBridgeContext()).stream();
    const events = [
      event({ role: "assistant" }, "messageStart"),
      event({ delta: { reasoningContent: { text: "hm" } } }, "contentBlockDelta"),
      event({ type: "error", error: { type: "overloaded_error", message: "busy" } }, "error"),
      event({ usage: { inputTokens: 1, outputTokens: 1 } }, "metadata"),
    ].flatMap((given) => stream.event(given));
    expect(listEventData([...events, ...stream.end()]).at(-1)).toEqual({
      error: { message: "busy", type: "overloaded_error" },
    });
    expect(listEventData(events).length).toBe(3);
  });

  it("end regularly without usage when the last event is missing, and not at all when cut off", () => {
    const stopped = converseBridge.begin(createBridgeContext()).stream();
    stopped.event(event({ stopReason: "max_tokens" }, "messageStop"));
    expect(listEventData(stopped.end()).at(-1)).toBe("[DONE]");
    const cut = converseBridge.begin(createBridgeContext()).stream();
    cut.event(event({ delta: { text: "a" } }, "contentBlockDelta"));
    expect(cut.end()).toEqual([]);
  });
});
