// The features of a Claude model, by the generation in its name; names of Bedrock and Vertex hold the same numbers.

export interface ClaudeModel {
  readonly family: string;
  /** Major and minor as one comparable number: 4.5 is 405. Unknown names count as the newest. */
  readonly version: number;
}

const NEWEST = 9900;
const NAME = /claude-(?:([a-z]+)-)?(\d+)(?:[-.](\d{1,2})(?!\d))?(?:-([a-z]+))?/;

export function claudeModel(name: string): ClaudeModel {
  const found = NAME.exec(name.toLowerCase());
  if (found === null) return { family: "", version: NEWEST };
  const [, first, major, minor, last] = found;
  return { family: first ?? last ?? "", version: Number(major) * 100 + Number(minor ?? 0) };
}

/** True if the model thinks by effort instead of by a token budget. */
export function thinksAdaptively({ version }: ClaudeModel): boolean {
  return version >= 406;
}

/** True if the model refuses a token budget for thinking. */
export function refusesBudgets({ version }: ClaudeModel): boolean {
  return version >= 407 && version !== NEWEST;
}

/** True if the model can think at all. */
export function canThink({ version }: ClaudeModel): boolean {
  return version >= 307;
}

/** True if the model cannot be instructed not to think. */
export function alwaysThinks({ family, version }: ClaudeModel): boolean {
  return version >= 500 && (family === "fable" || (family === "opus" && version >= 505));
}

/** True if the model thinks at least between tool calls: it refuses `disabled` and has a value of its own instead. */
export function thinksBetweenTools({ family, version }: ClaudeModel): boolean {
  return version >= 505 && family === "sonnet";
}

/** True if the model refuses to be forced to call a tool. */
export function refusesForcedTools({ family, version }: ClaudeModel): boolean {
  return family === "fable" ? version >= 501 : version >= 505 && (family === "opus" || family === "sonnet");
}

/** True if the model refuses temperature, top_p and top_k. */
export function refusesSampling({ version }: ClaudeModel): boolean {
  return version >= 407;
}

/** True if the model takes `output_config.format` and strict tools. */
export function hasStructuredOutput({ family, version }: ClaudeModel): boolean {
  return version >= 405 || (family === "opus" && version === 401);
}

/** True if the model takes either temperature or top_p but not both. */
export function refusesSamplingTogether({ version }: ClaudeModel): boolean {
  return version >= 400;
}

const UNKNOWN_LIMIT = 4096;

/** Returns the output limit that is sent if the client sets none: the model's maximum. */
export function defaultOutputTokens(model: ClaudeModel): number {
  return findMaxOutputTokens(model) ?? UNKNOWN_LIMIT;
}

/** Returns the most tokens that one answer of the model may have; undefined for names without a generation. */
export function findMaxOutputTokens({ family, version }: ClaudeModel): number | undefined {
  if (version === NEWEST) return undefined;
  if (version < 305) return 4096;
  if (version < 307) return 8192;
  if (version < 406) return family === "opus" && version < 405 ? 32_000 : 64_000;
  return version < 500 && family !== "opus" ? 64_000 : 128_000;
}
