import type { TokenCounter } from "../../billing/tokenizer/token-counter.ts";
import { NO_USAGE, type RequestedOutput, type Usage } from "../../dialects/core/types.ts";
import { withDoubt } from "../../dialects/core/usage-doubts.ts";
import type { Snapshot } from "../../snapshot/types.ts";
import type { Completion } from "../response/sink.ts";
import { USUAL_SILENCE_MS } from "../response/unseen-output.ts";
import { countTexts } from "../response/whole-sink.ts";
import type { RelayRequest } from "../request/request.ts";
import { boundUsage, usageBounds } from "./usage-bound.ts";

/** Reasoning tokens per second; the rate of the slower models of the large vendors. */
const REASONING_PER_SECOND = 50;
/** The largest count; an encoder's count of a text stays below it. */
const MAX_TOKENS = 1_000_000_000;

interface UsageToChargeDeps {
  readonly request: RelayRequest;
  readonly snapshot: Snapshot;
  readonly counter: TokenCounter;
  /** True if the price counts calls, so that tokens need not be counted. */
  readonly isPerCall: boolean;
}

/** How much output the reservation allows the answer. */
interface OutputLimits {
  /** Output tokens that the reservation covers. */
  readonly reserved: number;
  /** Limits of the request that was sent. */
  readonly sent: RequestedOutput;
}

/** Computes the usage by which the answers of one request are charged. */
export class UsageToCharge {
  readonly #deps: UsageToChargeDeps;
  /** Counted at most once, and only if the upstream does not report it. */
  #countedInput: Promise<number> | undefined;

  constructor(deps: UsageToChargeDeps) {
    this.#deps = deps;
  }

  /** Returns the upstream's usage as far as it is plausible; undefined if something is missing or zero. */
  known(completion: Completion, sent: RequestedOutput): Usage | undefined {
    if (isFree(completion)) return NO_USAGE;
    const usage = this.#reported(completion, sent);
    return this.#isKnown(usage, completion) ? withToolCalls(usage, completion) : undefined;
  }

  /**
   * Counts what is missing or zero in the upstream's usage. Texts that cannot be counted add nothing: a charge always
   * succeeds.
   */
  async count(completion: Completion, limits: OutputLimits): Promise<Usage> {
    const usage = this.#reported(completion, limits.sent);
    const output = await completion.countOutput().catch(() => 0);
    const input = usage.input > 0 ? usage.input : await this.#countInput();
    const seen = withCounts(usage, { input, output, source: "counted" }, completion);
    return withToolCalls(withHiddenReasoning(seen, completion, limits), completion);
  }

  /**
   * The same with upper estimates in place of counts, for reservations and for the charge that applies if this process
   * dies: a running stream needs no encoder.
   */
  atMost(completion: Completion, limits: OutputLimits): Usage {
    const known = this.known(completion, limits.sent);
    if (known) return known;
    const usage = this.#reported(completion, limits.sent);
    const output = completion.outputBound?.() ?? 0;
    const input = usage.input > 0 ? usage.input : this.#deps.request.spec.promptEstimate;
    const seen = withCounts(usage, { input, output, source: "estimated" }, completion);
    return withToolCalls(withHiddenReasoning(seen, completion, limits), completion);
  }

  /** True if nothing has to be counted: a complete answer has both sides. */
  #isKnown({ input, output, units }: Usage, { reason, nothing }: Completion): boolean {
    const tokens = input + output;
    const isComplete = reason === "stop" && input > 0 && (output > 0 || nothing !== undefined);
    const isByUnits = units !== undefined && tokens === 0;
    return isComplete || isByUnits || this.#deps.isPerCall;
  }

  /** Returns the upstream's usage within its bounds. */
  #reported({ usage, bytes }: Completion, sent: RequestedOutput): Usage {
    const { request, snapshot } = this.#deps;
    if (!usage) return measureLength(request);
    const { spec, upload } = request;
    const limits = snapshot.prices.limits(spec.model);
    return boundUsage(usage, usageBounds({ spec, sent, upload, limits, bytes }));
  }

  #countInput(): Promise<number> {
    const { request, counter } = this.#deps;
    const { spec, body, dialect } = request;
    this.#countedInput ??= countTexts(counter, spec.model, dialect.promptTexts(body)).catch(() => spec.promptEstimate);
    return this.#countedInput;
  }
}

/**
 * True if an answer without content is free: it broke off, or has no usage, since nothing is counted for it. The usage
 * of a refused prompt that its vendor does not bill was removed before.
 */
function isFree({ nothing, usage }: Completion): boolean {
  return nothing === "broken" || (nothing !== undefined && usage === undefined);
}

/** Adds what the upstream left out of its usage, and marks it if the upstream reported a complete answer. */
function withCounts(
  usage: Usage,
  counted: Pick<Usage, "input" | "output" | "source">,
  { reason, usage: reported }: Completion,
): Usage {
  const output = Math.max(usage.output, Math.min(counted.output, MAX_TOKENS));
  const isCounted = usage.input === 0 && usage.output === 0;
  const isWhole = output === usage.output && usage.input > 0;
  const source = isCounted ? counted.source : isWhole ? usage.source : "mixed";
  const input = usage.input > 0 ? usage.input : counted.input;
  const filled: Usage = { ...usage, input, output, source };
  if (reported === undefined || reason !== "stop") return filled;
  const seen = usage.input === 0 && input > 0 ? withDoubt(filled, "input_counted", usage.input) : filled;
  return output > usage.output ? withDoubt(seen, "output_counted", usage.output) : seen;
}

function withToolCalls(usage: Usage, { toolCalls }: Completion): Usage {
  return toolCalls ? { ...usage, toolCalls } : usage;
}

/**
 * Estimates by time the hidden reasoning of an answer whose client left before its usage arrived; vendors charge for
 * it.
 */
function withHiddenReasoning(usage: Usage, { unseenMs = 0 }: Completion, { reserved }: OutputLimits): Usage {
  const byTime = Math.ceil((Math.max(0, unseenMs - USUAL_SILENCE_MS) / 1000) * REASONING_PER_SECOND);
  const estimatedReasoning = Math.min(byTime, Math.max(0, reserved - usage.output));
  if (estimatedReasoning === 0) return usage;
  const { output, reasoning } = usage;
  return {
    ...usage,
    output: output + estimatedReasoning,
    reasoning: reasoning + estimatedReasoning,
    estimatedReasoning,
    source: "mixed",
  };
}

/** Returns the usage of a text to speak or of a recording of known length; empty for anything else. */
function measureLength({ spec, upload }: RelayRequest): Usage {
  const units = spec.operation === "audio.speech" ? spec.units : upload?.seconds;
  return units === undefined ? NO_USAGE : { ...NO_USAGE, units };
}
