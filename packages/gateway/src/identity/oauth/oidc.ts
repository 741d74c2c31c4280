import * as openid from "openid-client";
import type { OptionValues } from "@fairway/wire";
import { Refusal } from "../../lib/refusal.ts";
import { createClient, type ClientDeps } from "../openid/client.ts";
import { exchangeCode, readProfile } from "../openid/exchange.ts";
import {
  askService,
  optionalText,
  requireText,
  type CodeAnswer,
  type CodeService,
  type ServiceProfile,
} from "./code-service.ts";
import { readPlainProfile } from "./plain-oidc.ts";
import { buildChallenge, withQuery, type OauthProof } from "./pkce.ts";

export interface OidcDeps extends ClientDeps {
  readonly options: () => OptionValues;
  /** Address of this server as browsers reach it. */
  readonly publicAddress: () => string;
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
      const own = options()["oidc.authorization_endpoint"];
      const document = own === "" ? await loadDocument(deps) : {};
      return withQuery(own || requireText(document, "authorization_endpoint", LABEL), {
        response_type: "code",
        client_id: options()["oidc.client_id"],
        redirect_uri: `${publicAddress()}/oauth/oidc`,
        scope: "openid profile email",
        state,
        nonce: proof.nonce,
        ...buildChallenge(proof),
      });
    },
    read: (answer, proof) => read(deps, answer, proof),
  };
}

async function read(deps: OidcDeps, answer: CodeAnswer, proof: OauthProof): Promise<ServiceProfile> {
  const { options, publicAddress } = deps;
  const settings = options();
  const document = needsDocument(settings) ? await loadDocument(deps) : {};
  const addresses = {
    token: settings["oidc.token_endpoint"] || requireText(document, "token_endpoint", LABEL),
    userInfo: settings["oidc.user_info_endpoint"] || requireText(document, "userinfo_endpoint", LABEL),
  };
  const issuer = optionalText(document, "issuer");
  const exchange = { label: LABEL, redirectUri: `${publicAddress()}/oauth/oidc`, answer, proof };
  // Without an issuer there are no keys either.
  if (issuer === "") return toProfile(await readPlainProfile({ ...deps, ...exchange, addresses }));
  const client = createClient(deps, {
    label: LABEL,
    server: {
      ...document,
      issuer,
      token_endpoint: addresses.token,
      userinfo_endpoint: addresses.userInfo,
      // Consoles of compatible gateways build the address themselves and bring back only code and state.
      ...(proof.nonce === "" && { authorization_response_iss_parameter_supported: false }),
    },
    clientId: settings["oidc.client_id"],
    authentication: openid.ClientSecretPost(settings["oidc.client_secret"]),
    allowsHttp: true,
  });
  return toProfile(await readProfile(client, LABEL, await exchangeCode(client, exchange)));
}

function needsDocument(settings: OptionValues): boolean {
  const hasAddresses = settings["oidc.token_endpoint"] !== "" && settings["oidc.user_info_endpoint"] !== "";
  return !hasAddresses || settings["oidc.well_known"] !== "";
}

async function loadDocument({ outbound, options }: OidcDeps): Promise<Readonly<Record<string, unknown>>> {
  const url = options()["oidc.well_known"];
  if (url === "") throw new Refusal("oauth_answer_invalid", { values: { provider: LABEL } });
  return askService(outbound, LABEL, { method: "GET", url });
}

function toProfile(user: Readonly<Record<string, unknown>>): ServiceProfile {
  const id = requireText(user, "sub", LABEL);
  if (id.length > MAX_ID_CHARS) throw new Refusal("oauth_answer_invalid", { values: { provider: LABEL } });
  const email = isVerified(user["email_verified"]) ? optionalText(user, "email") : "";
  return { id, name: optionalText(user, "name") || optionalText(user, "preferred_username"), email };
}

/**
 * Returns whether the provider has verified the address, because only then may the account use it; some providers say
 * so in text.
 */
function isVerified(claim: unknown): boolean {
  return claim === true || claim === "true";
}
