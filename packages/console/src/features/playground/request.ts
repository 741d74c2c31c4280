/** The state of the parameters panel; undefined values are not sent, so the model's default applies. */
export interface Settings {
  readonly system: string;
  readonly temperature: number | undefined;
  /** As typed; 0 and "" are not sent. */
  readonly maxTokens: string;
  readonly topP: number | undefined;
  /** As typed. */
  readonly seed: string;
  readonly isJson: boolean;
}

export const NO_SETTINGS: Settings = {
  system: "",
  temperature: undefined,
  maxTokens: "",
  topP: undefined,
  seed: "",
  isJson: false,
};

export interface Turn {
  readonly role: "user" | "assistant";
  readonly text: string;
}

export interface Choice {
  readonly model: string;
  /** "" means the user's own group. */
  readonly group: string;
}

function wholeNumber(text: string): number | undefined {
  return /^-?\d{1,15}$/.test(text.trim()) ? Number(text) : undefined;
}

/** Builds the chat request with exactly the members that were set. `group` is the playground's own member. */
export function buildRequestBody(
  turns: readonly Turn[],
  { model, group }: Choice,
  settings: Settings,
): Record<string, unknown> {
  const system = settings.system.trim();
  const maxTokens = wholeNumber(settings.maxTokens) ?? 0;
  const seed = wholeNumber(settings.seed);
  return {
    model,
    ...(group === "" ? undefined : { group }),
    messages: [
      ...(system === "" ? [] : [{ role: "system", content: system }]),
      ...turns.map(({ role, text }) => ({ role, content: text })),
    ],
    stream: true,
    stream_options: { include_usage: true },
    ...(settings.temperature === undefined ? undefined : { temperature: settings.temperature }),
    ...(settings.topP === undefined ? undefined : { top_p: settings.topP }),
    ...(maxTokens > 0 ? { max_tokens: maxTokens } : undefined),
    ...(seed === undefined ? undefined : { seed }),
    ...(settings.isJson ? { response_format: { type: "json_object" } } : undefined),
  };
}
