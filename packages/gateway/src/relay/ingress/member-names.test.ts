import { describe, expect, it } from "vitest";
import { JsonScanner } from "../../lib/text/json-scanner.ts";
import { checkField, checkMembers } from "./member-names.ts";
import { jsonBody } from "./read-body.ts";

function check(text: string): string | undefined {
  const bytes = Buffer.from(text);
  const scanner = new JsonScanner({ maxDepth: 64, maxValues: 10_000, maxBytes: 100_000 });
  scanner.write(bytes);
  try {
    checkMembers(jsonBody(bytes).json(), bytes, scanner);
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
    ['{"generationConfig":{"CandidateCount":9}}', "generationConfig.CandidateCount", "generationConfig.candidateCount"],
    ['{"generationConfig":{},"generation_config":{"candidate_count":9}}', "generation_config", "generationConfig"],
    [
      '{"generationConfig":{"candidateCount":1,"candidate_count":9}}',
      "generationConfig.candidate_count",
      "candidateCount",
    ],
  ])("%s is refused, naming both", (text, sent, read) => {
    expect(check(text)).toContain(sent);
    expect(check(text)).toContain(read);
  });

  // @weakness Injection and parsing: A doubled member is read once here and once upstream
  it.each([
    ['{"model":"cheap","messages":[],"model":"dear"}', "model"],
    ['{"model":"m","mod\\u0065l":"dear"}', "model"],
    ['{"model":"m","stream_options":{"include_usage":true,"include_usage":false}}', "stream_options.include_usage"],
    ['{"x":1,"x":2}', "x"],
  ])("%s is refused for the name that stands twice", (text, name) => {
    expect(check(text)).toBe(`${name} stands in the body twice; send it once.`);
  });

  it.each([
    '{"model":"m","messages":[{"role":"user","content":"Model: N"},{"Model":1,"Model":2}],"metadata":{"Model":"x","N":1}}',
    '{"model":"m","metadata":{"a":1,"a":2},"x":{"y":{"z":1}}}',
    '{"generation_config":{"max_output_tokens":5}}',
    '{"contents":[],"safetySettings":[],"generationConfig":{"maxOutputTokens":5,"topK":1}}',
  ])("%s passes", (text) => {
    expect(check(text)).toBeUndefined();
  });

  it("fields of forms follow the same rule", () => {
    for (const name of ["model", "image[]", "image[0]", "prompt", "response_format"])
      expect(() => checkField(name)).not.toThrow();
    for (const name of ["Model", "FILE", "Image[]"]) expect(() => checkField(name)).toThrow(/only in its spelling/);
  });
});
