import { listedName } from "./listed-name.ts";
import { findListed } from "./listed-entry.ts";
import type { DecimalTable } from "./price-tables.ts";

/** Context and output limits of a model; undefined if the vendor publishes none. */
export interface ModelLimits {
  readonly outputTokens: number | undefined;
  readonly contextTokens: number | undefined;
  /** The model reasons before it answers, and may not show its reasoning. */
  readonly isReasoning: boolean;
}

interface KnownLimit {
  readonly prefix: string;
  readonly output: number;
  readonly context: number;
}

/**
 * Models that the price list no longer names, by the longest prefix, from the model pages of their vendors:
 * platform.openai.com/docs/models, docs.claude.com/en/docs/about-claude/models, ai.google.dev/gemini-api/docs/models,
 * docs.x.ai/docs/models. A snapshot without its own row has the limits of its model.
 */
const RETIRED: readonly KnownLimit[] = (
  [
    ["chatgpt-4o", 16_384, 128_000],
    ["claude-2", 4_096, 200_000],
    ["claude-3-", 4_096, 200_000],
    ["claude-3-5-", 8_192, 200_000],
    ["claude-3-7-", 128_000, 200_000],
    ["claude-instant", 4_096, 100_000],
    ["gemini-1.5", 8_192, 2_097_152],
    ["gemini-2.0", 8_192, 1_048_576],
    ["gemini-2.5", 65_536, 1_048_576],
    ["gpt-3.5-turbo", 4_096, 16_385],
    ["gpt-4", 8_192, 32_768],
    ["gpt-4-0125", 4_096, 128_000],
    ["gpt-4-1106", 4_096, 128_000],
    ["gpt-4-turbo", 4_096, 128_000],
    ["gpt-4-vision", 4_096, 128_000],
    ["gpt-4.5", 16_384, 128_000],
    ["gpt-4o", 16_384, 128_000],
    ["gpt-5", 128_000, 400_000],
    ["o1-mini", 65_536, 128_000],
    ["o1-preview", 32_768, 128_000],
    ["o3-mini", 100_000, 200_000],
  ] as const
)
  .map(([prefix, output, context]) => ({ prefix, output, context }))
  .sort((a, b) => b.prefix.length - a.prefix.length);

const RETIRED_REASONING = /^(?:o1|o3|gpt-5|gemini-2\.5|claude-3-7-.*thinking)/;

/** Limits of models that the operator has set. */
export interface OwnLimits {
  readonly outputTokens: DecimalTable | undefined;
  readonly contextTokens: DecimalTable | undefined;
}

/** Returns the limits of a model. The operator's limits win over the vendor's. */
export function resolveModelLimits(model: string, own: OwnLimits): ModelLimits {
  const name = listedName(model);
  const { output, context, isReasoning } = vendorLimits(name);
  return {
    outputTokens: readTokens(own.outputTokens, name) ?? output,
    contextTokens: readTokens(own.contextTokens, name) ?? context,
    isReasoning,
  };
}

/** Returns the widest limits of the mapped targets of a name; an unlisted target has the limits of the name. */
export function resolveMappedLimits(name: string, own: OwnLimits, targets: readonly string[] = []): ModelLimits {
  const named = resolveModelLimits(name, own);
  if (targets.length === 0) return named;
  const all = targets.map((target) => resolveModelLimits(target, own));
  const widest = (member: keyof OwnLimits) => {
    const set = readTokens(own[member], name);
    const known = all.flatMap((one) => one[member] ?? named[member] ?? []);
    return set ?? (known.length < all.length ? undefined : Math.max(...known));
  };
  return {
    outputTokens: widest("outputTokens"),
    contextTokens: widest("contextTokens"),
    isReasoning: named.isReasoning || all.some((one) => one.isReasoning),
  };
}

/** Returns whether the operator has set this limit for the name. */
export function isOwnLimit(own: OwnLimits, member: keyof OwnLimits, model: string): boolean {
  return readTokens(own[member], listedName(model)) !== undefined;
}

function readTokens(table: DecimalTable | undefined, name: string): number | undefined {
  const own = table && Object.hasOwn(table, name) ? Math.floor(Number(table[name])) : 0;
  return own >= 1 ? own : undefined;
}

/**
 * Returns the vendor's limits. A name with the prefix of a vendor or router stands for the model without the prefix.
 */
function vendorLimits(name: string) {
  const bare = name.slice(name.lastIndexOf("/") + 1);
  const entries = findListed(name);
  const output = entries.find(({ maxOutputTokens }) => maxOutputTokens !== undefined)?.maxOutputTokens;
  const retired = output === undefined ? RETIRED.find(({ prefix }) => bare.startsWith(prefix)) : undefined;
  return {
    output: output ?? retired?.output,
    context: entries.find(({ contextTokens }) => contextTokens !== undefined)?.contextTokens ?? retired?.context,
    isReasoning:
      entries.some(({ supports = [] }) => supports.includes("reasoning")) ||
      (retired !== undefined && RETIRED_REASONING.test(bare)),
  };
}
