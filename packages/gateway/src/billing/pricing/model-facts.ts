import type { ModelLimits } from "./model-limits.ts";
import { findListed } from "./listed-entry.ts";
import type { ListPrice } from "./price-data.ts";

/**
 * Inputs and outputs of a model, in the terms of OpenRouter's list: `text`, `image`, `audio`, `video`, `file`,
 * `embeddings`.
 */
export interface Modalities {
  readonly input: readonly string[];
  readonly output: readonly string[];
}

/** Known properties of a model in addition to its price; unknown members are undefined. */
export interface ModelFacts extends Omit<ModelLimits, "isReasoning"> {
  /** The mode that the price list gives: `chat`, `embedding`, `audio_speech`, ... */
  readonly mode: string | undefined;
  readonly modalities: Modalities | undefined;
  /** `function_calling`, `reasoning`, `vision`, `pdf_input`, ...; undefined if the list does not contain the model. */
  readonly supports: readonly string[] | undefined;
  /** ISO date on which the vendor retires the model. */
  readonly retiresAt: string | undefined;
}

/** Modalities of each mode, before those of `supports` are added. */
const OF_MODE: Readonly<Record<string, Modalities>> = {
  chat: { input: ["text"], output: ["text"] },
  responses: { input: ["text"], output: ["text"] },
  completion: { input: ["text"], output: ["text"] },
  realtime: { input: ["text", "audio"], output: ["text", "audio"] },
  embedding: { input: ["text"], output: ["embeddings"] },
  audio_speech: { input: ["text"], output: ["audio"] },
  audio_transcription: { input: ["audio"], output: ["text"] },
  image_generation: { input: ["text"], output: ["image"] },
  image_edit: { input: ["text", "image"], output: ["image"] },
  video_generation: { input: ["text"], output: ["video"] },
};

const SPEAKING_PAINTER: Modalities = { input: ["text"], output: ["text", "image"] };

/** Inputs that a model accepts in addition to those of its mode. */
const BY_SUPPORT = { vision: "image", audio_input: "audio", pdf_input: "file" } as const;

/** Properties of a model from the upstream's own list. */
export interface UpstreamFacts {
  readonly contextTokens?: number;
  readonly outputTokens?: number;
  readonly input?: readonly string[];
  readonly output?: readonly string[];
}

export interface FactSources {
  readonly limits: ModelLimits;
  /** Returns whether the operator set this limit. */
  readonly isSetByOperator: (member: "contextTokens" | "outputTokens") => boolean;
  /** The operator's value, such as `text+image->text`. */
  readonly modalities: string | undefined;
  readonly upstream: UpstreamFacts | undefined;
}

/** Returns the facts of a model. The operator's values win over the upstream's, and those over the price list. */
export function findModelFacts(
  name: string,
  { limits, isSetByOperator, modalities, upstream = {} }: FactSources,
): ModelFacts {
  const listed = findListed(name)[0];
  const { input, output } = upstream;
  const said = input && output ? { input, output } : listed && readModalities(listed);
  const findLimit = (member: "contextTokens" | "outputTokens") =>
    isSetByOperator(member) ? limits[member] : (upstream[member] ?? limits[member]);
  return {
    contextTokens: findLimit("contextTokens"),
    outputTokens: findLimit("outputTokens"),
    mode: listed?.mode,
    modalities: modalities === undefined ? said : parseModalities(modalities),
    supports: listed && (listed.supports ?? []),
    retiresAt: listed?.deprecated,
  };
}

function readModalities({ mode, maxOutputTokens, supports = [] }: ListPrice): Modalities | undefined {
  // An image model with a maximum answer in tokens also writes text.
  const usual = mode === "image_generation" && maxOutputTokens !== undefined ? SPEAKING_PAINTER : OF_MODE[mode];
  if (!usual) return undefined;
  const more = Object.entries(BY_SUPPORT).flatMap(([name, input]) => (supports.includes(name) ? [input] : []));
  return { input: [...new Set([...usual.input, ...more])], output: usual.output };
}

function parseModalities(text: string): Modalities {
  const [input = "", output = ""] = text.split("->");
  return { input: input.split("+"), output: output.split("+") };
}
