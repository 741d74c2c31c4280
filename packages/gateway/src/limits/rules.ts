import type { Env } from "../config/env.ts";
import type { Rate } from "../config/parsers.ts";
import type { Rule } from "./limiter.ts";

/** Rules that the operator sets; undefined = off. Fixed rules are next to the code they protect. */
export interface EdgeRules {
  /** Calls under `/api` of callers who are not signed in, by address. */
  readonly address: Rule | undefined;
  /** Calls under `/api` of signed-in callers, by user. */
  readonly user: Rule | undefined;
  /** Sign-in, codes and the like, by address; one budget for all of them. */
  readonly critical: Rule | undefined;
  /** Files of the console, by address. */
  readonly web: Rule | undefined;
}

export function edgeRules({
  limitApi,
  limitCritical,
  limitWeb,
}: Pick<Env, "limitApi" | "limitCritical" | "limitWeb">): EdgeRules {
  return {
    address: rule("api-address", limitApi.anonymous),
    user: rule("api-user", limitApi.user),
    critical: limitCritical && { ...rule("critical", limitCritical), onOutage: "deny" },
    web: rule("web", limitWeb),
  };
}

function rule(name: string, rate: Rate): Rule;
function rule(name: string, rate: Rate | undefined): Rule | undefined;
function rule(name: string, rate: Rate | undefined): Rule | undefined {
  return rate && { name, limit: rate.count, windowMs: rate.seconds * 1_000 };
}
