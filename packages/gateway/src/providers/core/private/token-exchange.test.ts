import { describe, expect, it } from "vitest";
import { createChannelRecord } from "../../../../test/kit/provider-kit.ts";
import { accessToken } from "../../vendors/baidu/token.ts";
import type { HttpJson } from "../types.ts";
import { UpstreamRefusal, type UpstreamError } from "../failed-answer.ts";

let serial = 0;

/** Runs an exchange that fails and returns its error; each run uses its own key, because tokens are cached. */
async function catchUpstreamError(http: HttpJson): Promise<UpstreamError | undefined> {
  try {
    await accessToken(createChannelRecord({ type: 15 }), {
      key: `id-${serial++}|secret`,
      now: 0,
      http,
      clientHeaders: {},
    });
    return undefined;
  } catch (error) {
    if (!(error instanceof UpstreamRefusal)) throw error;
    return error.upstreamError;
  }
}

const answered = (status: number, json: unknown): HttpJson => {
  return () => Promise.resolve({ status, json, text: "" });
};

describe("exchanges of tokens", () => {
  it("are tried elsewhere when their host cannot be reached", async () => {
    const refused = () => Promise.reject(Object.assign(new Error("connect"), { code: "ECONNREFUSED" }));
    expect(await catchUpstreamError(refused)).toMatchObject({
      class: "server",
      status: 502,
      retry: true,
      disable: false,
    });
  });

  it.each([
    [401, { error: "invalid_client" }, "bad_key", true],
    [400, { error: "invalid_grant" }, "bad_key", true],
    [400, { error: "temporarily_unavailable" }, "server", false],
    [429, { error: "slow_down" }, "rate_limit", false],
    [503, undefined, "overloaded", false],
    [200, undefined, "server", false],
    [404, undefined, "server", false],
  ] as const)("answered with %d and %j are %s", async (status, json, errorClass, disable) => {
    expect(await catchUpstreamError(answered(status, json))).toMatchObject({ class: errorClass, disable, retry: true });
  });
});
