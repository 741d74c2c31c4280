import { seconds } from "../../lib/clock.ts";
import { Refusal } from "../../lib/refusal.ts";
import * as openid from "openid-client";
import { parseEmail } from "../mail/email-address.ts";
import { exchangeCode, readProfile, type Exchange } from "../openid/exchange.ts";
import type { SessionOrigin } from "../sessions/sessions.ts";
import { connectProvider, type ConnectDeps } from "./connect.ts";
import { isTrue, type Claims } from "./mapping.ts";
import type { Provider } from "./provider.ts";

/** A person as a provider describes them. */
export interface Person {
  readonly subject: string;
  readonly claims: Claims;
  readonly name: string;
  /** "" if the provider does not vouch for one. */
  readonly email: string;
  /** True if the provider checked a second factor. */
  readonly hasFactor: boolean;
  readonly origin: SessionOrigin;
}

export interface PersonDeps extends ConnectDeps {
  /** Address of this server as browsers reach it. */
  readonly publicAddress: () => string;
}

/** Longest time since a proof at the provider that counts as one here. */
export const PROOF_MAX_AGE_SECONDS = 300;
const MAX_SUBJECT_CHARS = 255;
const HOUR_SECONDS = 3_600;
const MINUTE_SECONDS = 60;

/** Returns the address at which a person signs in to the provider. */
export async function buildSignInAddress(
  deps: PersonDeps,
  provider: Provider,
  {
    state,
    verifier,
    nonce,
    maxAgeSeconds,
  }: Readonly<Record<"state" | "verifier" | "nonce", string>> & {
    readonly maxAgeSeconds: number;
  },
): Promise<string> {
  const client = await connectProvider(deps, provider);
  const url = openid.buildAuthorizationUrl(client, {
    redirect_uri: redirectUri(deps, provider),
    scope: provider.scopes,
    state,
    nonce,
    code_challenge: await openid.calculatePKCECodeChallenge(verifier),
    code_challenge_method: "S256",
    ...(maxAgeSeconds > 0 && { max_age: String(maxAgeSeconds) }),
  });
  return url.href;
}

/** Exchanges the code for what the provider says of the person. */
export async function readPerson(
  deps: PersonDeps,
  provider: Provider,
  { answer, proof, maxAgeSeconds }: Pick<Exchange, "answer" | "proof"> & { readonly maxAgeSeconds: number },
): Promise<Person> {
  const { name: label } = provider;
  const client = await connectProvider(deps, provider);
  const tokens = await exchangeCode(client, {
    label,
    redirectUri: redirectUri(deps, provider),
    answer,
    proof,
    ...(maxAgeSeconds > 0 && { maxAgeSeconds }),
  });
  const hasProfile = client.serverMetadata().userinfo_endpoint !== undefined;
  const profile = hasProfile ? await readProfile(client, label, tokens) : {};
  // What is signed wins.
  const claims: Claims = { ...profile, ...tokens.claims() };
  const { subject, sid } = { subject: readText(claims, "sub"), sid: readText(claims, "sid") };
  if (subject === "" || subject.length > MAX_SUBJECT_CHARS || subject.trim() !== subject)
    throw new Refusal("oauth_answer_invalid", { values: { provider: label } });
  return {
    subject,
    claims,
    name: readText(claims, "name").trim() || readText(claims, "preferred_username"),
    email: readEmail(provider, claims),
    hasFactor: hasFactor(provider, claims),
    origin: {
      providerId: provider.id,
      subject,
      sid: sid.slice(0, MAX_SUBJECT_CHARS),
      ...(provider.session_hours > 0 && { maxSeconds: provider.session_hours * HOUR_SECONDS }),
      ...(provider.idle_minutes > 0 && { idleSeconds: provider.idle_minutes * MINUTE_SECONDS }),
      ...(provider.reauth && !isFresh(claims, seconds(deps.clock)) && { isUnproven: true }),
      ...buildLogout(deps, provider, client),
    },
  };
}

function redirectUri({ publicAddress }: PersonDeps, { slug }: Provider): string {
  return `${publicAddress()}/oauth/${slug}`;
}

function buildLogout(
  { publicAddress }: PersonDeps,
  provider: Provider,
  client: openid.Configuration,
): Pick<SessionOrigin, "logoutUrl"> {
  if (!provider.logout || client.serverMetadata().end_session_endpoint === undefined) return {};
  return { logoutUrl: openid.buildEndSessionUrl(client, { post_logout_redirect_uri: publicAddress() }).href };
}

/** The address counts only if the provider has verified it; Microsoft says so in a claim of its own. */
function readEmail({ vouches_for_email: vouches }: Provider, claims: Claims): string {
  const isVerified = vouches || isTrue(claims["email_verified"]) || isTrue(claims["xms_edov"]);
  return isVerified ? (parseEmail(readText(claims, "email")) ?? "") : "";
}

function hasFactor({ acr_values }: Provider, claims: Claims): boolean {
  const methods = claims["amr"];
  return (Array.isArray(methods) && methods.includes("mfa")) || acr_values.includes(readText(claims, "acr"));
}

function isFresh(claims: Claims, now: number): boolean {
  const at = claims["auth_time"];
  return typeof at === "number" && now - at <= PROOF_MAX_AGE_SECONDS;
}

function readText(claims: Claims, name: string): string {
  const value = claims[name];
  return typeof value === "string" ? value : "";
}
