import { number, text } from "../../../dialects/core/read.ts";
import { createTokenCache } from "../../core/private/token-cache.ts";
import { exchangeToken } from "../../core/private/token-exchange.ts";
import type { ChannelRecord, SigningContext } from "../../core/types.ts";
import { UpstreamRefusal } from "../../core/failed-answer.ts";
import { upstreamError } from "../../core/errors/upstream-error.ts";

const AUTHORITY = "https://login.microsoftonline.com";
const SCOPE = "https://cognitiveservices.azure.com/.default";
const tokens = createTokenCache(300_000);

/** True for keys of the form `tenant|client id|client secret`. */
export function isEntraKey(key: string): boolean {
  return key.split("|").length === 3;
}

export function entraUrl(channel: ChannelRecord, key: string): string {
  const [tenant = ""] = key.split("|");
  return `${readAuthority(channel)}/${encodeURIComponent(tenant)}/oauth2/v2.0/token`;
}

function readAuthority(channel: ChannelRecord): string {
  return text(channel.setting, "entra_authority") ?? AUTHORITY;
}

/**
 * Returns an Entra token for a key of the form `tenant|client id|client secret`. Channels of national clouds set
 * `entra_authority`.
 */
export function entraToken(channel: ChannelRecord, { key, now, http }: SigningContext): Promise<string> {
  const [, client = "", secret = ""] = key.split("|");
  return tokens.get(`${readAuthority(channel)} ${key}`, now, async () => {
    const form = { client_id: client, client_secret: secret, grant_type: "client_credentials", scope: SCOPE };
    const answer = await exchangeToken(http, {
      method: "POST",
      url: entraUrl(channel, key),
      headers: { "content-type": "application/x-www-form-urlencoded" },
      body: new URLSearchParams(form).toString(),
    });
    const { json, token } = answer;
    if (answer.status === 200 && token !== undefined)
      return { token, lifeMs: (number(json, "expires_in") ?? 3600) * 1000 };
    const reason = text(json, "error_description") ?? text(json, "error") ?? `status ${answer.status}`;
    const message = `Could not obtain an access token: ${reason}`;
    throw new UpstreamRefusal(upstreamError({ class: answer.class, message }));
  });
}
