import { describe, expect, it } from "vitest";
import { createBridgeContext } from "../../../test/kit/provider-kit.ts";
import { findBridges } from "../../dialects/find-bridges.ts";
import { beginConversions, translateRequest } from "../../relay/conversion/translate.ts";
import type { Bridge } from "../../dialects/core/bridge.ts";
import type { JsonObject } from "../../dialects/core/types.ts";
import { allProviders } from "../registry.ts";

const NAMES = ["db.query:run", "mcp__server__".padEnd(100, "x"), "größe"];

const request = (name: string): JsonObject => ({
  model: "m",
  max_tokens: 9,
  tools: [{ type: "function", function: { name, parameters: { type: "object", properties: {} } } }],
  messages: [
    { role: "user", content: "hi" },
    { role: "assistant", tool_calls: [{ id: "c1", type: "function", function: { name, arguments: "{}" } }] },
    { role: "tool", tool_call_id: "c1", content: "done" },
    { role: "user", content: "continue" },
  ],
});

/** Vendors' own protocols whose requests carry tools. */
const WITH_TOOLS = allProviders
  .flatMap(({ id, bridges = [] }) => bridges.map((bridge) => [id, bridge] as const))
  .filter(([, { client }]) => client === "openai-chat")
  .filter(([, bridge]) => takesTools(bridge));

function takesTools(bridge: Bridge): boolean {
  try {
    return JSON.stringify(sentBy([bridge], "plain_name")).includes("plain_name");
  } catch {
    return false;
  }
}

function sentBy(path: readonly Bridge[], name: string): JsonObject {
  return translateRequest(beginConversions(path, createBridgeContext()), request(name));
}

describe("tools at vendors with a protocol of their own", () => {
  it("are found", () => {
    expect(WITH_TOOLS.map(([id]) => id)).toEqual(expect.arrayContaining(["aws", "baidu", "cohere", "ollama"]));
  });

  it.each(WITH_TOOLS)("of %s are sent under names that it takes", (_id, bridge) => {
    for (const name of NAMES) {
      const path = findBridges("openai-chat", bridge.upstream, [bridge]) ?? [];
      const sent = JSON.stringify(sentBy(path, name));
      expect(sent).not.toContain(name);
      expect(sent).toMatch(/[a-zA-Z0-9_][\w-]{1,54}_[0-9a-f]{8}/);
    }
  });

  it("of Cohere have no dash and no digit in front", () => {
    const bridge = WITH_TOOLS.find(([id]) => id === "cohere")?.[1];
    if (!bridge) throw new Error("Cohere has no bridge");
    const path = findBridges("openai-chat", bridge.upstream, [bridge]) ?? [];
    const [tool] = sentBy(path, "1-read")["tools"] as { function: { name: string } }[];
    expect(tool?.function.name).toMatch(/^[a-zA-Z_]\w*$/);
  });
});
