import type { OptionValues } from "@fairway/wire";
import type { Outbound } from "../../lib/net/outbound.ts";
import { Refusal } from "../../lib/refusal.ts";
import { askService, maybeText, textOf, type CodeService } from "./code-service.ts";

export interface OidcDeps {
  readonly outbound: Outbound;
  readonly options: () => OptionValues;
  /** Address of this server as browsers reach it. */
  readonly publicAddress: () => string;
}

const LABEL = "OIDC";
const MAX_ID_CHARS = 191;

/** Any OpenID provider, by its discovery document or by addresses of its own. */
export function createOidc(deps: OidcDeps): CodeService {
  const { outbound, options, publicAddress } = deps;
  return {
    label: LABEL,
    column: "oidc_id",
    prefix: "oidc",
    isEnabled: () => options()["oidc.enabled"],
    async read(code) {
      const { token, userInfo } = await addressesOf(deps);
      const settings = options();
      const form = new URLSearchParams({
        grant_type: "authorization_code",
        code,
        client_id: settings["oidc.client_id"],
        client_secret: settings["oidc.client_secret"],
        redirect_uri: `${publicAddress()}/oauth/oidc`,
      });
      const granted = await askService(outbound, LABEL, {
        method: "POST",
        url: token,
        headers: { "content-type": "application/x-www-form-urlencoded" },
        body: form.toString(),
      });
      const headers = { authorization: `Bearer ${textOf(granted, "access_token", LABEL)}` };
      const user = await askService(outbound, LABEL, { method: "GET", url: userInfo, headers });
      const id = textOf(user, "sub", LABEL);
      if (id.length > MAX_ID_CHARS) throw new Refusal("O4", { values: { provider: LABEL } });
      const email = isVerified(user["email_verified"]) ? maybeText(user, "email") : "";
      return { id, name: maybeText(user, "name") || maybeText(user, "preferred_username"), email };
    },
  };
}

/** Only an address that the provider vouches for may become the account's; some providers say so in text. */
function isVerified(claim: unknown): boolean {
  return claim === true || claim === "true";
}

async function addressesOf({ outbound, options }: OidcDeps): Promise<{ token: string; userInfo: string }> {
  const settings = options();
  const token = settings["oidc.token_endpoint"];
  const userInfo = settings["oidc.user_info_endpoint"];
  if (token !== "" && userInfo !== "") return { token, userInfo };
  const url = settings["oidc.well_known"];
  if (url === "") throw new Refusal("O4", { values: { provider: LABEL } });
  const found = await askService(outbound, LABEL, { method: "GET", url });
  return {
    token: token || textOf(found, "token_endpoint", LABEL),
    userInfo: userInfo || textOf(found, "userinfo_endpoint", LABEL),
  };
}
