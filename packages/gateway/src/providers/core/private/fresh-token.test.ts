import { describe, expect, it } from "vitest";
import { createUpstreamCall, createExchange, readJson } from "../../../../test/kit/provider-kit.ts";
import { withFreshToken } from "./fresh-token.ts";

describe("withFreshToken", () => {
  const dropped: string[] = [];
  const exchange = withFreshToken(
    (answer) => answer.status === 401,
    (call) => void (call.headers["authorization"] = "Bearer new"),
    ({ key }) => void dropped.push(key),
  );

  it("sends once more with another token, and only once", async () => {
    const { context, calls } = createExchange([
      { status: 401, json: {} },
      { status: 401, json: { still: "no" } },
    ]);
    const answer = await exchange(createUpstreamCall("https://h/", { a: 1 }, { authorization: "Bearer old" }), context);
    expect(calls.map((call) => call.headers["authorization"])).toEqual(["Bearer old", "Bearer new"]);
    expect([answer.status, await readJson(answer), dropped]).toEqual([401, { still: "no" }, ["key"]]);
  });

  it("hands good answers on unread", async () => {
    const { context, calls } = createExchange([{ json: { ok: true } }]);
    expect(await readJson(await exchange(createUpstreamCall("https://h/", {}), context))).toEqual({ ok: true });
    expect(calls.length).toBe(1);
  });

  it("can look into the body and still hand it on", async () => {
    const looking = withFreshToken(
      async (_answer, body) => (await body()).includes("expired"),
      () => undefined,
      () => undefined,
    );
    const { context } = createExchange([{ json: { ok: true } }]);
    expect(await readJson(await looking(createUpstreamCall("https://h/", {}), context))).toEqual({ ok: true });
  });
});
