import { object } from "../../../dialects/core/read.ts";
import { isObject } from "../../../lib/text/json.ts";
import { requireAmount } from "../../core/amount.ts";
import { bearer } from "../../core/bearer.ts";
import { joinUrl } from "../../core/join-url.ts";
import type { ChannelRecord, HttpJson, ProviderAdapter } from "../../core/types.ts";

export const suno: ProviderAdapter = {
  type: 36,
  id: "suno",
  label: "Suno API",
  baseUrl: "",
  speaks: [],
  authorize: bearer,
  balance,
  models: ["suno_music", "suno_lyrics"],
  ownedBy: "suno",
  streamUsage: false,
  isTask: true,
};

/** Reads only the credits: the answer also holds the account's own cookie and token. */
async function balance(channel: ChannelRecord, key: string, http: HttpJson): Promise<number> {
  const url = joinUrl(channel.baseUrl, "/suno/account").href;
  const { json } = await http({ method: "GET", url, headers: { authorization: `Bearer ${key}` } });
  return requireAmount(object(isObject(json) ? object(json, "data") : undefined, "certificate"), "credits_left");
}
