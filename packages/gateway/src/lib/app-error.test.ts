import { describe, expect, it } from "vitest";
import { AppError, ERRORS, invalidRequest, unsupportedParameter } from "./app-error.ts";

describe("AppError", () => {
  it("takes status, message and origin from the table", () => {
    const error = new AppError("model_not_found", { values: { model: "m", group: "g" } });
    expect(error).toMatchObject({
      code: "model_not_found",
      status: 404,
      message: "The model m does not exist in group g.",
      origin: "client",
      retryable: false,
    });
  });

  it("blames the upstream for its own failures and lets them be retried", () => {
    expect(new AppError("upstream_connect_failed")).toMatchObject({ origin: "upstream", status: 502, retryable: true });
    expect(new AppError("model_price_error")).toMatchObject({ origin: "gateway", retryable: false });
  });

  it("does not fill places from inherited properties", () => {
    const error = new AppError("invalid_request", { values: { reason: "{constructor}" } });
    expect(error.message).toBe("{constructor}");
  });

  it("passes an upstream's words on", () => {
    const error = AppError.upstream({
      status: 429,
      message: "slow down",
      type: "tokens",
      code: "rate_limited",
      param: undefined,
      retryable: true,
      retryAfterMs: 1500,
    });
    expect(error).toMatchObject({
      status: 429,
      message: "slow down",
      type: "tokens",
      code: "rate_limited",
      origin: "upstream",
      retryAfterMs: 1500,
    });
  });

  it("wraps unknown values without showing them", () => {
    const error = AppError.from(new Error("SELECT secret"));
    expect(error).toMatchObject({ code: "internal_error", status: 500, message: "Internal error." });
    expect(AppError.from(error)).toBe(error);
  });

  it("names the field at fault", () => {
    expect(invalidRequest("messages", "messages is required.")).toMatchObject({
      param: "messages",
      message: "messages is required.",
    });
    expect(unsupportedParameter("n").message).toBe("n cannot be used with this model here.");
  });

  it("keeps every status inside the error range", () => {
    for (const entry of Object.values(ERRORS)) expect(entry.status).toBeGreaterThanOrEqual(400);
  });
});
