import { CLAUDE_MODELS } from "../anthropic/models.ts";
import { GEMINI_MODELS } from "../google/models.ts";

const OPEN_MODELS: readonly string[] = [
  "meta/llama-4-maverick-17b-128e-instruct-maas",
  "meta/llama-3.3-70b-instruct-maas",
  "deepseek-ai/deepseek-v3.2-maas",
  "openai/gpt-oss-120b-maas",
  "qwen/qwen3-235b-a22b-instruct-2507-maas",
  "zai-org/glm-5-maas",
  "moonshotai/kimi-k2-thinking-maas",
  "text-embedding-005",
  "meta/llama3-405b-instruct-maas",
];

/** Models of other publishers, then Anthropic's and Google's. */
export const VERTEX_MODELS: readonly string[] = [...OPEN_MODELS, ...CLAUDE_MODELS, ...GEMINI_MODELS];
