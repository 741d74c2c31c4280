import { createSign } from "node:crypto";
import { number, text } from "../../../dialects/core/read.ts";
import { parseObject } from "../../../lib/text/json.ts";
import { createTokenCache } from "../../core/private/token-cache.ts";
import { exchangeToken } from "../../core/private/token-exchange.ts";
import type { HttpJson } from "../../core/types.ts";
import { UpstreamRefusal } from "../../core/failed-answer.ts";
import { upstreamError } from "../../core/errors/upstream-error.ts";

const SCOPE = "https://www.googleapis.com/auth/cloud-platform";
const TOKEN_URI = "https://oauth2.googleapis.com/token";
const LIFE_S = 3600;
const EARLY_MS = 300_000;

const tokens = createTokenCache(EARLY_MS);

/** The members of a service account's key file that are used here. */
export interface ServiceAccount {
  readonly projectId: string;
  readonly clientEmail: string;
  readonly privateKey: string;
  readonly privateKeyId: string | undefined;
  readonly tokenUri: string;
}

/** Parses a key file; undefined for other keys (express mode). */
export function serviceAccount(key: string): ServiceAccount | undefined {
  if (!key.trimStart().startsWith("{")) return undefined;
  const file = parseObject(key);
  const projectId = text(file, "project_id");
  const clientEmail = text(file, "client_email");
  const privateKey = text(file, "private_key");
  if (projectId === undefined || clientEmail === undefined || privateKey === undefined) {
    throw refused("The key is not a service account key file (project_id, client_email, private_key).", 400, false);
  }
  return {
    projectId,
    clientEmail,
    privateKey: privateKey.replaceAll("\\n", "\n"),
    privateKeyId: text(file, "private_key_id"),
    tokenUri: text(file, "token_uri") ?? TOKEN_URI,
  };
}

/**
 * Returns the access token of a service account. It is exchanged for a signed assertion and cached until five minutes
 * before its expiry.
 */
export function accessToken(key: string, account: ServiceAccount, now: number, http: HttpJson): Promise<string> {
  return tokens.get(key, now, async () => {
    const form = { grant_type: "urn:ietf:params:oauth:grant-type:jwt-bearer", assertion: assertion(account, now) };
    const answer = await exchangeToken(http, {
      method: "POST",
      url: account.tokenUri,
      headers: { "content-type": "application/x-www-form-urlencoded" },
      body: new URLSearchParams(form).toString(),
    });
    const { json, token } = answer;
    if (answer.status === 200 && token !== undefined)
      return { token, lifeMs: (number(json, "expires_in") ?? LIFE_S) * 1000 };
    const reason = text(json, "error") ?? `status ${answer.status}`;
    const description = text(json, "error_description");
    const message = `Could not obtain a Google access token: ${reason}${description === undefined ? "" : ` (${description})`}`;
    throw refused(message, answer.isRefused ? 401 : 503, answer.isRefused);
  });
}

export function dropToken(key: string): void {
  tokens.drop(key);
}

function refused(message: string, status: number, disable: boolean): UpstreamRefusal {
  return new UpstreamRefusal(upstreamError({ class: status >= 500 ? "server" : "bad_key", status, message, disable }));
}

function assertion(account: ServiceAccount, now: number): string {
  const iat = Math.floor(now / 1000);
  const { clientEmail, privateKeyId, tokenUri } = account;
  const header = { alg: "RS256", typ: "JWT", ...(privateKeyId === undefined ? {} : { kid: privateKeyId }) };
  const claims = { iss: clientEmail, sub: clientEmail, scope: SCOPE, aud: tokenUri, iat, exp: iat + LIFE_S };
  const content = [header, claims].map((part) => Buffer.from(JSON.stringify(part)).toString("base64url")).join(".");
  try {
    return `${content}.${createSign("RSA-SHA256").update(content).sign(account.privateKey, "base64url")}`;
  } catch {
    throw refused("The private key of the service account cannot be read.", 400, false);
  }
}
