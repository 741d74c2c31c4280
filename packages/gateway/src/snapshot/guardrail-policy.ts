import type { OptionValues } from "@fairway/wire";
import { Secret } from "../lib/secret.ts";
import { chosenBy, type ScopeMatcher } from "./scope-matcher.ts";

/** The webhook that checks prompts and answers, from the options. */
export interface GuardrailPolicy {
  readonly url: string;
  readonly secret: Secret;
  /** Whether text passes if there is no verdict. */
  readonly onFailure: "allow" | "block";
  readonly checksPrompts: boolean;
  readonly checksAnswers: boolean;
  readonly timeoutMs: number;
  /** Characters of a stream that are judged together, and the time after which fewer are. */
  readonly windowChars: number;
  readonly windowMs: number;
  readonly concerns: ScopeMatcher;
  /** Differs if answers are judged differently. */
  readonly fingerprint: string;
}

/**
 * Returns the policy; undefined while the guardrail is off. An option that an operator emptied later counts as a
 * failure of the webhook.
 */
export function resolveGuardrailPolicy(options: OptionValues): GuardrailPolicy | undefined {
  if (!options.GuardrailEnabled) return undefined;
  const { GuardrailPhases: phases, GuardrailUrl: url } = options;
  const checksAnswers = phases !== "prompt";
  return {
    url,
    secret: new Secret(options.GuardrailSecret),
    onFailure: options.GuardrailOnFailure === "allow" ? "allow" : "block",
    checksPrompts: phases !== "answer",
    checksAnswers,
    timeoutMs: options.GuardrailTimeoutMs,
    windowChars: options.GuardrailStreamChars,
    windowMs: options.GuardrailStreamMs,
    concerns: chosenBy(options.GuardrailGroups, options.GuardrailModels),
    fingerprint: checksAnswers ? `answers ${url}` : "prompts",
  };
}
