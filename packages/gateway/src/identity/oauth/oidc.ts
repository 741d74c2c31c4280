import type { OptionValues } from "@fairway/wire";
import type { Outbound } from "../../lib/net/outbound.ts";
import { Refusal } from "../../lib/refusal.ts";
import { seconds, type Clock } from "../../lib/clock.ts";
import { askService, optionalText, requireText, type CodeService, type ServiceProfile } from "./code-service.ts";
import { findSubject } from "./id-token.ts";
import { buildChallenge, buildVerifier, withQuery, type OauthProof } from "./pkce.ts";

export interface OidcDeps {
  readonly outbound: Outbound;
  readonly options: () => OptionValues;
  /** Address of this server as browsers reach it. */
  readonly publicAddress: () => string;
  readonly clock: Clock;
}

const LABEL = "OIDC";
const MAX_ID_CHARS = 191;

/** Supports any OpenID provider, by its discovery document or by configured addresses. */
export function createOidc(deps: OidcDeps): CodeService {
  const { options, publicAddress } = deps;
  return {
    name: "oidc",
    label: LABEL,
    column: "oidc_id",
    prefix: "oidc",
    isEnabled: () => options()["oidc.enabled"],
    async address(state, proof) {
      const { authorization } = await loadAddresses(deps, "authorization");
      return withQuery(authorization, {
        response_type: "code",
        client_id: options()["oidc.client_id"],
        redirect_uri: `${publicAddress()}/oauth/oidc`,
        scope: "openid profile email",
        state,
        nonce: proof.nonce,
        ...buildChallenge(proof),
      });
    },
    read: (code, proof) => read(deps, code, proof),
  };
}

async function read(deps: OidcDeps, code: string, proof: OauthProof): Promise<ServiceProfile> {
  const { outbound, options, publicAddress } = deps;
  const { token, userInfo, issuer } = await loadAddresses(deps, "token", "userInfo");
  const settings = options();
  const form = new URLSearchParams({
    grant_type: "authorization_code",
    code,
    client_id: settings["oidc.client_id"],
    client_secret: settings["oidc.client_secret"],
    redirect_uri: `${publicAddress()}/oauth/oidc`,
    ...buildVerifier(proof),
  });
  const granted = await askService(outbound, LABEL, {
    method: "POST",
    url: token,
    headers: { "content-type": "application/x-www-form-urlencoded" },
    body: form.toString(),
  });
  const headers = { authorization: `Bearer ${requireText(granted, "access_token", LABEL)}` };
  const user = await askService(outbound, LABEL, { method: "GET", url: userInfo, headers });
  const id = requireText(user, "sub", LABEL);
  if (id.length > MAX_ID_CHARS) throw new Refusal("oauth_answer_invalid", { values: { provider: LABEL } });
  if (proof.nonce !== "") checkToken(deps, { granted, nonce: proof.nonce, issuer, id });
  const email = isVerified(user["email_verified"]) ? optionalText(user, "email") : "";
  return { id, name: optionalText(user, "name") || optionalText(user, "preferred_username"), email };
}

interface Granted {
  readonly granted: Readonly<Record<string, unknown>>;
  readonly nonce: string;
  readonly issuer: string | undefined;
  /** Subject of the profile. */
  readonly id: string;
}

/**
 * Checks the token: a code or token of another sign-in that an attacker injected has another nonce or names another
 * subject.
 */
function checkToken({ options, clock }: OidcDeps, { granted, nonce, issuer, id }: Granted): void {
  const clientId = options()["oidc.client_id"];
  const subject = findSubject(optionalText(granted, "id_token"), { clientId, nonce, issuer, now: seconds(clock) });
  if (subject !== id) throw new Refusal("oauth_answer_invalid", { values: { provider: LABEL } });
}

/**
 * Returns whether the provider has verified the address, because only then may the account use it; some providers say
 * so in text.
 */
function isVerified(claim: unknown): boolean {
  return claim === true || claim === "true";
}

type Address = "authorization" | "token" | "userInfo";

const OPTION_OF = {
  authorization: "oidc.authorization_endpoint",
  token: "oidc.token_endpoint",
  userInfo: "oidc.user_info_endpoint",
} as const;
const MEMBER_OF = {
  authorization: "authorization_endpoint",
  token: "token_endpoint",
  userInfo: "userinfo_endpoint",
} as const;

/** Loads the operator's own addresses; missing ones come from the discovery document. */
async function loadAddresses(
  { outbound, options }: OidcDeps,
  ...wanted: readonly Address[]
): Promise<Record<Address, string> & { readonly issuer: string | undefined }> {
  const settings = options();
  const getOwnAddress = (name: Address) => settings[OPTION_OF[name]];
  const found = {
    authorization: getOwnAddress("authorization"),
    token: getOwnAddress("token"),
    userInfo: getOwnAddress("userInfo"),
  };
  if (wanted.every((name) => found[name] !== "")) return { ...found, issuer: undefined };
  const url = settings["oidc.well_known"];
  if (url === "") throw new Refusal("oauth_answer_invalid", { values: { provider: LABEL } });
  const document = await askService(outbound, LABEL, { method: "GET", url });
  for (const name of wanted) found[name] ||= requireText(document, MEMBER_OF[name], LABEL);
  return { ...found, issuer: optionalText(document, "issuer") || undefined };
}
