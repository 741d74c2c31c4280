// One scale of reasoning effort, and the token budgets of protocols that have no names for efforts.

export const EFFORTS = ["none", "minimal", "low", "medium", "high", "xhigh", "max"] as const;
export type Effort = (typeof EFFORTS)[number];

export function readEffort(value: unknown): Effort | undefined {
  return EFFORTS.find((effort) => effort === value);
}

const CLAUDE_BUDGETS: Readonly<Record<Effort, number>> = {
  none: 0,
  minimal: 1024,
  low: 1280,
  medium: 2048,
  high: 4096,
  xhigh: 8192,
  max: 16_384,
};

const GEMINI_BUDGETS: Readonly<Record<Effort, number>> = {
  none: 0,
  minimal: 512,
  low: 1024,
  medium: 8192,
  high: 24_576,
  xhigh: 24_576,
  max: 24_576,
};

export function claudeBudget(effort: Effort): number {
  return CLAUDE_BUDGETS[effort];
}

export function geminiBudget(effort: Effort): number {
  return GEMINI_BUDGETS[effort];
}

/** Converts a budget of Anthropic's protocol to an effort. */
export function convertClaudeBudget(budget: number): Effort {
  if (budget < CLAUDE_BUDGETS.medium) return "low";
  return budget < CLAUDE_BUDGETS.high ? "medium" : "high";
}

/** Converts a budget of Gemini's protocol to an effort; -1 leaves it to the model. */
export function convertGeminiBudget(budget: number): Effort | undefined {
  if (budget < 0) return undefined;
  if (budget === 0) return "none";
  if (budget <= GEMINI_BUDGETS.low) return "low";
  return budget <= GEMINI_BUDGETS.medium ? "medium" : "high";
}

/** False for models of OpenAI that refuse the effort member itself. */
export function takesEffort(model: string): boolean {
  return !/^(?:openai\/)?(?:gpt-3|gpt-4|chatgpt-|gpt-5(?:\.\d+)?-chat)/.test(model);
}
