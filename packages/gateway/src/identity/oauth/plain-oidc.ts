import type { OptionValues } from "@fairway/wire";
import { seconds } from "../../lib/clock.ts";
import { Refusal } from "../../lib/refusal.ts";
import type { ClientDeps } from "../openid/client.ts";
import type { Exchange } from "../openid/exchange.ts";
import { askService, optionalText, requireText } from "./code-service.ts";
import { findSubject } from "./id-token.ts";
import { buildVerifier } from "./pkce.ts";

interface PlainExchange extends ClientDeps, Exchange {
  readonly options: () => OptionValues;
  readonly addresses: { readonly token: string; readonly userInfo: string };
}

/**
 * Reads a profile from configured addresses alone. Nothing names the issuer or its keys, so that TLS to the token
 * endpoint takes the place of the signature (OpenID Connect Core 3.1.3.7, rule 6).
 */
export async function readPlainProfile(exchange: PlainExchange): Promise<Readonly<Record<string, unknown>>> {
  const { label, outbound, options, clock, addresses, redirectUri, answer, proof } = exchange;
  const clientId = options()["oidc.client_id"];
  const form = new URLSearchParams({
    grant_type: "authorization_code",
    code: answer.code,
    client_id: clientId,
    client_secret: options()["oidc.client_secret"],
    redirect_uri: redirectUri,
    ...buildVerifier(proof),
  });
  const granted = await askService(outbound, label, {
    method: "POST",
    url: addresses.token,
    headers: { "content-type": "application/x-www-form-urlencoded" },
    body: form.toString(),
  });
  const headers = { authorization: `Bearer ${requireText(granted, "access_token", label)}` };
  const user = await askService(outbound, label, { method: "GET", url: addresses.userInfo, headers });
  if (proof.nonce === "") return user;
  const expected = { clientId, nonce: proof.nonce, now: seconds(clock) };
  const subject = findSubject(optionalText(granted, "id_token"), expected);
  if (subject === undefined || subject !== user["sub"])
    throw new Refusal("oauth_answer_invalid", { values: { provider: label } });
  return user;
}
