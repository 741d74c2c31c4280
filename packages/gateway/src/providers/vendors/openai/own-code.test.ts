import { expect, it } from "vitest";
import { createRequestSpec, createChannelRecord } from "../../../../test/kit/provider-kit.ts";
import { buildRunItem } from "../../../dialects/bridges/parts/tools/hosted-runs.ts";
import { itemId } from "../../../dialects/bridges/responses-to-chat/own-ids.ts";
import { ownCode } from "./own-code.ts";

const spec = createRequestSpec({ dialect: "openai-responses", operation: "responses" });
const apply = (body: object) => ownCode.apply(body as never, spec, "gpt-5.2", createChannelRecord());

it("code that another vendor ran is text for OpenAI, which knows no container of it", () => {
  const id = itemId("ci", 0, { requestId: "01K8Z6N4Q5R7S9T0V2W3X4Y5Z6" } as never);
  const run = { kind: "code_execution", language: "python", code: "1+1", output: "two", errors: "", status: 0 };
  const item = buildRunItem(id, { ...run, isDone: true });
  const text = "\n```python\n1+1\n```\n\n```\ntwo\n```\n";
  expect(apply({ input: [item, { role: "user", content: "more" }] })["input"]).toEqual([
    { type: "message", role: "assistant", content: [{ type: "output_text", text, annotations: [] }] },
    { role: "user", content: "more" },
  ]);
});

it("code that it ran itself stays byte for byte", () => {
  const body = { input: [{ type: "code_interpreter_call", id: "ci_68f", container_id: "cntr_1", code: "1" }] };
  expect(apply(body)).toBe(body);
});
