// Items of a Responses input in orders that this protocol allows but chat does not.
import { describe, expect, it } from "vitest";
import { run } from "../../../test/kit/bridge-run.ts";
import type { JsonObject } from "../core/types.ts";

const hi = { role: "user", content: "hi" };
const call = (id: string) => ({ type: "function_call", call_id: id, name: "f", arguments: "{}" });
const result = (id: string, output: unknown = id) => ({ type: "function_call_output", call_id: id, output });
const said = { type: "message", role: "assistant", content: [{ type: "output_text", text: "I look." }] };
const bridge = () => run("openai-responses", "openai-chat", "gpt-4.1");
/** Returns each message as its role, content and call ids. */
const outline = (input: object[]) =>
  (bridge().request({ input })["messages"] as JsonObject[]).map((message) => [
    message["role"],
    message["content"],
    ...((message["tool_calls"] ?? []) as JsonObject[]).map(({ id }) => id),
    ...(message["tool_call_id"] === undefined ? [] : [message["tool_call_id"]]),
  ]);

describe("results stand right behind their calls", () => {
  it.each<[string, object[], unknown[]]>([
    [
      "when the model wrote after it called",
      [hi, call("a"), said, result("a"), hi],
      [
        ["assistant", "I look.", "a"],
        ["tool", "a", "a"],
        ["user", "hi"],
      ],
    ],
    [
      "when it wrote between two calls",
      [hi, call("a"), said, call("b"), result("a"), result("b")],
      [
        ["assistant", "I look.", "a", "b"],
        ["tool", "a", "a"],
        ["tool", "b", "b"],
      ],
    ],
    [
      "when someone spoke meanwhile",
      [hi, call("a"), { role: "user", content: "wait" }, result("a")],
      [
        ["assistant", null, "a"],
        ["tool", "a", "a"],
        ["user", "wait"],
      ],
    ],
    [
      "when a call began before the other was answered",
      [hi, call("a"), call("b"), result("a"), call("c"), result("b"), result("c")],
      [
        ["assistant", null, "a", "b"],
        ["tool", "a", "a"],
        ["tool", "b", "b"],
        ["assistant", null, "c"],
        ["tool", "c", "c"],
      ],
    ],
    [
      "when an id is used again",
      [hi, call("a"), result("a", "1"), call("a"), result("a", "2")],
      [
        ["assistant", null, "a"],
        ["tool", "1", "a"],
        ["assistant", null, "a"],
        ["tool", "2", "a"],
      ],
    ],
  ])("%s", (_when, input, messages) => {
    expect(outline(input)).toEqual([["user", "hi"], ...messages]);
  });

  it("and pictures of a result before what was said meanwhile", () => {
    const picture = { type: "input_image", image_url: "data:image/png;base64,AA" };
    const roles = outline([hi, call("a"), { role: "user", content: "wait" }, result("a", [picture])]);
    const image = { type: "image_url", image_url: { url: "data:image/png;base64,AA" } };
    expect(roles.slice(2)).toEqual([
      ["tool", "", "a"],
      ["user", [image]],
      ["user", "wait"],
    ]);
  });
});

it("a conversation that only its vendor can open is refused, not forgotten", () => {
  const input = [{ type: "compaction", id: "cmp_1", encrypted_content: "gAAAA" }, hi];
  expect(() => bridge().request({ input })).toThrow(
    expect.objectContaining({ code: "unsupported_parameter", param: "input.compaction", status: 400 }),
  );
});

describe("allowed tools that fell away", () => {
  const tools = [{ type: "function", name: "f" }, { type: "web_search" }];
  const convertChoice = (mode: string, allowed: object[]) =>
    bridge().request({ input: [hi], tools, tool_choice: { type: "allowed_tools", mode, tools: allowed } })[
      "tool_choice"
    ];

  it("are not named, and nothing is called when no other is left", () => {
    expect(convertChoice("auto", [{ type: "web_search" }, { type: "function", name: "f" }])).toEqual({
      type: "allowed_tools",
      allowed_tools: { mode: "auto", tools: [{ type: "function", function: { name: "f" } }] },
    });
    expect(convertChoice("auto", [{ type: "web_search" }])).toBe("none");
    expect(() => convertChoice("required", [{ type: "web_search" }])).toThrow(
      expect.objectContaining({ code: "unsupported_parameter", param: "tool_choice" }),
    );
  });
});

describe("developers", () => {
  const parts = ["be brief", "be kind"].map((text) => ({ type: "input_text", text }));

  it("say one text, and those who say nothing are no message", () => {
    expect(outline([{ role: "developer", content: parts }, { role: "user", content: [] }, hi])).toEqual([
      ["system", "be brief\n\nbe kind"],
      ["user", "hi"],
    ]);
  });

  it("may offer tools as an item, which are called like others", () => {
    const exec = { type: "custom", name: "exec", description: "runs" };
    const items = [{ type: "additional_tools", role: "developer", tools: [exec, { type: "function", name: "f" }] }, hi];
    const asked = bridge();
    const body = asked.request({ input: items, tools: [{ type: "function", name: "f", description: "first" }] });
    expect(body["messages"]).toEqual([hi]);
    expect(body["tools"]).toMatchObject([
      { function: { name: "f", description: "first" } },
      { function: { name: "exec", parameters: { required: ["input"] } } },
    ]);
    expect(body["tools"]).toHaveLength(2);
    expect(asked.dropped).toEqual([]);
    const tool_calls = [{ id: "a", type: "function", function: { name: "exec", arguments: '{"input":"ls"}' } }];
    expect(asked.answer({ choices: [{ message: { content: null, tool_calls } }] })["output"]).toMatchObject([
      { type: "custom_tool_call", name: "exec", input: "ls" },
    ]);
  });
});

it("an item that only its id stands for is refused with what to do about it", () => {
  const ask = () => bridge().request({ input: [hi, { type: "item_reference", id: "msg_1" }] });
  expect(ask).toThrow(
    expect.objectContaining({ status: 400, message: expect.stringContaining("store: false") as string }),
  );
});
