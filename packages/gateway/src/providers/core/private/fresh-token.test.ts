import { describe, expect, it } from "vitest";
import { callOf, exchangeOf, jsonOf } from "../../../../test/kit/provider-kit.ts";
import { withFreshToken } from "./fresh-token.ts";

describe("withFreshToken", () => {
  const dropped: string[] = [];
  const exchange = withFreshToken(
    (answer) => answer.status === 401,
    (call) => void (call.headers["authorization"] = "Bearer new"),
    ({ key }) => void dropped.push(key),
  );

  it("sends once more with another token, and only once", async () => {
    const { context, calls } = exchangeOf([
      { status: 401, json: {} },
      { status: 401, json: { still: "no" } },
    ]);
    const answer = await exchange(callOf("https://h/", { a: 1 }, { authorization: "Bearer old" }), context);
    expect(calls.map((call) => call.headers["authorization"])).toEqual(["Bearer old", "Bearer new"]);
    expect([answer.status, await jsonOf(answer), dropped]).toEqual([401, { still: "no" }, ["key"]]);
  });

  it("hands good answers on unread", async () => {
    const { context, calls } = exchangeOf([{ json: { ok: true } }]);
    expect(await jsonOf(await exchange(callOf("https://h/", {}), context))).toEqual({ ok: true });
    expect(calls.length).toBe(1);
  });

  it("can look into the body and still hand it on", async () => {
    const looking = withFreshToken(
      async (_answer, body) => (await body()).includes("expired"),
      () => undefined,
      () => undefined,
    );
    const { context } = exchangeOf([{ json: { ok: true } }]);
    expect(await jsonOf(await looking(callOf("https://h/", {}), context))).toEqual({ ok: true });
  });
});
