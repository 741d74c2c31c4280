interface Expected {
  readonly clientId: string;
  readonly nonce: string;
  /** Undefined if the operator has configured addresses instead of a discovery document. */
  readonly issuer: string | undefined;
  /** Epoch seconds. */
  readonly now: number;
}

const MAX_SKEW_SECONDS = 300;

/**
 * Returns the subject of an identity token that belongs to this sign-in; undefined otherwise. It comes directly from
 * the token endpoint, so TLS replaces the check of its signature (OpenID Connect Core 3.1.3.7, rule 6).
 */
export function findSubject(token: string, { clientId, nonce, issuer, now }: Expected): string | undefined {
  const claims = parseClaims(token);
  if (!claims || claims["nonce"] !== nonce) return undefined;
  if (issuer !== undefined && claims["iss"] !== issuer) return undefined;
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
