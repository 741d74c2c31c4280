import type { Operation } from "../../dialects/core/types.ts";
import type { Snapshot } from "../../snapshot/types.ts";
import type { RelayRequest } from "../types.ts";

const TEXT_OPERATIONS: ReadonlySet<Operation> = new Set(["chat", "completions", "responses"]);

/**
 * Output tokens that a request without a cap can have; undefined for one that names its cap, whose protocol has none,
 * or whose reservation grows with what it delivers. A stream shows what it costs while it runs, but for what its model
 * thinks unseen.
 */
export function openOutput({ spec, dialect }: RelayRequest, { prices, options }: Snapshot): number | undefined {
  if (spec.outputCap !== undefined || !dialect.capEdits || !TEXT_OPERATIONS.has(spec.operation)) return undefined;
  const { outputTokens = options.UnlistedOutputTokens, isReasoning } = prices.limits(spec.model);
  if (spec.stream && !isReasoning && !asksToReason(spec.reasoningEffort)) return undefined;
  return outputTokens * (spec.answers ?? 1);
}

function asksToReason(effort: string | undefined): boolean {
  return effort !== undefined && effort !== "none";
}
