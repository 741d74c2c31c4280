import { listedName } from "../../billing/pricing/listed-name.ts";
import type { Operation, RequestedOutput, RequestSpec, Usage } from "../../dialects/core/types.ts";
import type { Snapshot } from "../../snapshot/types.ts";
import type { ReadOn } from "../response/unseen-output.ts";
import type { RelayRequest } from "../request/request.ts";

const TEXT_OPERATIONS: ReadonlySet<Operation> = new Set(["chat", "completions", "responses"]);

/**
 * Returns the output tokens that a request without a cap can have; undefined for one that names its cap, whose protocol
 * has none, or whose reservation grows with what it delivers. A stream shows its cost while it runs, except for hidden
 * reasoning.
 */
export function openOutput({ spec, dialect }: RelayRequest, snapshot: Snapshot): number | undefined {
  if (spec.outputCap !== undefined || !dialect.capEdits || !hasOutputTokens(spec)) return undefined;
  if (isShownWhileItRuns(spec, snapshot)) return undefined;
  return findOutputLimit(spec, snapshot) * (spec.answers ?? 1);
}

/** False for operations whose answers have no tokens that a request could limit. */
export function hasOutputTokens({ operation }: RequestSpec): boolean {
  return TEXT_OPERATIONS.has(operation);
}

/** True if the reservation grows while the answer runs: neither the client nor the request that is sent caps it. */
export function growsWhileItRuns(spec: RequestSpec, sent: RequestedOutput, snapshot: Snapshot): boolean {
  const isCapped = spec.outputCap !== undefined && sent.cap !== undefined;
  return !isCapped && isShownWhileItRuns(spec, snapshot);
}

/**
 * Returns the output tokens that the upstream may legitimately bill for the request that is sent. A cap of the client
 * that the upstream does not get counts as none; a stream needs the default, and grows from there.
 */
export function neededOutput(spec: RequestSpec, sent: RequestedOutput, snapshot: Snapshot): number {
  const { cap, answers, reasoningBeyondCap = 0 } = sent;
  if (!hasOutputTokens(spec)) return 0;
  const { DefaultOutputTokens } = snapshot.options;
  if (growsWhileItRuns(spec, sent, snapshot)) return Math.min(DefaultOutputTokens, cap ?? Infinity);
  const limit = findOutputLimit(spec, snapshot);
  if (cap === undefined) return limit * answers;
  const own = spec.outputCap === undefined ? Math.min(cap, limit) : cap;
  const hidden = mayThinkUnseen(spec, snapshot.prices) ? Math.min(reasoningBeyondCap, limit) : 0;
  return (own + hidden) * answers;
}

function isShownWhileItRuns(spec: RequestSpec, { prices }: Snapshot): boolean {
  return spec.stream && !mayThinkUnseen(spec, prices);
}

/** Returns the model's limit of output tokens. */
function findOutputLimit({ model }: RequestSpec, { prices, options }: Snapshot): number {
  return prices.limits(model).outputTokens ?? options.UnlistedOutputTokens;
}

/** Undefined if no hidden output can cost anything. */
export function readOnFor({ spec }: RelayRequest, { prices, options }: Snapshot): ReadOn | undefined {
  const isReasoning = mayThinkUnseen(spec, prices);
  if (!spec.stream || !(isReasoning || isUnknown(spec, prices))) return undefined;
  return { ms: options.ReadOnSeconds * 1000, tokens: options.ReadOnTokens, isReasoning };
}

/**
 * True if an answer may cost more than it shows: the model reasons according to the price list or to one of its
 * answers, or the request enables reasoning. A request that switches reasoning off has nothing hidden.
 */
function mayThinkUnseen({ model, reasoningEffort, isThinkingOff }: RequestSpec, prices: Snapshot["prices"]): boolean {
  if (isThinkingOff) return false;
  return prices.limits(model).isReasoning || asksToReason(reasoningEffort) || seen.get(listedName(model)) === true;
}

/** True if neither a list nor an answer says whether the model reasons. */
function isUnknown({ model, isThinkingOff, operation }: RequestSpec, prices: Snapshot["prices"]): boolean {
  if (isThinkingOff || !TEXT_OPERATIONS.has(operation) || prices.limits(model).contextTokens !== undefined)
    return false;
  return !seen.has(listedName(model));
}

/** Models that answered, and whether one of their answers reasoned. */
const seen = new Map<string, boolean>();
const MAX_SEEN = 10_000;

/** Remembers for later requests whether the model reasons. Only a whole answer proves that it does not. */
export function learnReasoning({ model }: RequestSpec, { reasoning, source }: Usage, isWhole: boolean): void {
  const name = listedName(model);
  if (source !== "upstream" || (seen.size >= MAX_SEEN && !seen.has(name))) return;
  if (reasoning > 0) seen.set(name, true);
  else if (isWhole && !seen.has(name)) seen.set(name, false);
}

function asksToReason(effort: string | undefined): boolean {
  return effort !== undefined && effort !== "none";
}
