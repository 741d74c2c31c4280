import { afterAll, expect, it } from "vitest";
import { createTokenCounter } from "../../billing/tokenizer/token-counter.ts";
import { jsonBody } from "../../relay/body/read-body.ts";
import { countTexts } from "../../relay/response/whole-sink.ts";
import { openaiEmbeddings } from "./openai-embeddings.ts";

const counter = createTokenCounter();
afterAll(() => counter.stop());

it("inputs without usage from the upstream are counted apart", async () => {
  const model = "text-embedding-3-small";
  const count = (input: unknown) =>
    countTexts(counter, model, openaiEmbeddings.promptTexts(jsonBody(Buffer.from(JSON.stringify({ model, input })))));
  const inputs = ["un", "believ", "able", "un", "believ", "able"];
  const alone = await Promise.all(inputs.map((input) => count(input)));
  expect(await count(inputs)).toBe(alone.reduce((sum, tokens) => sum + tokens, 0));
});
