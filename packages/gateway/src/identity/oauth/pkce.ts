import { createHash, randomBytes } from "node:crypto";

/** Binds the authorization code to the browser that started the sign-in (RFC 7636, OpenID Connect Core 3.1.2.1). */
export interface OauthProof {
  /** Sent with the code; "" where the browser was not sent off with its challenge. */
  readonly verifier: string;
  /** Comes back inside the identity token; "" where none was sent. */
  readonly nonce: string;
}

const SECRET_BYTES = 32;

/** Random values for one sign-in. */
export function newProof(): OauthProof {
  return {
    verifier: randomBytes(SECRET_BYTES).toString("base64url"),
    nonce: randomBytes(SECRET_BYTES).toString("base64url"),
  };
}

/** Members of the address that the browser is sent to. */
export function buildChallenge({ verifier }: OauthProof): Readonly<Record<string, string>> {
  const challenge = createHash("sha256").update(verifier).digest("base64url");
  return { code_challenge: challenge, code_challenge_method: "S256" };
}

/** Members of the exchange of the code. A service refuses a verifier whose challenge it has not seen. */
export function buildVerifier({ verifier }: OauthProof): Readonly<Record<string, string>> {
  return verifier === "" ? {} : { code_verifier: verifier };
}

/** A URL with further parameters; existing ones of the same name are replaced. */
export function withQuery(address: string, query: Readonly<Record<string, string>>): string {
  const url = new URL(address);
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
  return url.href;
}
