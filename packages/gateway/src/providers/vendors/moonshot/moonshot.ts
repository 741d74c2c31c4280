import { olderLimitName } from "../../core/request-transforms/output-limit.ts";
import { isObject, object, objects } from "../../../dialects/core/read.ts";
import type { JsonObject } from "../../../dialects/core/types.ts";
import { requireAmount } from "../../core/amount.ts";
import { joinUrl } from "../../core/join-url.ts";
import { bearerHeaders, getJson } from "../../core/model-list.ts";
import { OPENAI_FILES, openaiCompatible } from "../../core/openai-compatible.ts";
import { noDeveloperRole } from "../../core/request-transforms/roles.ts";
import { thinkingOff } from "../../core/request-transforms/thinking-off.ts";
import { onEvent } from "../../core/response-transforms/each-choice.ts";
import type { ResponseTransform, ChannelRecord, HttpJson } from "../../core/types.ts";

const BASE = "https://api.moonshot.cn";

async function balance(channel: ChannelRecord, key: string, http: HttpJson): Promise<number> {
  const json = await getJson(http, joinUrl(channel.baseUrl || BASE, "/v1/users/me/balance").href, bearerHeaders(key));
  return requireAmount(isObject(json) ? object(json, "data") : undefined, "available_balance");
}

/** Moves usage next to the choices, where clients expect it; the vendor puts it into the first choice. */
const usageOutside: ResponseTransform = {
  name: "usage next to the choices",
  marks: ['"usage":{', '"usage": {'],
  stream: ({ spec }) => (spec.wantsStreamUsage ? onEvent(lifted) : undefined),
};

function lifted(chunk: JsonObject): JsonObject {
  const [choice] = objects(chunk, "choices");
  const usage = object(choice, "usage");
  return usage === undefined || isObject(chunk["usage"]) ? chunk : { ...chunk, usage };
}

export const moonshot = openaiCompatible({
  type: 25,
  id: "moonshot",
  label: "Moonshot",
  baseUrl: BASE,
  files: OPENAI_FILES,
  namedBases: { "kimi-coding-plan": "https://api.kimi.com/coding/v1" },
  models: [
    "kimi-latest",
    "kimi-k2.6",
    "kimi-k2-thinking",
    "kimi-k2-turbo-preview",
    "moonshot-v1-auto",
    "moonshot-v1-8k",
    "moonshot-v1-32k",
    "moonshot-v1-128k",
    "moonshot-v1-8k-vision-preview",
    "moonshot-v1-32k-vision-preview",
    "moonshot-v1-128k-vision-preview",
  ],
  operations: ["chat"],
  streamUsage: false,
  chatServer: { maxStops: 5 },
  requestTransforms: [
    olderLimitName,
    noDeveloperRole,
    thinkingOff(/^kimi-k(?:2\.[5-9]|[3-9])/, { thinking: { type: "disabled" } }),
  ],
  responseTransforms: [usageOutside],
  balance,
});
