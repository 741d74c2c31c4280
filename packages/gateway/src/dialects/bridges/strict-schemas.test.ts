// Anthropic clients whose schemas OpenAI accepts as strict, or refuses.
import { describe, expect, it } from "vitest";
import { run } from "../../../test/kit/bridge-run.ts";
import type { JsonObject } from "../core/types.ts";

const closed = (properties: object, required = Object.keys(properties)) => ({
  type: "object",
  properties,
  required,
  additionalProperties: false,
});
const ask = (input_schema: object) => {
  const bridge = run("anthropic-messages", "openai-chat", "gpt-4.1");
  const tools = [{ name: "f", input_schema, strict: true }];
  const output_config = { format: { type: "json_schema", schema: input_schema } };
  const sent = bridge.request({ max_tokens: 9, messages: [{ role: "user", content: "hi" }], tools, output_config });
  const [tool] = sent["tools"] as JsonObject[];
  const { json_schema } = sent["response_format"] as JsonObject;
  return { tool: tool?.["function"], format: json_schema, dropped: bridge.dropped };
};

describe("a strict schema of an Anthropic client", () => {
  it("reports the types of choices and constants, which its own client leaves out", () => {
    const own = closed({
      kind: { const: "a" },
      sizes: { type: "array", items: { $ref: "#/$defs/size" } },
      either: { anyOf: [closed({ type: { const: 1 } }), { type: "null" }] },
    });
    const reported = closed({
      kind: { type: "string", const: "a" },
      sizes: { type: "array", items: { $ref: "#/$defs/size" } },
      either: { anyOf: [closed({ type: { type: "number", const: 1 } }), { type: "null" }] },
    });
    const size = { enum: ["s", "m"] };
    const { tool, format, dropped } = ask({ ...own, $defs: { size } });
    const strict = { ...reported, $defs: { size: { type: "string", ...size } } };
    expect(tool).toEqual({ name: "f", parameters: strict, strict: true });
    expect(format).toEqual({ name: "answer", schema: strict, strict: true });
    expect(dropped).not.toContain("tools.strict");
  });

  it.each<[string, object]>([
    ["a member may be left out", closed({ a: { type: "string" }, b: { type: "string" } }, ["a"])],
    ["an object is open", { type: "object", properties: { a: { type: "string" } }, required: ["a"] }],
    ["a value may be anything", closed({ a: {} })],
    ["a choice holds several types", closed({ a: { enum: ["a", 1] } })],
    ["a format is unknown", closed({ a: { type: "string", format: "uri" } })],
    ["it holds a word that is refused", closed({ a: { oneOf: [{ type: "string" }, { type: "integer" }] } })],
  ])("is sent as it is, and not as strict, where %s", (_why, schema) => {
    const { tool, format, dropped } = ask(schema);
    expect(tool).toEqual({ name: "f", parameters: schema });
    expect(format).toEqual({ name: "answer", schema });
    expect(dropped).toContain("tools.strict");
  });
});
