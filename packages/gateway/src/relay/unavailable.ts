import { AppError } from "../lib/app-error.ts";

/** 503: channels have the model, and none of them may serve now. */
export function unavailable(groups: readonly string[], model: string): AppError {
  return new AppError("no_available_channel", { values: { model, group: groups.join(", ") }, retryAfterMs: 5_000 });
}

/** Channels have the model, and none of them this endpoint, now or later: clients are told not to try again. */
export function unserved(model: string): AppError {
  return new AppError("no_available_channel", {
    param: "model",
    message: `No channel of ${model} serves this endpoint.`,
    retryable: false,
    retryAfterMs: 5_000,
  });
}
