import * as openid from "openid-client";
import { Refusal } from "../../lib/refusal.ts";
import { askProvider, isClientRefused } from "./client.ts";

export interface Exchange {
  /** The name of the provider in messages. */
  readonly label: string;
  /** The address to which the provider sent the browser back, without its query. */
  readonly redirectUri: string;
  readonly answer: {
    readonly code: string;
    readonly state: string;
    /** "" if the provider names no issuer. */
    readonly iss: string;
  };
  /** Its members are "" if the browser was sent without them. */
  readonly proof: { readonly verifier: string; readonly nonce: string };
  /** The longest time since the person proved who they are to the provider. */
  readonly maxAgeSeconds?: number | undefined;
}

export type Tokens = Awaited<ReturnType<typeof openid.authorizationCodeGrant>>;

/**
 * Exchanges the code. The library checks state, issuer, audience, times, nonce and signature; the caller has compared
 * the state with the one of the browser's session.
 */
export async function exchangeCode(client: openid.Configuration, exchange: Exchange): Promise<Tokens> {
  const { label, redirectUri, answer, proof, maxAgeSeconds } = exchange;
  const back = new URL(redirectUri);
  back.searchParams.set("code", answer.code);
  back.searchParams.set("state", answer.state);
  if (answer.iss !== "") back.searchParams.set("iss", answer.iss);
  const checks = {
    expectedState: answer.state,
    ...(proof.verifier !== "" && { pkceCodeVerifier: proof.verifier }),
    ...(proof.nonce !== "" && { expectedNonce: proof.nonce, idTokenExpected: true }),
    ...(maxAgeSeconds !== undefined && { maxAge: maxAgeSeconds }),
  };
  const tokens = await askProvider(label, () => redeem(client, label, back, checks));
  // The library reads it only next to several audiences.
  const madeFor = tokens.claims()?.azp;
  if (madeFor !== undefined && madeFor !== client.clientMetadata().client_id)
    throw new Refusal("oauth_answer_invalid", { values: { provider: label } });
  return tokens;
}

/** The person cannot repair a client that is refused, and trying again does not help: that has words of its own. */
async function redeem(
  client: openid.Configuration,
  label: string,
  back: URL,
  checks: openid.AuthorizationCodeGrantChecks,
): Promise<Tokens> {
  try {
    return await openid.authorizationCodeGrant(client, back, checks);
  } catch (cause) {
    if (isClientRefused(cause)) throw new Refusal("oauth_client_refused", { values: { provider: label }, cause });
    throw cause;
  }
}

/** Reads the profile, which must be that of the person in the identity token, if there was one. */
export function readProfile(
  client: openid.Configuration,
  label: string,
  tokens: Tokens,
): Promise<openid.UserInfoResponse> {
  const subject = tokens.claims()?.sub ?? openid.skipSubjectCheck;
  return askProvider(label, () => openid.fetchUserInfo(client, tokens.access_token, subject));
}
