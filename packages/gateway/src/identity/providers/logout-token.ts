import { createLocalJWKSet, jwtVerify, type JSONWebKeySet, type JWTPayload } from "jose";
import { Refusal } from "../../lib/refusal.ts";
import { connectProvider, type ConnectDeps } from "./connect.ts";
import type { Provider } from "./provider.ts";

const EVENT = "http://schemas.openid.net/event/backchannel-logout";
const MAX_AGE_SECONDS = 300;
const ALGORITHMS = [
  "RS256",
  "RS384",
  "RS512",
  "PS256",
  "PS384",
  "PS512",
  "ES256",
  "ES384",
  "ES512",
  "EdDSA",
  "Ed25519",
];

/** Whose sessions end. One of the two may be "". */
export interface LoggedOut {
  readonly subject: string;
  readonly sid: string;
  /** The name of the message, which counts once. */
  readonly id: string;
  readonly expiresAt: number;
}

/** Checks a message of a provider that a person has signed out there; undefined if it is not genuine. */
export async function readLogoutToken(
  deps: ConnectDeps,
  provider: Provider,
  token: string,
): Promise<LoggedOut | undefined> {
  const keys = await loadKeys(deps, provider);
  const now = new Date(deps.clock.now());
  try {
    const { payload } = await jwtVerify(token, createLocalJWKSet(keys), {
      issuer: provider.issuer,
      audience: provider.client_id,
      algorithms: ALGORITHMS,
      maxTokenAge: MAX_AGE_SECONDS,
      clockTolerance: 30,
      currentDate: now,
      requiredClaims: ["iat", "jti"],
    });
    return readClaims(payload, Math.floor(now.getTime() / 1000));
  } catch {
    return undefined;
  }
}

function readClaims(payload: JWTPayload, now: number): LoggedOut | undefined {
  const { events, sub = "", sid = "", jti = "" } = payload;
  const isLogout = typeof events === "object" && events !== null && Object.hasOwn(events, EVENT);
  if (!isLogout || payload["nonce"] !== undefined || typeof sid !== "string") return undefined;
  if (jti === "" || (sub === "" && sid === "")) return undefined;
  return { subject: sub, sid, id: jti, expiresAt: now + 2 * MAX_AGE_SECONDS };
}

/** Reads the provider's keys for signatures. */
async function loadKeys(deps: ConnectDeps, provider: Provider): Promise<JSONWebKeySet> {
  const { jwks_uri: url } = (await connectProvider(deps, provider)).serverMetadata();
  const values = { provider: provider.name };
  if (url === undefined) throw new Refusal("oauth_answer_invalid", { values });
  const answer = await deps.outbound.json({ method: "GET", url }).catch((cause: unknown) => {
    throw new Refusal("oauth_provider_unreachable", { values, cause });
  });
  const keys: unknown = answer?.["keys"];
  if (!Array.isArray(keys)) throw new Refusal("oauth_answer_invalid", { values });
  return { keys: keys as JSONWebKeySet["keys"] };
}
