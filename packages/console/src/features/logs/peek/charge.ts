import type { LogRow } from "@fairway/wire";
import type { LogOther } from "../other.ts";

type ChargePart =
  | "lineInput"
  | "lineCached"
  | "lineCacheWrite"
  | "lineAudioInput"
  | "lineImageInput"
  | "lineOutput"
  | "lineAudioOutput";

interface ChargeLine {
  readonly part: ChargePart;
  readonly tokens: number;
  /** US dollars for a million tokens, before the group ratio. */
  readonly perMillion: number;
}

export type Charge = Sum &
  (
    | { readonly kind: "tokens"; readonly lines: readonly ChargeLine[]; readonly groupRatio: number }
    | { readonly kind: "call"; readonly price: number; readonly groupRatio: number }
  );

/** US dollars, so that the lines add up to the total. */
interface Sum {
  /** What the group ratio adds to the lines before it. */
  readonly byGroup: number;
  /** The rest of the total; 0 if the lines explain all of it. */
  readonly rest: number;
  /** The rest is less than one unit: the charge was rounded. */
  readonly isRounding: boolean;
}

/** Below this, differences are floating-point noise. */
const DUST = 1e-9;

function calculateSum(lines: number, groupRatio: number, { quota }: LogRow, quotaPerUnit: number): Sum {
  const rest = quota / quotaPerUnit - lines * groupRatio;
  return {
    byGroup: lines * (groupRatio - 1),
    rest: Math.abs(rest) < DUST ? 0 : rest,
    isRounding: Math.abs(rest) * quotaPerUnit < 1,
  };
}

/** Explains the charge of a consumption row with the ratios of that time; undefined if it has none. */
export function explainCharge(row: LogRow, other: LogOther, quotaPerUnit: number): Charge | undefined {
  const { group_ratio: groupRatio, model_price: price, model_ratio: ratio } = other;
  if (price > 0) return { kind: "call", price, groupRatio, ...calculateSum(price, groupRatio, row, quotaPerUnit) };
  if (ratio === undefined) return undefined;
  const input = (ratio * 1_000_000) / quotaPerUnit;
  const audio = input * other.audio_ratio;
  const { cache_tokens: cached, cache_creation_tokens: written, audio_input, audio_output, image_tokens } = other;
  const plainInput = row.prompt_tokens - cached - written - audio_input - image_tokens;
  const lines: ChargeLine[] = [
    { part: "lineInput", tokens: Math.max(0, plainInput), perMillion: input },
    { part: "lineCached", tokens: cached, perMillion: input * other.cache_ratio },
    { part: "lineCacheWrite", tokens: written, perMillion: input * other.cache_creation_ratio },
    { part: "lineAudioInput", tokens: audio_input, perMillion: audio },
    { part: "lineImageInput", tokens: image_tokens, perMillion: input * other.image_ratio },
    {
      part: "lineOutput",
      tokens: Math.max(0, row.completion_tokens - audio_output),
      perMillion: input * other.completion_ratio,
    },
    { part: "lineAudioOutput", tokens: audio_output, perMillion: audio * other.audio_completion_ratio },
  ];
  const shown = lines.filter((line) => line.tokens > 0);
  const sum = shown.reduce((dollars, { tokens, perMillion }) => dollars + (tokens * perMillion) / 1_000_000, 0);
  return { kind: "tokens", lines: shown, groupRatio, ...calculateSum(sum, groupRatio, row, quotaPerUnit) };
}
