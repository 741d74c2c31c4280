import { parseAwsKey } from "./key.ts";

const SPECIAL: Readonly<Record<string, string>> = {
  "claude-instant-1.2": "anthropic.claude-instant-v1",
  "claude-2.0": "anthropic.claude-v2",
  "claude-2.1": "anthropic.claude-v2:1",
  "claude-3-5-sonnet-20241022": "anthropic.claude-3-5-sonnet-20241022-v2:0",
  "claude-opus-4-6": "anthropic.claude-opus-4-6-v1",
};

/** Models that are only reached through an inference profile of the region's part of the world. */
const PROFILE_ONLY = /^anthropic\.claude-(?:3-7|(?:opus|sonnet|haiku|fable)-[4-9])/;
const PARTS: Readonly<Record<string, string>> = { us: "us", eu: "eu", ap: "apac", ca: "us" };

/** The vendor's id of a model; names with a vendor, a profile or an ARN stay as they are. */
export function bedrockId(named: string, key: string): string {
  const model = named.replace(/-thinking$/, "");
  const id =
    SPECIAL[model] ?? (model.startsWith("claude") ? `anthropic.${model.replace(/-(\d{8})$/, "-$1-v1:0")}` : model);
  if (!PROFILE_ONLY.test(id)) return id;
  const { region } = parseAwsKey(key);
  const part = region.startsWith("us-gov") ? "us-gov" : (PARTS[region.slice(0, 2)] ?? "global");
  return `${part}.${id}`;
}

export function isClaude(model: string): boolean {
  return /^(?:claude|anthropic\.|[a-z-]+\.anthropic\.)/.test(model) || /arn:.*anthropic\./.test(model);
}

/** Models of OpenAI are served under its own protocol. */
export function isOpenAi(model: string): boolean {
  return model.startsWith("openai.");
}
