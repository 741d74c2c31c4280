import { createHash, randomBytes } from "node:crypto";

/** Binds the authorization code to the browser that started the sign-in (RFC 7636, OpenID Connect Core 3.1.2.1). */
export interface OauthProof {
  /** Sent with the code; "" if the browser was sent without the challenge. */
  readonly verifier: string;
  /** Returned in the identity token; "" if none was sent. */
  readonly nonce: string;
}

const SECRET_BYTES = 32;

/** Returns random values for one sign-in. */
export function newProof(): OauthProof {
  return {
    verifier: randomBytes(SECRET_BYTES).toString("base64url"),
    nonce: randomBytes(SECRET_BYTES).toString("base64url"),
  };
}

/** Returns the parameters of the address to which the browser is sent. */
export function buildChallenge({ verifier }: OauthProof): Readonly<Record<string, string>> {
  const challenge = createHash("sha256").update(verifier).digest("base64url");
  return { code_challenge: challenge, code_challenge_method: "S256" };
}

/** Returns the parameters of the code exchange. A service refuses a verifier if it has not received the challenge. */
export function buildVerifier({ verifier }: OauthProof): Readonly<Record<string, string>> {
  return verifier === "" ? {} : { code_verifier: verifier };
}

/** Returns a URL with further parameters; existing ones of the same name are replaced. */
export function withQuery(address: string, query: Readonly<Record<string, string>>): string {
  const url = new URL(address);
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
  return url.href;
}
