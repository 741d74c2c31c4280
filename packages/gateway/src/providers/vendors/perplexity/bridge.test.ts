import { describe, expect, it } from "vitest";
import { createBridgeContext, listEventData, event } from "../../../../test/kit/provider-kit.ts";
import { anthropicToChat } from "../../../dialects/bridges/anthropic-to-chat/index.ts";
import { agentBridge } from "./bridge.ts";

describe("requests of the Agent API", () => {
  it("hold nothing that is not mapped", () => {
    const context = createBridgeContext({ upstreamModel: "anthropic/claude-sonnet-5" });
    const messages = [
      {
        role: "user",
        content: [
          { type: "text", text: "a" },
          { type: "image_url", image_url: { url: "https://x.example/a.png" } },
        ],
      },
      { role: "assistant", content: null, tool_calls: [{ id: "c", function: { name: "f", arguments: "{}" } }] },
      { role: "tool", tool_call_id: "c", content: "r" },
    ];
    const tools = [{ type: "function", function: { name: "f", parameters: { type: "object" } } }];
    const body = agentBridge.begin(context).request({
      messages,
      tools,
      max_tokens: 4,
      seed: 1,
      stop: ["x"],
      tool_choice: { type: "function", function: { name: "f" } },
    });
    expect(body).toEqual({
      model: "anthropic/claude-sonnet-5",
      input: [
        {
          role: "user",
          content: [
            { type: "input_text", text: "a" },
            { type: "input_image", image_url: "https://x.example/a.png" },
          ],
        },
        { type: "function_call", call_id: "c", name: "f", arguments: "{}" },
        { type: "function_call_output", call_id: "c", output: "r" },
      ],
      max_output_tokens: 16,
      tools: [{ type: "function", name: "f", parameters: { type: "object" } }],
      tool_choice: { type: "function", name: "f" },
    });
    expect(context.lost).toEqual(["seed", "stop"]);
  });
});

describe("streams of the Agent API", () => {
  const item = { type: "function_call", call_id: "c", name: "f", arguments: '{"x":1}' };

  it("send the arguments of a call once, whether in pieces or whole", () => {
    for (const pieces of [
      [],
      [event({ type: "response.function_call_arguments.delta", output_index: 0, delta: '{"x":1}' })],
    ]) {
      const stream = agentBridge.begin(createBridgeContext()).stream();
      const events = [
        event({ type: "response.output_item.added", output_index: 0, item: { ...item, arguments: "" } }),
        ...pieces,
        event({ type: "response.output_item.done", output_index: 0, item }),
        event({ type: "response.completed", response: { status: "completed" } }),
      ].flatMap((given) => stream.event(given));
      expect(listEventData(events).filter((data) => JSON.stringify(data).includes('{\\"x\\":1}')).length).toBe(1);
      expect(listEventData(events).at(-2)).toMatchObject({ choices: [{ finish_reason: "tool_calls" }] });
    }
  });

  it.each([
    { type: "error", error: { message: "no", type: "server_error" } },
    { error: { message: "no", type: "server_error" } },
    { type: "response.failed", response: { error: { message: "no", type: "server_error" } } },
  ])("end with an error: %j", (data) => {
    const stream = agentBridge.begin(createBridgeContext()).stream();
    expect(listEventData(stream.event(event(data)))).toEqual([{ error: { message: "no", type: "server_error" } }]);
  });
});

describe("searches of the Agent API", () => {
  it("are citations for clients of other protocols", () => {
    const context = createBridgeContext();
    const results = [{ title: "A", url: "https://a.example" }];
    const message = { type: "message", content: [{ type: "output_text", text: "Sunny." }] };
    const body = { status: "completed", output: [{ type: "search_results", results }, message] };
    const answer = anthropicToChat.begin(context).response(agentBridge.begin(context).response(body));
    expect(answer["content"]).toMatchObject([{ citations: [{ url: "https://a.example", title: "A" }] }]);
    const stream = agentBridge.begin(context).stream();
    const client = anthropicToChat.begin(context).stream();
    const events = [
      event({ type: "response.output_text.delta", delta: "Sunny." }),
      event({ type: "response.completed", response: body }),
    ].flatMap((given) => stream.event(given).flatMap((chunk) => client.event(chunk)));
    const cited = listEventData([...events, ...client.end()]).filter((data) =>
      JSON.stringify(data).includes("citations_delta"),
    );
    expect(cited).toMatchObject([{ delta: { citation: { url: "https://a.example", title: "A" } } }]);
  });
});
