/** A model of the sample traffic. `usage` is the median of prompt and completion tokens. */
export interface SampleModel {
  readonly name: string;
  /** Type of the channels that serve it. */
  readonly type: number;
  readonly ratio: number;
  readonly completionRatio: number;
  readonly usage: readonly [number, number];
}

const OPENAI = 1;
const ANTHROPIC = 14;
const GEMINI = 24;

/** Most used first. */
export const SAMPLE_MODELS: readonly SampleModel[] = [
  { name: "gpt-4o-mini", type: OPENAI, ratio: 0.075, completionRatio: 4, usage: [900, 220] },
  { name: "claude-sonnet-4-5", type: ANTHROPIC, ratio: 1.5, completionRatio: 5, usage: [3_800, 420] },
  { name: "gpt-4o", type: OPENAI, ratio: 1.25, completionRatio: 4, usage: [1_200, 300] },
  { name: "gemini-2.5-flash", type: GEMINI, ratio: 0.15, completionRatio: 8.333333, usage: [1_500, 350] },
  { name: "gpt-4.1-mini", type: OPENAI, ratio: 0.2, completionRatio: 4, usage: [1_100, 240] },
  { name: "text-embedding-3-small", type: OPENAI, ratio: 0.01, completionRatio: 1, usage: [420, 0] },
  { name: "claude-haiku-4-5", type: ANTHROPIC, ratio: 0.5, completionRatio: 5, usage: [1_400, 260] },
  { name: "gemini-2.5-pro", type: GEMINI, ratio: 0.625, completionRatio: 8, usage: [2_600, 800] },
  { name: "gpt-4.1", type: OPENAI, ratio: 1, completionRatio: 4, usage: [1_600, 340] },
  { name: "claude-opus-4-5", type: ANTHROPIC, ratio: 2.5, completionRatio: 5, usage: [4_200, 700] },
  { name: "o3-mini", type: OPENAI, ratio: 0.55, completionRatio: 4, usage: [800, 1_400] },
  { name: "gemini-2.0-flash", type: GEMINI, ratio: 0.05, completionRatio: 4, usage: [900, 200] },
];
