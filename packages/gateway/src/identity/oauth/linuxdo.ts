import type { OptionValues } from "@fairway/wire";
import type { Outbound } from "../../lib/net/outbound.ts";
import { Refusal } from "../../lib/refusal.ts";
import { askService, optionalText, requireText, type CodeService } from "./code-service.ts";
import { buildChallenge, buildVerifier, withQuery } from "./pkce.ts";

export interface LinuxdoDeps {
  readonly outbound: Outbound;
  readonly options: () => OptionValues;
  readonly linuxdoUrl: string;
  /** Address of this server as browsers reach it. */
  readonly publicAddress: () => string;
}

const LABEL = "LINUX DO";

export function createLinuxdo({ outbound, options, linuxdoUrl, publicAddress }: LinuxdoDeps): CodeService {
  return {
    name: "linuxdo",
    label: LABEL,
    column: "linux_do_id",
    prefix: "linuxdo",
    isEnabled: () => options().LinuxDOOAuthEnabled,
    address: async (state, proof) =>
      withQuery(`${linuxdoUrl}/oauth2/authorize`, {
        response_type: "code",
        client_id: options().LinuxDOClientId,
        state,
        ...buildChallenge(proof),
      }),
    async read({ code }, proof) {
      const { LinuxDOClientId, LinuxDOClientSecret } = options();
      const basic = Buffer.from(`${LinuxDOClientId}:${LinuxDOClientSecret}`).toString("base64");
      const redirect_uri = `${publicAddress()}/oauth/linuxdo`;
      const granted = await askService(outbound, LABEL, {
        method: "POST",
        url: `${linuxdoUrl}/oauth2/token`,
        headers: { authorization: `Basic ${basic}`, "content-type": "application/x-www-form-urlencoded" },
        body: new URLSearchParams({
          grant_type: "authorization_code",
          code,
          redirect_uri,
          ...buildVerifier(proof),
        }).toString(),
      });
      const headers = { authorization: `Bearer ${requireText(granted, "access_token", LABEL)}` };
      const user = await askService(outbound, LABEL, { method: "GET", url: `${linuxdoUrl}/api/user`, headers });
      const id = user["id"];
      if (typeof id !== "number" || !Number.isSafeInteger(id) || id <= 0) {
        throw new Refusal("oauth_answer_invalid", { values: { provider: LABEL } });
      }
      return { id: String(id), name: optionalText(user, "name") || optionalText(user, "username"), email: "" };
    },
  };
}
