// Numbers of tool inputs, results and schemas on their way through every conversion, in both directions.
import { describe, expect, it } from "vitest";
import { exactJson } from "../../src/dialects/core/request-spec.ts";
import type { DialectId, JsonObject } from "../../src/dialects/core/types.ts";
import { findBridges } from "../../src/dialects/find-bridges.ts";
import { parseJson } from "../../src/lib/text/json.ts";
import { encodeBlock } from "../../src/lib/text/sse.ts";
import { jsonBody } from "../../src/relay/body/read-body.ts";
import {
  beginConversions,
  createStreamTranslation,
  translateAnswer,
  translateRequest,
} from "../../src/relay/conversion/translate.ts";
import { allProviders } from "../../src/providers/registry.ts";
import { createBridgeContext, createRequestSpec } from "../kit/provider-kit.ts";
import { dialect, PROTOCOLS, type ChatLike } from "./response-meaning.ts";

const NUMBERS = "12345678901234567890,1e400,-0,0.12345678901234567891,9007199254740993";
const ARGS = `{"n":[${NUMBERS}]}`;
const SCHEMA = `{"type":"object","properties":{"n":{"type":"array","items":{"type":"number","enum":[${NUMBERS}]}}}}`;
const quoted = JSON.stringify(ARGS);

const REQUESTS: Readonly<Record<ChatLike, string>> = {
  "openai-chat": `{"model":"m","tools":[{"type":"function","function":{"name":"f","parameters":${SCHEMA}}}],"messages":[{"role":"user","content":"u"},{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":${quoted}}}]},{"role":"tool","tool_call_id":"c1","content":${quoted}}]}`,
  "anthropic-messages": `{"model":"m","max_tokens":99,"tools":[{"name":"f","input_schema":${SCHEMA}}],"messages":[{"role":"user","content":"u"},{"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"f","input":${ARGS}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":${quoted}}]}]}`,
  "gemini-generate": `{"tools":[{"functionDeclarations":[{"name":"f","parametersJsonSchema":${SCHEMA}}]}],"contents":[{"role":"user","parts":[{"text":"u"}]},{"role":"model","parts":[{"functionCall":{"name":"f","args":${ARGS}}}]},{"role":"user","parts":[{"functionResponse":{"name":"f","response":${ARGS}}}]}]}`,
  "openai-responses": `{"model":"m","tools":[{"type":"function","name":"f","parameters":${SCHEMA}}],"input":[{"role":"user","content":"u"},{"type":"function_call","call_id":"c1","name":"f","arguments":${quoted}},{"type":"function_call_output","call_id":"c1","output":${quoted}}]}`,
};

const ANSWERS: Readonly<Record<ChatLike, string>> = {
  "openai-chat": `{"id":"1","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":${quoted}}}]},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}`,
  "anthropic-messages": `{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[{"type":"tool_use","id":"c1","name":"f","input":${ARGS}}],"stop_reason":"tool_use","stop_sequence":null,"usage":{"input_tokens":1,"output_tokens":1}}`,
  "gemini-generate": `{"candidates":[{"content":{"role":"model","parts":[{"functionCall":{"name":"f","args":${ARGS}}}]},"finishReason":"STOP","index":0}],"usageMetadata":{"promptTokenCount":1,"candidatesTokenCount":1,"totalTokenCount":2}}`,
  "openai-responses": `{"id":"resp_1","object":"response","created_at":1,"model":"m","status":"completed","output":[{"type":"function_call","id":"fc_1","call_id":"c1","name":"f","arguments":${quoted},"status":"completed"}],"usage":{"input_tokens":1,"output_tokens":1,"total_tokens":2}}`,
};

/** How often the numbers stand in a JSON text, in strings or outside of them. */
function count(text: string): number {
  return text.split(NUMBERS).length - 1;
}

