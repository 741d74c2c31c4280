import { describe, expect, it } from "vitest";
import { isContextOverflow, overflowMessage } from "./context-overflow.ts";

const VLLM =
  "This model's maximum context length is 4096 tokens. However, you requested 5210 tokens (3210 in the messages, 2000 in the completion). Please reduce the length of the messages or completion.";
const VLLM_CAP =
  "'max_tokens' or 'max_completion_tokens' is too large: 5000. This model's maximum context length is 4096 tokens and your request has 3000 input tokens (5000 > 4096 - 3000).";
const OPENAI =
  "This model's maximum context length is 128000 tokens. However, your messages resulted in 130001 tokens. Please reduce the length of the messages.";

describe("isContextOverflow", () => {
  it.each([
    OPENAI,
    VLLM,
    VLLM_CAP,
    "prompt is too long: 208310 tokens > 200000 maximum",
    "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
    "Input is too long for requested model.",
    "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
    "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length",
    "the request exceeds the available context size, try increasing it",
    "input length exceeds maximum context length",
    "Your request exceeded model token limit: 8192 (requested: 9001)",
    "Your input exceeds the context window of this model. Please adjust your input and try again.",
    "Range of input length should be [1, 30720]",
    "invalid params, context window exceeds limit (2013)",
    "Please reduce the length of the messages or completion.",
  ])("%s", (message) => {
    expect(isContextOverflow(message, undefined)).toBe(true);
  });

  it.each([
    "Rate limit reached for gpt-4o on tokens per min (TPM): Limit 30000, Used 29000, Requested 2000.",
    "The model `gpt-9` does not exist",
    "max_tokens must be at most 8192",
    "You exceeded your current quota",
  ])("not: %s", (message) => {
    expect(isContextOverflow(message, undefined)).toBe(false);
  });

  it("believes the code without a sentence", () => {
    expect(isContextOverflow("no", "context_length_exceeded")).toBe(true);
  });
});

describe("overflowMessage", () => {
  it.each([
    ["anthropic", OPENAI, "prompt is too long: 130001 tokens > 128000 maximum"],
    [
      "anthropic",
      VLLM,
      "input length and `max_tokens` exceed context limit: 3210 + 2000 > 4096, decrease input length or `max_tokens` and try again",
    ],
    [
      "anthropic",
      VLLM_CAP,
      "input length and `max_tokens` exceed context limit: 3000 + 5000 > 4096, decrease input length or `max_tokens` and try again",
    ],
    [
      "anthropic",
      "Input is too long for requested model.",
      "prompt is too long: Input is too long for requested model.",
    ],
    [
      "gemini",
      "prompt is too long: 208310 tokens > 200000 maximum",
      "The input token count (208310) exceeds the maximum number of tokens allowed (200000).",
    ],
    [
      "openai",
      "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
      "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
    ],
    [
      "openai",
      "the request (9,001 tokens) exceeds the available context size (8192 tokens), try increasing it",
      "This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens. Please reduce the length of the messages.",
    ],
    [
      "openai-responses",
      "Input is too long for requested model.",
      "This request exceeds the maximum context length of the model: Input is too long for requested model.",
    ],
  ] as const)("%s clients: %s", (dialect, message, expected) => {
    expect(overflowMessage(dialect, message)).toBe(expected);
  });

  it("keeps the words of the client's own protocol", () => {
    const own = "prompt is too long: 208310 tokens > 200000 maximum";
    expect(overflowMessage("anthropic", own)).toBe(own);
    expect(overflowMessage("openai", OPENAI)).toBe(OPENAI);
  });
});
