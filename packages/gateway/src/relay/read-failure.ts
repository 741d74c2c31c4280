import { readFailure } from "../providers/classify.ts";
import { mask } from "../providers/mask.ts";
import type { CollectedAnswer } from "./answer.ts";
import { DEFAULT_REST_MS } from "./cooldown.ts";
import { refusedByUpstream, type Failure } from "./failure.ts";
import type { Choice } from "./select.ts";

export interface ReadFailureDeps {
  /** Epoch milliseconds. */
  readonly now: () => number;
  readonly disableKeywords: () => readonly string[];
}

/** What an upstream's refusal means, without what belongs to the operator. */
export function failureOfAnswer(
  answer: CollectedAnswer,
  { channel, keyIndex, plan }: Choice,
  { now, disableKeywords }: ReadFailureDeps,
): Failure {
  const verdict = readFailure(plan.provider, answer, { now: now(), keywords: disableKeywords() });
  const secrets = { key: channel.keys[keyIndex] ?? "", baseUrl: channel.baseUrl || plan.provider.baseUrl };
  return refusedByUpstream({ ...verdict, message: mask(verdict.message, secrets) }, channel, DEFAULT_REST_MS);
}
