import { NO_USAGE, type Usage } from "../../dialects/core/types.ts";

/** Returns the cost of both together. */
export function sum(one: Usage, other: Usage): Usage {
  return {
    input: one.input + other.input,
    output: one.output + other.output,
    cachedInput: one.cachedInput + other.cachedInput,
    cacheWrite: one.cacheWrite + other.cacheWrite,
    cacheWrite1h: one.cacheWrite1h + other.cacheWrite1h,
    reasoning: one.reasoning + other.reasoning,
    audioInput: one.audioInput + other.audioInput,
    audioOutput: one.audioOutput + other.audioOutput,
    imageInput: one.imageInput + other.imageInput,
    ...(one.units === undefined && other.units === undefined ? {} : { units: (one.units ?? 0) + (other.units ?? 0) }),
    source: one.source === other.source || one === NO_USAGE ? other.source : "mixed",
    ...reportedBy(one, other),
  };
}

/** Returns the sum of the reported numbers if one of them was out of bounds. */
function reportedBy(one: Usage, other: Usage): Pick<Usage, "reported"> | undefined {
  if (!one.reported && !other.reported) return undefined;
  const [a, b] = [one.reported ?? one, other.reported ?? other];
  const units = (a.units ?? 0) + (b.units ?? 0);
  return { reported: { input: a.input + b.input, output: a.output + b.output, units } };
}
