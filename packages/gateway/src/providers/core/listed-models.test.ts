import { expect, test } from "vitest";
import { listedText, parseListed, readListedModels } from "./listed-models.ts";

const only = (entry: object) => [...readListedModels({ data: [{ id: "m", ...entry }] }).values()][0];

test.each([
  ["vLLM", { max_model_len: 8192 }, { contextTokens: 8192 }],
  [
    "Groq",
    { context_window: 131_072, max_completion_tokens: 32_768 },
    { contextTokens: 131_072, outputTokens: 32_768 },
  ],
  [
    "OpenRouter",
    {
      context_length: 200_000,
      architecture: { input_modalities: ["text", "image"], output_modalities: ["text"], modality: "text+image->text" },
      top_provider: { context_length: 200_000, max_completion_tokens: 8192 },
    },
    { contextTokens: 200_000, outputTokens: 8192, input: ["text", "image"], output: ["text"] },
  ],
  [
    "LM Studio",
    { type: "vlm", max_context_length: 32_768, loaded_context_length: 4096 },
    { contextTokens: 4096, input: ["text", "image"], output: ["text"] },
  ],
  ["LM Studio's embeddings", { type: "embeddings" }, { input: ["text"], output: ["embeddings"] }],
  ["llama.cpp", { meta: { n_ctx_train: 4096, n_params: 7 } }, { contextTokens: 4096 }],
  ["GitHub", { limits: { max_input_tokens: 9, max_output_tokens: 3 } }, { contextTokens: 9, outputTokens: 3 }],
  ["Anthropic", { max_input_tokens: 200_000, max_tokens: 64_000 }, { contextTokens: 200_000, outputTokens: 64_000 }],
  ["OpenAI, which says nothing", { object: "model", owned_by: "openai" }, undefined],
  [
    "a server that writes nonsense",
    { context_length: -1, max_model_len: "8k", architecture: { input_modalities: [{}] } },
    undefined,
  ],
])("reads what %s lists", (_who, entry, read) => {
  expect(only(entry)).toEqual(read);
});

test("names of Gemini are those of resources, and members of other lists are found where they are", () => {
  const gemini = readListedModels({
    models: [{ name: "models/gemini-x", inputTokenLimit: 1_048_576, outputTokenLimit: 65_536 }],
  });
  expect([...gemini]).toEqual([["gemini-x", { contextTokens: 1_048_576, outputTokens: 65_536 }]]);
  for (const nothing of [undefined, null, 5, "text", { data: 5 }, { data: [null, 1, "m", {}] }])
    expect(readListedModels(nothing).size).toBe(0);
});

test("what one server lists is nothing about another", () => {
  const text = listedText("1 https://a", new Map([["m", { contextTokens: 5 }]]));
  expect([...parseListed(text, "1 https://a")]).toEqual([["m", { contextTokens: 5 }]]);
  for (const [stored, place] of [
    [text, "1 https://b"],
    [null, ""],
    ["", ""],
    ["{", ""],
  ] as const)
    expect(parseListed(stored, place).size).toBe(0);
});
