import type { RequestSpec, DialectId } from "../../dialects/core/types.ts";
import { AppError } from "../../lib/app-error.ts";

/** Returns a 503: channels have the model, but none of them may serve now. */
export function unavailable(groups: readonly string[], model: string): AppError {
  return new AppError("no_available_channel", { values: { model, group: groups.join(", ") }, retryAfterMs: 5_000 });
}

/** Advice for the client. */
const CURES: Readonly<Partial<Record<DialectId, string>>> = {
  "openai-compaction": "Ask the model for a summary of the conversation and continue from it.",
};

/** Channels have the model, but none of them serves this endpoint, now or later: clients must not retry. */
export function unserved({ model, dialect }: Pick<RequestSpec, "model" | "dialect">): AppError {
  const cure = CURES[dialect];
  return new AppError("no_available_channel", {
    param: "model",
    message: `No channel of ${model} serves this endpoint.${cure === undefined ? "" : ` ${cure}`}`,
    retryable: false,
    retryAfterMs: 5_000,
  });
}
