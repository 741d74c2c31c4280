import type { ModelLimits } from "../../billing/pricing/model-limits.ts";
import { NO_LIMIT } from "../../dialects/core/requested-output.ts";
import type { RequestedOutput, RequestSpec, Usage } from "../../dialects/core/types.ts";
import type { Upload } from "../body/upload.ts";

/** The most that one answer can have used, whatever its upstream reports. */
export interface UsageBounds {
  readonly input: number;
  readonly output: number;
  /** Seconds or searches. */
  readonly units: number;
}

/** Facts about an answer in addition to its usage. */
export interface Answered {
  readonly spec: Pick<RequestSpec, "operation" | "promptEstimate" | "units" | "hostedTools" | "reasoningEffort">;
  /** Limits of the request that was sent; none if no upstream protocol has them. */
  readonly sent?: RequestedOutput;
  readonly upload?: Pick<Upload, "seconds"> | undefined;
  readonly limits: ModelLimits;
  /** Bytes of the answer as it arrived; undefined if they do not limit its tokens. */
  readonly bytes: number | undefined;
}

/** Output limit of models without listed limits. */
const UNLISTED_OUTPUT = 32_768;
const UNLISTED_INPUT = 262_144;
/** Vendors count images and other media differently; an estimate may be off by this factor. */
const PER_ESTIMATED = 8;
const OF_CONTEXT = 2;
/** Turns that a hosted tool may add to one request; each of them counts the conversation again. */
const HOSTED_TURNS = 32;
/** Tokens of an answer that does not show everything: rejected predictions, empty tool turns. */
const UNSEEN = 4_096;
/** Tokens for each byte of an answer, although a token is usually several bytes long. */
const PER_BYTE = 4;
const UNKNOWN_SECONDS = 86_400;

/** Returns the most tokens and units that the answer can have cost, each with a generous factor. */
export function usageBounds(answered: Answered): UsageBounds {
  return {
    input: calculateMaxInput(answered),
    output: calculateMaxOutput(answered),
    units: calculateMaxUnits(answered),
  };
}

function calculateMaxInput({ spec, limits }: Answered): number {
  const turns = countTurns(spec);
  const byEstimate = spec.promptEstimate * PER_ESTIMATED;
  const { contextTokens } = limits;
  return turns * Math.max(byEstimate, contextTokens === undefined ? UNLISTED_INPUT : contextTokens * OF_CONTEXT);
}

/** A reasoning model may hide its reasoning; for any other model, the bytes limit the tokens. */
function calculateMaxOutput({ spec, sent = NO_LIMIT, limits, bytes = Infinity }: Answered): number {
  const { cap, answers, reasoningBeyondCap = 0 } = sent;
  const limit = limits.outputTokens ?? UNLISTED_OUTPUT;
  const mayThink = limits.isReasoning || limits.outputTokens === undefined || spec.reasoningEffort !== undefined;
  const byBytes = mayThink ? Infinity : UNSEEN * answers + bytes * PER_BYTE;
  // No upstream may bill more than it was allowed to write.
  if (cap !== undefined) {
    const hidden = mayThink ? Math.min(reasoningBeyondCap, limit) : 0;
    return Math.min((cap + hidden) * answers * countTurns(spec), byBytes);
  }
  const byModel = limit * answers * countTurns(spec);
  return bytes === Infinity ? byModel : Math.min(Math.max(byModel, bytes), byBytes);
}

function countTurns({ hostedTools }: Answered["spec"]): number {
  return hostedTools ? HOSTED_TURNS : 1;
}

function calculateMaxUnits({ spec, sent, upload }: Answered): number {
  if (sent?.images !== undefined) return sent.images;
  switch (spec.operation) {
    case "audio.transcriptions":
    case "audio.translations":
      return upload?.seconds === undefined ? UNKNOWN_SECONDS : upload.seconds * 2 + 60;
    case "rerank":
      return Math.max(spec.units, 1 + spec.promptEstimate);
    default:
      // The gateway counts characters; no upstream reports them.
      return Infinity;
  }
}

/** Returns the same usage if it is possible; otherwise the possible part, with the reported numbers. */
export function boundUsage(usage: Usage, bounds: UsageBounds): Usage {
  if (isPossible(usage, bounds)) return usage;
  const input = Math.min(usage.input, bounds.input);
  const output = Math.min(usage.output, bounds.output);
  const units = usage.units === undefined ? undefined : Math.min(usage.units, bounds.units);
  const cachedInput = Math.min(usage.cachedInput, input);
  const cacheWrite = Math.min(usage.cacheWrite, input - cachedInput);
  const audioInput = Math.min(usage.audioInput, input - cachedInput - cacheWrite);
  const bounded: Usage = {
    ...usage,
    input,
    output,
    cachedInput,
    cacheWrite,
    cacheWrite1h: Math.min(usage.cacheWrite1h, cacheWrite),
    audioInput,
    imageInput: Math.min(usage.imageInput, input - cachedInput - cacheWrite - audioInput),
    audioOutput: Math.min(usage.audioOutput, output),
    reasoning: Math.min(usage.reasoning, output),
    ...(units !== undefined && { units }),
  };
  const isWhole = input === usage.input && output === usage.output && units === usage.units;
  if (isWhole) return bounded;
  return { ...bounded, reported: { input: usage.input, output: usage.output, units: usage.units ?? 0 } };
}

/** True if all counts are within their bounds, and the parts within their whole. */
function isPossible(usage: Usage, bounds: UsageBounds): boolean {
  const { input, output, units = 0, cachedInput, cacheWrite, cacheWrite1h, audioInput, imageInput } = usage;
  return (
    input <= bounds.input &&
    output <= bounds.output &&
    units <= bounds.units &&
    cachedInput <= input &&
    cacheWrite <= input - cachedInput &&
    cacheWrite1h <= cacheWrite &&
    audioInput <= input - cachedInput - cacheWrite &&
    imageInput <= input - cachedInput - cacheWrite - audioInput &&
    usage.audioOutput <= output &&
    usage.reasoning <= output
  );
}
