import type { ModelFacts } from "../../billing/pricing/model-facts.ts";
import type { Price } from "../../billing/pricing/rates.ts";
import { exactText, type Ratio, reduceFraction, knownRatio, over, times } from "../../billing/money/ratio.ts";
import type { Snapshot } from "../../snapshot/types.ts";

/** What a model list says about a model in addition to its name. */
export interface ModelDetails {
  readonly facts: ModelFacts;
  /** US dollars in decimal text, by OpenRouter's names; undefined if prices are not listed or unknown. */
  readonly pricing: Readonly<Record<string, string>> | undefined;
}

/** Reads the details of models for callers of `group`; undefined if the operator switched them off. */
export function createDetails(snapshot: Snapshot, group: string): ((model: string) => ModelDetails) | undefined {
  const { options, prices } = snapshot;
  if (!options.ModelDetails) return undefined;
  const groupRatio = knownRatio(prices.groupRatio(group));
  const perUnit = over(groupRatio, knownRatio(String(options.QuotaPerUnit)));
  return (model) => {
    // The price of self-use mode is not a price of the model.
    const price = options.ModelListPrices ? prices.find(model) : undefined;
    return { facts: prices.facts(model), pricing: price && readPricing(price, groupRatio, perUnit) };
  };
}

/** @param perUnit US dollars that the caller pays for a unit of quota */
function readPricing(price: Price, groupRatio: Ratio, perUnit: Ratio): Record<string, string> {
  if (price.kind === "call") {
    const dollars = decimal(times(price.exact, groupRatio));
    return { prompt: "0", completion: "0", [price.unit === "image" ? "image" : "request"]: dollars };
  }
  const { exact } = price.weights;
  const dollars = (weight: bigint) => decimal(times(reduceFraction(weight, exact.denominator), perUnit));
  return {
    prompt: dollars(exact.input),
    completion: dollars(exact.output),
    input_cache_read: dollars(exact.cached),
    input_cache_write: dollars(exact.write),
    ...(exact.reasoning !== exact.output && { internal_reasoning: dollars(exact.reasoning) }),
  };
}

const DECIMALS = 18;

/** Returns decimal text; an endless fraction is cut after eighteen decimals. */
function decimal(value: Ratio): string {
  const text = exactText(value);
  if (!text.includes("/")) return text;
  return exactText(reduceFraction((value.num * 10n ** BigInt(DECIMALS)) / value.den, 10n ** BigInt(DECIMALS)));
}

/** Returns the members that clients of OpenRouter, vLLM, Groq and LM Studio read; only what is known. */
export function openAiDetails({ facts, pricing }: ModelDetails): object {
  const { modalities, mode } = facts;
  return {
    ...readLengths(facts),
    ...(modalities && {
      type: findType(facts),
      architecture: {
        modality: `${modalities.input.join("+")}->${modalities.output.join("+")}`,
        input_modalities: modalities.input,
        output_modalities: modalities.output,
      },
    }),
    ...(facts.supports && mode !== undefined && isText(facts) && { supported_parameters: findParameters(facts) }),
    ...(pricing && { pricing }),
    ...(facts.retiresAt !== undefined && { expiration_date: facts.retiresAt }),
  };
}

function readLengths({ contextTokens, outputTokens }: ModelFacts): object {
  return {
    ...(contextTokens !== undefined && {
      context_length: contextTokens,
      context_window: contextTokens,
      max_model_len: contextTokens,
      max_context_length: contextTokens,
    }),
    ...(outputTokens !== undefined && { max_completion_tokens: outputTokens }),
    ...((contextTokens ?? outputTokens) !== undefined && {
      top_provider: { context_length: contextTokens ?? null, max_completion_tokens: outputTokens ?? null },
    }),
  };
}

/** Returns the type in LM Studio's words. */
function findType({ modalities }: ModelFacts): string | undefined {
  if (modalities?.output.includes("embeddings")) return "embeddings";
  if (!modalities?.output.includes("text")) return undefined;
  return modalities.input.includes("image") ? "vlm" : "llm";
}

function isText({ modalities }: ModelFacts): boolean {
  return (modalities?.input.includes("text") && modalities.output.includes("text")) ?? false;
}

function findParameters({ supports = [] }: ModelFacts): string[] {
  return [
    "max_tokens",
    "stop",
    ...(supports.includes("function_calling") ? ["tools", "tool_choice"] : []),
    ...(supports.includes("reasoning") ? ["reasoning", "include_reasoning"] : ["temperature", "top_p"]),
  ];
}

/** Returns the members of a model in Anthropic's list; null = unknown. */
export function anthropicDetails({ facts }: ModelDetails): object {
  return {
    max_input_tokens: facts.contextTokens ?? null,
    max_tokens: facts.outputTokens ?? null,
    capabilities: null,
    lifecycle: facts.retiresAt === undefined ? "active" : "deprecated",
    deprecated_at: null,
    retires_at: facts.retiresAt === undefined ? null : new Date(facts.retiresAt).toISOString(),
    line: null,
  };
}

/** Returns the members of a model in Gemini's list; only what is known. */
export function geminiDetails({ facts }: ModelDetails): object {
  return {
    ...(facts.contextTokens !== undefined && { inputTokenLimit: facts.contextTokens }),
    ...(facts.outputTokens !== undefined && { outputTokenLimit: facts.outputTokens }),
    ...(facts.supports && { thinking: facts.supports.includes("reasoning") }),
  };
}
