import type { ProviderAdapter } from "../../core/types.ts";

const SMALLEST_PREFIX = 1024;
/** The first version whose prompts take breakpoints; older models cache without them. */
const FIRST = { major: 5, minor: 6 } as const;

function findSmallest(model: string): number | undefined {
  const [, major = "0", minor = "0"] = /(?:^|\/)gpt-(\d+)(?:\.(\d+))?/.exec(model) ?? [];
  const isNew = Number(major) > FIRST.major || (Number(major) === FIRST.major && Number(minor) >= FIRST.minor);
  return isNew ? SMALLEST_PREFIX : undefined;
}

export const OPENAI_BREAKPOINTS: NonNullable<ProviderAdapter["cacheMarks"]> = {
  "openai-chat": findSmallest,
  "openai-responses": findSmallest,
};