function way(client: DialectId, upstream: DialectId) {
  const extra = allProviders.flatMap(({ bridges = [] }) => bridges).filter((bridge) => bridge.upstream === upstream);
  const bridges = findBridges(client, upstream, extra);
  if (bridges === undefined) throw new Error(`no way from ${client} to ${upstream}`);
  const upstreamModel = upstream === "anthropic-messages" ? "claude-sonnet-4-5" : "some-model";
  const spec = createRequestSpec({ dialect: client, stream: true, model: "m" });
  return { bridges, context: createBridgeContext({ spec, upstreamModel, setting: { parameters_json_schema: true } }) };
}

const PRIVATE = [
  "private:aws-converse",
  "private:ollama-chat",
  "private:cohere-chat",
  "private:ali-chat",
  "private:perplexity-agent",
];
const requests = PROTOCOLS.flatMap((client) =>
  [...PROTOCOLS, ...PRIVATE]
    .filter((upstream) => upstream !== client)
    .map((upstream) => [client, upstream as DialectId] as const),
);

describe("requests keep the numbers of inputs, results and schemas", () => {
  // @weakness Injection and parsing: long numbers of a tool's input reach the model or the tool with another value
  it.each(requests)("from %s to %s", (client, upstream) => {
    const { bridges, context } = way(client, upstream);
    const sent = JSON.stringify(
      translateRequest(beginConversions(bridges, context), exactJson(jsonBody(Buffer.from(REQUESTS[client])))),
    );
    expect(count(sent), sent).toBe(3);
  });
});

const answers = PROTOCOLS.flatMap((client) =>
  PROTOCOLS.filter((upstream) => upstream !== client).map((upstream) => [client, upstream] as const),
);

describe("answers keep the numbers of inputs", () => {
  it.each(answers)("to %s from %s", (client, upstream) => {
    const { bridges, context } = way(client, upstream);
    const answer = parseJson(ANSWERS[upstream]) as JsonObject;
    const whole = JSON.stringify(translateAnswer(beginConversions(bridges, context), answer));
    expect(count(whole), whole).toBeGreaterThan(0);
  });

  it.each(answers)("to %s from a stream of %s", (client, upstream) => {
    const { bridges, context } = way(client, upstream);
    const stream = dialect(upstream).toStream(parseJson(ANSWERS[upstream]) as JsonObject, context.spec);
    const translation = createStreamTranslation(beginConversions(bridges, context), upstream);
    const out = Buffer.concat([translation.blocks(stream), translation.end()]);
    expect(count(out.toString()), out.toString()).toBeGreaterThan(0);
  });

  it("of calls that the upstream made at a server of MCP", () => {
    const call = `{"type":"mcp_call","id":"mcp_1","server_label":"s","name":"f","arguments":${quoted},"output":"o","error":null}`;
    const answer = `{"id":"resp_1","object":"response","created_at":1,"model":"m","status":"completed","output":[${call}],"usage":null}`;
    const { bridges, context } = way("anthropic-messages", "openai-responses");
    const whole = JSON.stringify(translateAnswer(beginConversions(bridges, context), parseJson(answer) as JsonObject));
    expect(count(whole), whole).toBe(1);
  });

  it("of Converse and Ollama, whole", () => {
    const converse = `{"output":{"message":{"role":"assistant","content":[{"toolUse":{"toolUseId":"c1","name":"f","input":${ARGS}}}]}},"stopReason":"tool_use","usage":{"inputTokens":1,"outputTokens":1}}`;
    const ollama = `{"model":"m","message":{"role":"assistant","content":"","tool_calls":[{"function":{"name":"f","arguments":${ARGS}}}]},"done":true}`;
    for (const [upstream, text] of [
      ["private:aws-converse", converse],
      ["private:ollama-chat", ollama],
    ] as const) {
      const { bridges, context } = way("anthropic-messages", upstream);
      expect(
        count(JSON.stringify(translateAnswer(beginConversions(bridges, context), parseJson(text) as JsonObject))),
      ).toBe(1);
    }
    const { bridges, context } = way("openai-chat", "private:ollama-chat");
    const out = createStreamTranslation(beginConversions(bridges, context), "private:ollama-chat").blocks(
      Buffer.from(encodeBlock(ollama)),
    );
    expect(count(out.toString())).toBe(1);
  });
});
