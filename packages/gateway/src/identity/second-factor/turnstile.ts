import type { IncomingMessage, ServerResponse } from "node:http";
import type { OptionValues } from "@fairway/wire";
import { seconds, type Clock } from "../../lib/clock.ts";
import { Refusal } from "../../lib/refusal.ts";
import type { Credentials, SignInContext } from "../passwords/credentials.ts";
import type { Outbound } from "../../lib/net/outbound.ts";

export interface HumanCheckDeps {
  readonly credentials: Credentials;
  readonly outbound: Outbound;
  readonly options: () => Pick<OptionValues, "TurnstileCheckEnabled" | "TurnstileSecretKey">;
  readonly clock: Clock;
  /** Address of the service. */
  readonly turnstileUrl: string;
}

/** Throws `turnstile_pending`, `turnstile_failed` or `turnstile_unreachable` unless the check is off or passed. */
export type HumanCheck = (
  request: IncomingMessage,
  response: ServerResponse,
  token: string,
  visit: SignInContext,
) => Promise<void>;

/** One check covers the calls of the next ten minutes: its token works only once, and a form may need two calls. */
const MARK_SECONDS = 600;

export function createHumanCheck(deps: HumanCheckDeps): HumanCheck {
  const { credentials, options, clock } = deps;
  return async (request, response, token, visit) => {
    if (!options().TurnstileCheckEnabled) return;
    const session = await credentials.session(request);
    const now = seconds(clock);
    if (session?.data.humanAt !== undefined && now - session.data.humanAt < MARK_SECONDS) return;
    if (token === "") throw new Refusal("turnstile_pending");
    if (!(await passes(deps, token, visit.ip))) throw new Refusal("turnstile_failed");
    await credentials.remember(request, response, { humanAt: now }, visit);
  };
}

async function passes(
  { outbound, options, turnstileUrl }: HumanCheckDeps,
  token: string,
  ip: string,
): Promise<boolean> {
  const form = new URLSearchParams({ secret: options().TurnstileSecretKey, response: token, remoteip: ip });
  const call = {
    method: "POST",
    url: `${turnstileUrl}/turnstile/v0/siteverify`,
    headers: { "content-type": "application/x-www-form-urlencoded" },
    body: form.toString(),
  } as const;
  const answer = await outbound.json(call).catch((cause: unknown) => {
    throw new Refusal("turnstile_unreachable", { cause });
  });
  if (!answer) throw new Refusal("turnstile_unreachable");
  return answer["success"] === true;
}
