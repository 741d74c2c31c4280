import { number, text } from "../../../dialects/core/read.ts";
import { createTokenCache } from "../../core/private/token-cache.ts";
import { exchangeToken } from "../../core/private/token-exchange.ts";
import type { ChannelRecord, SigningContext } from "../../core/types.ts";
import { UpstreamRefusal } from "../../core/failed-answer.ts";
import { upstreamError } from "../../core/errors/upstream-error.ts";

const BASE = "https://aip.baidubce.com";
const EARLY_MS = 3_600_000;
const tokens = createTokenCache(EARLY_MS);

export function tokenUrl(channel: ChannelRecord): string {
  return `${channel.baseUrl || BASE}/oauth/2.0/token`;
}

/** Returns the access token for a key of the form `API key|secret key`; it is cached for 30 days minus one hour. */
export function accessToken(channel: ChannelRecord, { key, now, http }: SigningContext): Promise<string> {
  const [id = "", secret = "", ...more] = key.split("|").map((part) => part.trim());
  if (id === "" || secret === "" || more.length > 0) {
    throw new UpstreamRefusal(
      upstreamError({
        class: "bad_key",
        status: 400,
        message: "The key must have the form API key|secret key.",
        code: "invalid_auth",
        param: "",
        disable: false,
      }),
    );
  }
  return tokens.get(buildTokenSecret(channel, key), now, async () => {
    const query = new URLSearchParams({ grant_type: "client_credentials", client_id: id, client_secret: secret });
    const answer = await exchangeToken(http, {
      method: "POST",
      url: `${tokenUrl(channel)}?${query.toString()}`,
      headers: { "content-type": "application/json", accept: "application/json" },
    });
    const { json, token } = answer;
    if (token !== undefined) return { token, lifeMs: (number(json, "expires_in") ?? 2_592_000) * 1000 };
    const code = text(json, "error");
    const message =
      [code, text(json, "error_description")].filter((part) => part !== undefined).join(": ") ||
      `status ${answer.status}`;
    throw new UpstreamRefusal(upstreamError({ class: answer.class, message, type: "baidu_error", code, param: "" }));
  });
}

export function dropToken(channel: ChannelRecord, key: string): void {
  tokens.drop(buildTokenSecret(channel, key));
}

/** Returns the cache key: the same pair of keys at another host has another token. */
function buildTokenSecret(channel: ChannelRecord, key: string): string {
  return `${channel.baseUrl || BASE} ${key}`;
}
