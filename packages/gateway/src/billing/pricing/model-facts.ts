import type { ModelLimits } from "./model-limits.ts";
import { findListed } from "./listed-entry.ts";
import type { ListPrice } from "./price-data.ts";

/** What a model takes and gives, in the words of OpenRouter's list: `text`, `image`, `audio`, `video`, `file`, `embeddings`. */
export interface Modalities {
  readonly input: readonly string[];
  readonly output: readonly string[];
}

/** What is known of a model in addition to its price; a member is undefined where no one says it. */
export interface ModelFacts extends Omit<ModelLimits, "isReasoning"> {
  /** The kind of call that the price list names: `chat`, `embedding`, `audio_speech`, ... */
  readonly mode: string | undefined;
  readonly modalities: Modalities | undefined;
  /** `function_calling`, `reasoning`, `vision`, `pdf_input`, ...; undefined where the list does not name the model. */
  readonly supports: readonly string[] | undefined;
  /** ISO date on which the vendor ends the model. */
  readonly retiresAt: string | undefined;
}

/** Modalities of a kind of call, before what the model supports is added. */
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

/** Inputs that a model takes in addition to those of its mode. */
const BY_SUPPORT = { vision: "image", audio_input: "audio", pdf_input: "file" } as const;

/** What the upstream's own list says of a model. */
export interface UpstreamFacts {
  readonly contextTokens?: number;
  readonly outputTokens?: number;
  readonly input?: readonly string[];
  readonly output?: readonly string[];
}

export interface FactSources {
  readonly limits: ModelLimits;
  /** Which of the limits the operator set. */
  readonly isSetByOperator: (member: "contextTokens" | "outputTokens") => boolean;
  /** The operator's word, such as `text+image->text`. */
  readonly modalities: string | undefined;
  readonly upstream: UpstreamFacts | undefined;
}

/** The operator's word wins over the upstream's, and that over the price list. */
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
  // A model with a longest answer in tokens speaks between its pictures.
  const usual = mode === "image_generation" && maxOutputTokens !== undefined ? SPEAKING_PAINTER : OF_MODE[mode];
  if (!usual) return undefined;
  const more = Object.entries(BY_SUPPORT).flatMap(([name, input]) => (supports.includes(name) ? [input] : []));
  return { input: [...new Set([...usual.input, ...more])], output: usual.output };
}

function parseModalities(text: string): Modalities {
  const [input = "", output = ""] = text.split("->");
  return { input: input.split("+"), output: output.split("+") };
}
