import { describe, expect, it } from "vitest";
import { run } from "../../../../test/kit/bridge-run.ts";

const gemini = () => run("openai-chat", "gemini-generate", "gemini-3-pro");
const messages = [{ role: "user", content: "hi" }];

describe("members of Google's own chat endpoint, on native Gemini", () => {
  it("takes the signature of a call from extra_content", () => {
    const call = {
      id: "c1",
      type: "function",
      function: { name: "f", arguments: "{}" },
      extra_content: { google: { thought_signature: "sig-1" } },
    };
    const body = {
      tools: [{ type: "function", function: { name: "f" } }],
      messages: [
        ...messages,
        { role: "assistant", tool_calls: [call] },
        { role: "tool", tool_call_id: "c1", content: "1" },
      ],
    };
    expect(JSON.stringify(gemini().request(body))).toContain('"thoughtSignature":"sig-1"');
  });

  it("takes thinking and cached content from extra_body", () => {
    const google = {
      thinking_config: { thinking_budget: 7, include_thoughts: true },
      cached_content: "cachedContents/1",
    };
    const conversion = gemini();
    expect(conversion.request({ messages, extra_body: { google } })).toMatchObject({
      generationConfig: { thinkingConfig: { thinkingBudget: 7, includeThoughts: true } },
      cachedContent: "cachedContents/1",
    });
    expect(conversion.dropped).toEqual([]);
  });
});
