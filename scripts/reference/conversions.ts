import { FEATURES, type Feature } from "../../packages/gateway/src/dialects/bridges/features.ts";
import { page, table } from "./markdown.ts";

const DIALECTS = [
  ["OpenAI chat", "openai-chat"],
  ["Anthropic", "anthropic-messages"],
  ["Gemini", "gemini-generate"],
  ["OpenAI Responses", "openai-responses"],
] as const;

export function conversions(): string {
  return page(
    "Conversions",
    "packages/gateway/src/dialects/bridges/features.ts",
    "Where client and upstream speak the same protocol nothing is converted and nothing is lost. Otherwise a request goes over OpenAI chat, and this is what becomes of each feature. **preserved** means the same to the upstream, **dropped** is left out and named in the log row, **refused** is answered with 400 `unsupported_parameter`. `packages/gateway/src/dialects/bridges/features.test.ts` sends each of them through the code.",
    "## From chat to an upstream",
    table(["Feature", ...DIALECTS.slice(1).map(([name]) => name), "Remark"], FEATURES.map(fates)),
    "## How each protocol says it",
    table(["Feature", ...DIALECTS.map(([name]) => name)], FEATURES.map(words)),
  );
}

function fates({ name, fate, note = "" }: Feature): string[] {
  return [name, fate["anthropic-messages"], fate["gemini-generate"], fate["openai-responses"], note];
}

function words({ name, words: said }: Feature): string[] {
  return [name, ...DIALECTS.map(([, dialect]) => said[dialect])];
}
