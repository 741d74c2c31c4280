import { Refusal } from "../../lib/refusal.ts";
import type { Outbound, OutboundCall } from "../../lib/net/outbound.ts";
import type { OauthProof } from "./pkce.ts";

/** An account at a service that exchanges codes. */
export interface ServiceProfile {
  readonly id: string;
  readonly name: string;
  readonly email: string;
}

/** A service of OAuth 2 that the browser comes back from with a code. */
export interface CodeService {
  /** Last segment of the address that the service sends back to. */
  readonly name: string;
  /** As messages name it. */
  readonly label: string;
  readonly column: "linux_do_id" | "oidc_id";
  /** Beginning of the names of accounts that are made for it. */
  readonly prefix: string;
  isEnabled(): boolean;
  /** Where a browser is sent to sign in; `oauth_provider_unreachable` and `oauth_answer_invalid`. */
  address(state: string, proof: OauthProof): Promise<string>;
  /** Exchanges a code for the profile of its owner; `oauth_provider_unreachable` and `oauth_answer_invalid`. */
  read(code: string, proof: OauthProof): Promise<ServiceProfile>;
}

type Answer = Readonly<Record<string, unknown>>;

/** `oauth_provider_unreachable` when there is no answer in time, `oauth_answer_invalid` when it is not a JSON object. */
export async function askService(outbound: Outbound, label: string, call: OutboundCall): Promise<Answer> {
  const answer = await outbound.json(call).catch((cause: unknown) => {
    throw new Refusal("oauth_provider_unreachable", { values: { provider: label }, cause });
  });
  if (!answer) throw new Refusal("oauth_answer_invalid", { values: { provider: label } });
  return answer;
}

/** A non-empty text member; `oauth_answer_invalid` without it. */
export function requireText(answer: Answer, name: string, label: string): string {
  const text = optionalText(answer, name);
  if (text !== "") return text;
  throw new Refusal("oauth_answer_invalid", { values: { provider: label } });
}

/** A text member, or "". */
export function optionalText(answer: Answer, name: string): string {
  const value = answer[name];
  return typeof value === "string" ? value.trim() : "";
}
