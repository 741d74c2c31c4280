import { claudeModel } from "../../../dialects/bridges/parts/models/claude-models.ts";
import { parseAwsKey } from "./key.ts";

const SPECIAL: Readonly<Record<string, string>> = {
  "claude-instant-1.2": "anthropic.claude-instant-v1",
  "claude-2.0": "anthropic.claude-v2",
  "claude-2.1": "anthropic.claude-v2:1",
  "claude-3-5-sonnet-20241022": "anthropic.claude-3-5-sonnet-20241022-v2:0",
  "claude-opus-4-6": "anthropic.claude-opus-4-6-v1",
};

/** Models that can only be called through an inference profile of the region's part of the world. */
const PROFILE_ONLY = /^anthropic\.claude-(?:3-7|(?:opus|sonnet|haiku|fable)-[4-9])/;
const PARTS: Readonly<Record<string, string>> = { us: "us", eu: "eu", ap: "apac", ca: "us" };
const COUNTRIES: Readonly<Record<string, string>> = {
  "ap-northeast-1": "jp",
  "ap-northeast-3": "jp",
  "ap-southeast-2": "au",
  "ap-southeast-4": "au",
};

/** Returns the vendor's id of a model; names with a vendor, a profile or an ARN stay as they are. */
export function bedrockId(named: string, key: string): string {
  const model = named.replace(/-thinking$/, "");
  const id =
    SPECIAL[model] ?? (model.startsWith("claude") ? `anthropic.${model.replace(/-(\d{8})$/, "-$1-v1:0")}` : model);
  if (!PROFILE_ONLY.test(id)) return id;
  return `${findPartition(parseAwsKey(key).region, id)}.${id}`;
}

/**
 * Returns the region's profile prefix. Since 4.5, there is no profile for all of Asia and the Pacific any more, but one
 * for each of two countries.
 */
function findPartition(region: string, id: string): string {
  if (region.startsWith("us-gov")) return "us-gov";
  const part = PARTS[region.slice(0, 2)] ?? "global";
  return part === "apac" && claudeModel(id).version >= 405 ? (COUNTRIES[region] ?? "global") : part;
}

export function isClaude(model: string): boolean {
  return /^(?:claude|anthropic\.|[a-z-]+\.anthropic\.)/.test(model) || /arn:.*anthropic\./.test(model);
}

/** True for models of OpenAI, which are served over OpenAI's own protocol. */
export function isOpenAi(model: string): boolean {
  return model.startsWith("openai.");
}
