import { describe, expect, it } from "vitest";
import { JsonScanner } from "../../lib/text/json-scanner.ts";
import type { DialectId } from "../../dialects/core/types.ts";
import { checkField, checkMembers, getMemberNames } from "./member-names.ts";
import { jsonBody } from "./read-body.ts";

function check(text: string, dialect: DialectId = "openai-chat"): string | undefined {
  const bytes = Buffer.from(text);
  const scanner = new JsonScanner({ maxDepth: 64, maxValues: 10_000, maxBytes: 100_000 });
  scanner.write(bytes);
  try {
    checkMembers({ json: jsonBody(bytes).json(), bytes, members: scanner.members }, getMemberNames(dialect));
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

describe("members of a body", () => {
  // @weakness Injection and parsing: A member in other letters (Model, N, Max_Tokens) counts upstream and not in the bill
  it.each([
    ['{"model":"cheap","Model":"dear"}', "Model", "model"],
    ['{"model":"m","N":9}', "N", "n"],
    ['{"model":"m","Max_Tokens":9}', "Max_Tokens", "max_tokens"],
    ['{"model":"m","Background":true}', "Background", "background"],
    ['{"model":"m","\\u017ftream":true}', "\u017ftream", "stream"],
    [
      '{"model":"m","stream_options":{"Include_Usage":false}}',
      "stream_options.Include_Usage",
      "stream_options.include_usage",
    ],
    ['{"tools":[{"type":"function"},{"type":"function","Type":"web_search"}]}', "tools.Type", "tools.type"],
    ['{"messages":[{"content":"a","Content":"b"}]}', "messages.Content", "messages.content"],
    [
      '{"messages":[{"content":[{"type":"image_url","image_url":{"Detail":"high"}}]}]}',
      "messages.content.image_url.Detail",
      "messages.content.image_url.detail",
    ],
  ])("%s is refused, naming both", (text, sent, read) => {
    expect(check(text)).toBe(`${sent} differs from ${read} only in its spelling; send ${read}.`);
  });

  // @weakness Injection and parsing: Google's two spellings of one member are sent at once, with different values
  it.each([
    ['{"generationConfig":{"CandidateCount":9}}', "generationConfig.CandidateCount", "generationConfig.candidateCount"],
    ['{"generation_config":{"Candidate_Count":9}}', "candidate_count", "Candidate_Count"],
    ['{"generationConfig":{},"generation_config":{"candidate_count":9}}', "generation_config", "generationConfig"],
    [
      '{"generationConfig":{"candidateCount":1,"candidate_count":9}}',
      "generationConfig.candidate_count",
      "generationConfig.candidateCount",
    ],
  ])("%s is refused for Gemini", (text, sent, read) => {
    expect(check(text, "gemini-generate")).toContain(sent);
    expect(check(text, "gemini-generate")).toContain(read);
  });

  // @weakness Injection and parsing: A doubled member is read once here and once upstream
  it.each([
    ['{"model":"cheap","messages":[],"model":"dear"}', "model"],
    ['{"model":"m","mod\\u0065l":"dear"}', "model"],
    ['{"model":"m","stream_options":{"include_usage":true,"include_usage":false}}', "stream_options.include_usage"],
    ['{"x":1,"x":2}', "x"],
    ['{"messages":[{"role":"user","content":"a","content":"b"}]}', "messages.content"],
    ['{"messages":[{},{"content":[1,{"type":"text","text":"a","text":"b"}]}]}', "messages.content.text"],
    ['{"tools":[ { "type" : "function" , "type" : "web_search" } ]}', "tools.type"],
    ['{"metadata":{"a":1,"a":2},"tools":[{"function":{"name":"a","name":"b"}}]}', "tools.function.name"],
  ])("%s is refused because it repeats a name", (text, name) => {
    expect(check(text)).toBe(`${name} is in the body twice; send it once.`);
  });

  it.each([
    '{"model":"m","messages":[{"role":"user","content":"Model: N"},{"Model":1,"Model":2}],"metadata":{"Model":"x","N":1}}',
    '{"tools":[{"type":"function","function":{"name":"a","parameters":{"Type":1,"properties":{"Model":1,"model":2}}}}]}',
    '{"__proto__":{"Model":1},"constructor":1,"toString":{"x":1}}',
    '{"model":"m","metadata":{"a":1,"a":2},"x":{"y":{"z":1}}}',
  ])("%s passes", (text) => {
    expect(check(text)).toBeUndefined();
  });

  it.each([
    '{"generation_config":{"max_output_tokens":5}}',
    '{"contents":[],"safetySettings":[],"generationConfig":{"maxOutputTokens":5,"topK":1}}',
    '{"contents":[{"parts":[{"functionCall":{"name":"f","args":{"Name":1,"name":2}}}]}]}',
  ])("%s passes for Gemini", (text) => {
    expect(check(text, "gemini-generate")).toBeUndefined();
  });

  it("fields of forms follow the same rule", () => {
    const names = getMemberNames("openai-images");
    for (const name of ["model", "image[]", "image[0]", "prompt", "response_format"])
      expect(() => checkField(name, names)).not.toThrow();
    for (const name of ["Model", "N", "Image[]"]) expect(() => checkField(name, names)).toThrow(/only in its spelling/);
    expect(() => checkField("FILE", getMemberNames("openai-audio"))).toThrow(/only in its spelling/);
  });
});
