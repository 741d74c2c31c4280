import type { OptionValues } from "@fairway/wire";
import { Secret } from "../lib/secret.ts";
import { chosenBy, type ScopeMatcher } from "./scope-matcher.ts";

/** The webhook that checks prompts and answers, from the options. */
export interface GuardrailPolicy {
  readonly url: string;
  readonly secret: Secret;
  /** Whether text passes when there is no verdict. */
  readonly onFailure: "allow" | "block";
  readonly checksPrompts: boolean;
  readonly checksAnswers: boolean;
  readonly timeoutMs: number;
  /** Characters of a stream that are judged together, and the time after which fewer are. */
  readonly windowChars: number;
  readonly windowMs: number;
  readonly concerns: ScopeMatcher;
  /** Differs where answers are judged differently. */
  readonly fingerprint: string;
}

/** Undefined while the guardrail is off. What an operator emptied afterwards fails as the webhook would. */
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
