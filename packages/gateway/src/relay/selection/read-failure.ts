import { readFailure } from "../../providers/core/errors/classify.ts";
import { maskError, collectSecrets } from "../../providers/core/mask.ts";
import type { CollectedAnswer } from "../upstream/collected-answer.ts";
import { DEFAULT_REST_MS } from "./cooldown.ts";
import { refusedByUpstream, type Failure } from "../upstream/failure.ts";
import type { RouteTarget } from "./types.ts";

export interface ReadFailureDeps {
  /** Epoch milliseconds. */
  readonly now: () => number;
  readonly disableKeywords: () => readonly string[];
}

/** Classifies an upstream's refusal, without data of the operator. */
export function classifyRefusal(
  answer: CollectedAnswer,
  { channel, keyIndex, plan }: RouteTarget,
  { now, disableKeywords }: ReadFailureDeps,
): Failure {
  const upstreamError = readFailure(plan.provider, answer, { now: now(), keywords: disableKeywords() });
  const secrets = collectSecrets(channel, channel.keys[keyIndex] ?? "", plan.provider.baseUrl);
  return refusedByUpstream(maskError(upstreamError, secrets), channel, DEFAULT_REST_MS);
}
