import { describe, expect, it } from "vitest";
import { createRequestSpec, createBridgeContext, createChannelRecord } from "../../../test/kit/provider-kit.ts";
import type { DialectId, JsonObject } from "../../dialects/core/types.ts";
import { isSet } from "../../dialects/core/read.ts";
import { allProviders as providers } from "../registry.ts";
import { findLost } from "./lost-members.ts";

function requireProvider(id: string) {
  const found = providers.find((provider) => provider.id === id);
  if (!found) throw new Error(`no provider ${id}`);
  return found;
}

/** Returns what a provider's transforms lose from a request in its own protocol. */
function lostBy(id: string, model: string, body: JsonObject, dialect: DialectId = "openai-chat"): string[] {
  const lost: string[] = [];
  let current = body;
  for (const transform of requireProvider(id).requestTransforms ?? []) {
    if (!(transform.on ?? ["openai-chat"]).includes(dialect)) continue;
    const next = transform.apply(current, createRequestSpec({ dialect, model }), model, createChannelRecord());
    lost.push(...findLost(current, next, transform.rewords));
    current = next;
  }
  return [...new Set(lost)];
}

/** Returns what a provider's own bridge loses from a request. */
function lostByBridge(id: string, client: DialectId, body: JsonObject): string[] {
  const bridge = requireProvider(id).bridges?.find((candidate) => candidate.client === client);
  if (!bridge) throw new Error(`${id} has no bridge for ${client}`);
  const context = createBridgeContext({ spec: createRequestSpec({ dialect: client, model: "m" }), upstreamModel: "m" });
  bridge.begin(context).request(body);
  return context.lost;
}

const messages = [{ role: "user", content: "u" }];

describe("what a transform loses is read off its result", () => {
  it.each<[string, JsonObject, JsonObject, string[]]>([
    ["a missing member", { a: 1, b: 2 }, { a: 1 }, ["b"]],
    ["a renamed member", { a: 1 }, { b: 1 }, []],
    ["a lowered number", { a: 2 }, { a: 1 }, ["a"]],
    ["a shorter list", { a: [1, 2] }, { a: [1] }, ["a"]],
    ["a text that became a list", { a: "x" }, { a: ["x"] }, []],
    ["a member of an item", { a: [{ b: 1, c: 2 }] }, { a: [{ b: 1 }] }, ["a.c"]],
    ["another word in an item", { a: [{ b: 1 }] }, { a: [{ b: 2 }] }, []],
    ["a nested value", { a: { b: "high" } }, { a: { b: "low" } }, ["a.b"]],
    ["null, which says nothing", { a: null }, {}, []],
    ["what the gateway sets", { model: "a", stream: true, stream_options: {} }, { model: "b" }, []],
  ])("%s", (_name, before, after, lost) => expect(findLost(before, after)).toEqual(lost));

  it("leaves out what the transform says in other words", () =>
    expect(findLost({ a: 1, b: 2 }, {}, ["a"])).toEqual(["b"]));
});

describe("every provider names what it leaves out or changes", () => {
  it.each<[string, string, JsonObject, string[]]>([
    [
      "mistral",
      "m",
      { top_k: 5, min_p: 0.1, repetition_penalty: 1.1, seed: 1 },
      ["top_k", "min_p", "repetition_penalty"],
    ],
    ["mistral", "m", { temperature: 1.8, reasoning_effort: "low" }, ["temperature", "reasoning_effort"]],
    ["mistral", "m", { tools: [], tool_choice: "required" }, []],
    ["deepseek", "m", { reasoning_effort: "low" }, ["reasoning_effort"]],
    ["deepseek", "m", { reasoning_effort: "none" }, []],
    ["zhipu_4v", "m", { temperature: 1.4, top_p: 1, stop: "x", n: 2 }, ["temperature", "top_p", "n"].toSorted()],
    ["groq", "qwen3", { reasoning_effort: "high", logit_bias: { "1": 2 } }, ["logit_bias", "reasoning_effort"]],
    ["openrouter", "m", { reasoning_effort: "high" }, []],
    ["openai", "gpt-5.1", { reasoning_effort: "max", max_tokens: 5 }, ["reasoning_effort"]],
    ["ali", "m", { top_p: 1 }, ["top_p"]],
  ])("%s with %s and %j", (id, model, body, lost) =>
    expect(lostBy(id, model, { model, messages, ...body }).toSorted()).toEqual(lost.toSorted()),
  );

  it("in embeddings of Mistral", () =>
    expect(
      lostBy("mistral", "m", { model: "m", input: "a", dimensions: 2, truncate: true }, "openai-embeddings"),
    ).toEqual(["truncate"]));

  it.each(["tencent", "minimax", "baidu", "cohere", "vertex", "aws", "ali", "ollama"])(
    "in embeddings of %s: every member that no one reads",
    (id) => {
      const body = { model: "m", input: ["a"], dimensions: 2, user: "u", unheard_of: 1, encoding_format: "float" };
      const lost = lostByBridge(id, "openai-embeddings", body);
      expect(lost).toContain("unheard_of");
      expect(lost).not.toContain("encoding_format");
      const carried = JSON.stringify(sentBy(id, body));
      for (const [name, value] of [
        ["dimensions", 2],
        ["user", '"u"'],
      ] as const)
        expect(lost.includes(name) || carried.includes(String(value)), name).toBe(true);
    },
  );

  it.each<[string, JsonObject, string[]]>([
    ["cohere", { temperature: 1.5, stop: ["a", "b", "c", "d", "e", "f"] }, ["temperature", "stop"]],
    [
      "baidu",
      { temperature: 1.5, frequency_penalty: -1, max_tokens: 1 },
      ["temperature", "frequency_penalty", "max_tokens"],
    ],
    ["xunfei", { temperature: 1.5, top_k: 50 }, ["temperature", "top_k"]],
  ])("values that the bridge of %s changes", (id, body, lost) =>
    expect(lostByBridge(id, "openai-chat", { model: "m", messages, ...body }).toSorted()).toEqual(lost.toSorted()),
  );
});

function sentBy(id: string, body: JsonObject): JsonObject {
  const bridge = requireProvider(id).bridges?.find(({ client }) => client === "openai-embeddings");
  return bridge?.begin(createBridgeContext({ upstreamModel: "m" })).request(body) ?? {};
}

it("no transform throws for a request of the smallest kind", () => {
  for (const provider of providers)
    for (const { on = ["openai-chat" as const], apply } of provider.requestTransforms ?? [])
      for (const dialect of on)
        expect(
          isSet(apply({ model: "m", messages: [] }, createRequestSpec({ dialect }), "m", createChannelRecord())),
        ).toBe(true);
});
