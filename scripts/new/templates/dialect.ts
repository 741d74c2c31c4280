// A client protocol that passes through to upstreams of the same protocol: one JSON body, one JSON answer.
import type { Names } from "../names.ts";

export function dialect({ kebab, camel }: Names): string {
  return `import { invalidRequest } from "../../lib/app-error.ts";
import { estimateTokenBound, collectTexts, collectWords, type PromptReader } from "../core/prompt.ts";
import { text } from "../core/read.ts";
import { readModelName } from "../core/request-spec.ts";
import { plainDialect, usageMember } from "../core/typed-meter.ts";
import type { Dialect, JsonObject } from "../core/types.ts";
import { readChatUsage } from "../core/usage.ts";

export const ${camel}: Dialect = {
  ...plainDialect,
  id: "${kebab}",
  inspect(body, operation, pathModel) {
    const json = body.json();
    if (!text(json, "input")) throw invalidRequest("input", "input is required.");
    return {
      operation,
      dialect: "${kebab}",
      model: readModelName(json, pathModel),
      stream: false,
      wantsStreamUsage: false,
      outputCap: undefined,
      promptEstimate: estimateTokenBound((reader) => walk(json, reader)),
      units: 1,
    };
  },
  usage: (answer) => usageMember(answer, readChatUsage),
  promptTexts: (body) => collectTexts((reader) => walk(body.json(), reader)),
  promptWords: (body) => collectWords((reader) => walk(body.json(), reader)),
};

function walk(json: JsonObject, reader: PromptReader): void {
  reader.text(text(json, "input") ?? "");
}
`;
}

export function dialectTest({ kebab, camel }: Names): string {
  return `import { expect, test } from "vitest";
import { jsonBody } from "../../relay/body/read-body.ts";
import { ${camel} } from "./${kebab}.ts";

const createBody = (json: unknown) => jsonBody(Buffer.from(JSON.stringify(json)));

test("reads the model and the words of a request", () => {
  const body = createBody({ model: "m", input: "hello" });
  expect(${camel}.inspect(body, "${kebab}", undefined)).toMatchObject({ model: "m", stream: false });
  expect(${camel}.promptWords(body)).toEqual(["hello"]);
});

test("refuses a request without input", () => {
  expect(() => ${camel}.inspect(createBody({ model: "m" }), "${kebab}", undefined)).toThrow("input is required.");
});

test("reads the usage of an answer", () => {
  const usage = ${camel}.usage({ usage: { prompt_tokens: 3, completion_tokens: 0, total_tokens: 3 } });
  expect(usage).toMatchObject({ input: 3 });
});
`;
}
