interface Expected {
  readonly clientId: string;
  readonly nonce: string;
  /** Epoch seconds. */
  readonly now: number;
}

const MAX_SKEW_SECONDS = 300;

/**
 * Returns the subject of an identity token that belongs to this sign-in; undefined otherwise. Only for providers whose
 * issuer and keys are not known: it comes directly from the token endpoint, and nothing else vouches for it.
 */
export function findSubject(token: string, { clientId, nonce, now }: Expected): string | undefined {
  const claims = parseClaims(token);
  if (!claims || claims["nonce"] !== nonce) return undefined;
  const audience = claims["aud"];
  if (audience !== clientId && !(Array.isArray(audience) && audience.includes(clientId))) return undefined;
  const { exp: end, sub: subject } = claims;
  if (typeof end !== "number" || end + MAX_SKEW_SECONDS <= now) return undefined;
  return typeof subject === "string" && subject !== "" ? subject : undefined;
}

function parseClaims(token: string): Readonly<Record<string, unknown>> | undefined {
  const [, payload = "", , ...more] = token.split(".");
  if (more.length > 0) return undefined;
  try {
    const claims: unknown = JSON.parse(Buffer.from(payload, "base64url").toString("utf8"));
    return typeof claims === "object" && claims !== null ? (claims as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
