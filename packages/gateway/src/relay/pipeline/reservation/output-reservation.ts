import type { Operation, RequestSpec } from "../../../dialects/core/types.ts";
import type { Snapshot } from "../../../snapshot/types.ts";
import type { RelayRequest } from "../../types.ts";

const TEXT_OPERATIONS: ReadonlySet<Operation> = new Set(["chat", "completions", "responses"]);

/**
 * Output tokens that a request without a cap can have; undefined for one that names its cap, whose protocol has none,
 * or whose reservation grows with what it delivers. A stream shows its cost while it runs, except for hidden
 * reasoning.
 */
export function openOutput({ spec, dialect }: RelayRequest, { prices, options }: Snapshot): number | undefined {
  if (spec.outputCap !== undefined || !dialect.capEdits || !TEXT_OPERATIONS.has(spec.operation)) return undefined;
  const { outputTokens = options.UnlistedOutputTokens } = prices.limits(spec.model);
  if (spec.stream && !mayThinkUnseen(spec, prices)) return undefined;
  return outputTokens * (spec.answers ?? 1);
}

/** How far a stream is read whose client has left. */
export interface ReadOn {
  readonly ms: number;
  /** Output tokens that are reserved. */
  readonly tokens: number;
}

/** Undefined where no hidden output can cost anything. */
export function readOnFor({ spec }: RelayRequest, { prices, options }: Snapshot): ReadOn | undefined {
  if (!spec.stream || !mayThinkUnseen(spec, prices)) return undefined;
  return { ms: options.ReadOnSeconds * 1000, tokens: options.ReadOnTokens };
}

function mayThinkUnseen({ model, reasoningEffort }: RequestSpec, prices: Snapshot["prices"]): boolean {
  return prices.limits(model).isReasoning || asksToReason(reasoningEffort);
}

function asksToReason(effort: string | undefined): boolean {
  return effort !== undefined && effort !== "none";
}
