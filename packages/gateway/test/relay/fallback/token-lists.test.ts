import type { Token } from "@fairway/wire";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { chat, useRelay } from "../../kit/relay-app.ts";
import { ANSWER, answer, FIRST, OVERLOADED, SECOND, TOO_LONG } from "./fallback-kit.ts";

const relay = useRelay();

beforeAll(async () => {
  await relay.gateway.channel(FIRST, { type: 14 });
  await relay.gateway.channel(SECOND);
});

beforeEach(() => relay.gateway.option("ModelFallbacks", "{}"));

const servedWith = async (fallbacks: string, headers: Record<string, string> = {}) => {
  const key = await relay.gateway.token({ fallbacks });
  const response = await relay.gateway.post("/v1/chat/completions", chat(FIRST), key, {
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json", ...headers },
  });
  await response.text();
  return response.headers.get("x-fairway-model") ?? response.status;
};

describe("a token's own list of models", () => {
  it("goes before the operator's, for all of its models", async () => {
    answer(relay, OVERLOADED, ANSWER);
    expect(await servedWith("inherit")).toBe(503);
    expect(await servedWith(JSON.stringify([SECOND]))).toBe(SECOND);
    await relay.gateway.option("ModelFallbacks", JSON.stringify({ "*": [SECOND] }));
    expect(await servedWith("inherit")).toBe(SECOND);
    expect(await servedWith("off")).toBe(503);
    expect(await servedWith(JSON.stringify(["elsewhere"]))).toBe(503);
  });

  it("has causes of its own", async () => {
    answer(relay, TOO_LONG, ANSWER);
    expect(await servedWith(JSON.stringify([SECOND]))).toBe(400);
    expect(await servedWith(JSON.stringify([{ model: SECOND, on: ["context"] }]))).toBe(SECOND);
  });

  it("forbids the client's list when it is off", async () => {
    answer(relay, OVERLOADED, ANSWER);
    expect(await servedWith("off", { "x-fairway-fallback": SECOND })).toBe(503);
    expect(await servedWith("inherit", { "x-fairway-fallback": SECOND })).toBe(SECOND);
  });

  it("is stored in one form, stays when a change does not name it, and is refused if it cannot work", async () => {
    const { root } = relay.gateway;
    const list = JSON.stringify([
      { model: SECOND, on: ["error"] },
      { model: "b", on: ["limit", "error"] },
    ]);
    const made = (await root.must("POST", "/api/token/", { name: "own", fallbacks: list })) as Token;
    expect(made.fallbacks).toBe(JSON.stringify([SECOND, { model: "b", on: ["error", "limit"] }]));
    const { id, name } = made;
    expect(await root.must("PUT", "/api/token/", { id, name })).toMatchObject({ fallbacks: made.fallbacks });
    expect(await root.must("PUT", "/api/token/", { id, name, fallbacks: "inherit" })).toMatchObject({
      fallbacks: "inherit",
    });
    await expect(root.must("POST", "/api/token/", { name: "bad", fallbacks: '["a","a"]' })).rejects.toThrow(/twice/);
    await expect(root.must("POST", "/api/token/", { name: "bad", fallbacks: "b" })).rejects.toThrow(/JSON list/);
  });
});
