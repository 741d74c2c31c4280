import { Refusal } from "../../lib/refusal.ts";
import type { Outbound, OutboundCall } from "../../lib/net/outbound.ts";
import type { OauthProof } from "./pkce.ts";

/** An account at a service that exchanges codes. */
export interface ServiceProfile {
  readonly id: string;
  readonly name: string;
  readonly email: string;
}

/** What the browser brings back from a service. */
export interface CodeAnswer {
  readonly code: string;
  readonly state: string;
  /** The issuer that the service names (RFC 9207); "" if it names none. */
  readonly iss: string;
}

/** An OAuth 2 service from which the browser returns with a code. */
export interface CodeService {
  /** Last segment of the address to which the service redirects. */
  readonly name: string;
  /** The name in messages. */
  readonly label: string;
  readonly column: "linux_do_id" | "oidc_id";
  /** Prefix of the names of accounts that are created for it. */
  readonly prefix: string;
  isEnabled(): boolean;
  /**
   * Returns the address for a sign-in by the browser; throws `oauth_provider_unreachable` and `oauth_answer_invalid`.
   */
  address(state: string, proof: OauthProof): Promise<string>;
  /** Exchanges a code for the profile of its owner; throws `oauth_provider_unreachable` and `oauth_answer_invalid`. */
  read(answer: CodeAnswer, proof: OauthProof): Promise<ServiceProfile>;
}

type Answer = Readonly<Record<string, unknown>>;

/**
 * Calls a service; throws `oauth_provider_unreachable` if there is no answer in time, and `oauth_answer_invalid` if it
 * is not a JSON object.
 */
export async function askService(outbound: Outbound, label: string, call: OutboundCall): Promise<Answer> {
  const answer = await outbound.json(call).catch((cause: unknown) => {
    throw new Refusal("oauth_provider_unreachable", { values: { provider: label }, cause });
  });
  if (!answer) throw new Refusal("oauth_answer_invalid", { values: { provider: label } });
  return answer;
}

/** Returns a non-empty text member; throws `oauth_answer_invalid` without it. */
export function requireText(answer: Answer, name: string, label: string): string {
  const text = optionalText(answer, name);
  if (text !== "") return text;
  throw new Refusal("oauth_answer_invalid", { values: { provider: label } });
}

/** Returns a text member, or "". */
export function optionalText(answer: Answer, name: string): string {
  const value = answer[name];
  return typeof value === "string" ? value.trim() : "";
}
