import { isObject, object } from "../dialects/read.ts";
import { amountOf } from "./amount.ts";
import { joinUrl } from "./join-url.ts";
import { bearerHeaders, getJson } from "./model-list.ts";
import { openaiCompatible } from "./openai-compatible.ts";
import type { ChannelRecord, HttpJson } from "./types.ts";

const BASE = "https://api.moonshot.cn";

async function balance(channel: ChannelRecord, key: string, http: HttpJson): Promise<number> {
  const json = await getJson(http, joinUrl(channel.baseUrl || BASE, "/v1/users/me/balance").href, bearerHeaders(key));
  return amountOf(isObject(json) ? object(json, "data") : undefined, "available_balance");
}

export const moonshot = openaiCompatible({
  type: 25,
  id: "moonshot",
  label: "Moonshot AI",
  baseUrl: BASE,
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
  balance,
});
