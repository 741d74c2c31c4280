import { expect, test } from "vitest";
import { findFailureText, findFaultOrigin, findUpstreamReason, type TranslateFailure } from "./reasons.ts";

const t = ((name: string) => name) as unknown as TranslateFailure;

test.each([
  ["a value that the upstream refuses", { error_code: "invalid_value", status_code: 400 }, "reasonRefused"],
  ["a refusal without a code", { status_code: 422 }, "reasonRefused"],
  [
    "a code that means something else at the gateway",
    { error_code: "model_not_found", status_code: 404 },
    "reasonRefused",
  ],
  ["an answer that failed", { error_code: "server_error", status_code: 500 }, "reasonUpstream"],
  ["the gateway's own code", { error_code: "upstream_timeout", status_code: 504 }, "reasonTimeout"],
])("of an upstream's error, %s has its own reason", (_what, recorded, reason) => {
  expect(findFailureText({ ...recorded, error_type: "upstream" }, t)).toBe(reason);
});

test("an attempt that was refused did not fail, and keeps an unknown code", () => {
  expect(findUpstreamReason("upstream_error", 400, t)).toBe("reasonRefused");
  expect(findUpstreamReason("upstream_error", 500, t)).toBe("reasonUpstream");
  expect(findUpstreamReason("invalid_value", 400, t)).toBeUndefined();
  expect(findUpstreamReason("idle_timeout", 200, t)).toBe("reasonSilent");
});

test("a request that an upstream refuses is at fault, not the upstream", () => {
  expect(findFaultOrigin({ error_type: "upstream", outcome: "client_error" })).toBe("client");
  expect(findFaultOrigin({ error_type: "upstream", outcome: "upstream_error" })).toBe("upstream");
});
