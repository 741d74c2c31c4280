import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { chat, readError, useRelay } from "../../kit/relay-app.ts";
import { ANSWER, answer, FIRST, OVERLOADED, SECOND } from "./fallback-kit.ts";

const relay = useRelay();

beforeAll(async () => {
  await relay.gateway.channel(FIRST, { type: 14 });
  await relay.gateway.channel(SECOND);
});

beforeEach(async () => {
  await relay.gateway.option("ClientFallbacks", true);
  await relay.gateway.option("ModelFallbacks", "{}");
});

const messages = [{ role: "user", content: "hi" }];
const ask = (body: object, headers: Record<string, string> = {}) =>
  relay.gateway.post("/v1/chat/completions", body, relay.key, {
    headers: { authorization: `Bearer ${relay.key}`, "content-type": "application/json", ...headers },
  });

describe("a client's own list of models", () => {
  it.each([
    ["models without a model", { models: [FIRST, SECOND], messages }],
    ["models after the model", { model: FIRST, models: [FIRST, SECOND], messages }],
    ["fallbacks by name", { model: FIRST, fallbacks: [SECOND], messages }],
    ["fallbacks as objects", { model: FIRST, fallbacks: [{ model: SECOND }], messages }],
  ])("may be the body's %s, which no upstream gets", async (_what, body) => {
    const seen = answer(relay, OVERLOADED, ANSWER);
    const response = await ask(body);
    expect(response.status).toBe(200);
    expect(response.headers.get("x-fairway-fallback")).toBe(`from=${FIRST}; reason=overloaded; hops=1`);
    expect(seen).toHaveLength(2);
    for (const sent of seen) expect(Object.keys(sent)).not.toContain("models");
    for (const sent of seen) expect(Object.keys(sent)).not.toContain("fallbacks");
  });

  it("may be a header", async () => {
    answer(relay, OVERLOADED, ANSWER);
    const response = await ask(chat(FIRST), { "x-fairway-fallback": SECOND });
    expect(response.headers.get("x-fairway-model")).toBe(SECOND);
  });

  it("replaces the operator's list, and `off` switches that off", async () => {
    await relay.gateway.option("ModelFallbacks", JSON.stringify({ "*": [SECOND] }));
    const seen = answer(relay, OVERLOADED, ANSWER);
    const response = await ask(chat(FIRST), { "x-fairway-fallback": "off" });
    expect(response.status).toBe(503);
    expect(seen.every(({ model }) => model === FIRST)).toBe(true);
  });

  it("is ignored if the operator does not allow it", async () => {
    await relay.gateway.option("ClientFallbacks", false);
    const seen = answer(relay, OVERLOADED, ANSWER);
    expect((await ask({ model: FIRST, models: [SECOND], messages })).status).toBe(503);
    expect(seen.every((sent) => sent["model"] === FIRST && !("models" in sent))).toBe(true);
  });

  it.each([
    ["both members", { model: FIRST, models: [SECOND], fallbacks: [SECOND], messages }, "fallbacks", "invalid_request"],
    ["more than three further models", { models: ["a", "b", "c", "d", "e"], messages }, "models", "invalid_request"],
    ["something else than names", { model: FIRST, models: [7], messages }, "models[0]", "invalid_request"],
    [
      "members that would replace the client's own",
      { model: FIRST, fallbacks: [{ model: SECOND, messages: [] }], messages },
      "fallbacks[0].messages",
      "unsupported_parameter",
    ],
  ])("is refused with %s", async (_what, body, param, code) => {
    const seen = answer(relay, OVERLOADED, ANSWER);
    const response = await ask(body);
    expect(response.status).toBe(400);
    expect(await readError(response)).toMatchObject({ param, code });
    expect(seen).toEqual([]);
  });

  describe.each([
    ["models", (model: string) => [{ model: FIRST, models: [model], messages }, {}] as const],
    ["fallbacks", (model: string) => [{ model: FIRST, fallbacks: [model], messages }, {}] as const],
    ["a header", (model: string) => [chat(FIRST), { "x-fairway-fallback": model }] as const],
  ])("in %s", (_form, build) => {
    const askWith = async (key: string, model = SECOND) => {
      const [body, headers] = build(model);
      const seen = answer(relay, OVERLOADED, ANSWER);
      const response = await ask(body, { authorization: `Bearer ${key}`, ...headers });
      return { status: response.status, called: new Set(seen.map((sent) => sent["model"])) };
    };

    it("gives no model that the key may not use", async () => {
      const key = await relay.gateway.token({ model_limits_enabled: true, model_limits: FIRST });
      expect(await askWith(key)).toEqual({ status: 503, called: new Set([FIRST]) });
    });

    it("gives no model that does not exist", async () => {
      expect(await askWith(relay.key, "nothing-like-it")).toEqual({ status: 503, called: new Set([FIRST]) });
    });

    it("gives no model that the balance does not cover", async () => {
      await relay.gateway.option("ModelRatio", JSON.stringify({ [FIRST]: 0, [SECOND]: 2 }));
      const key = await relay.gateway.token({ unlimited_quota: false, remain_quota: 1 });
      expect(await askWith(key)).toEqual({ status: 503, called: new Set([FIRST]) });
      await relay.gateway.option("ModelRatio", JSON.stringify({ [FIRST]: 2.5, [SECOND]: 2 }));
    });

    it("gives no model whose own limit is reached", async () => {
      await relay.gateway.option("ModelLimits", JSON.stringify({ [SECOND]: { rpm: 1 } }));
      await askWith(relay.key);
      expect(await askWith(relay.key)).toEqual({ status: 503, called: new Set([FIRST]) });
      await relay.gateway.option("ModelLimits", "{}");
    });
  });

  it("is not for requests that ask for vectors", async () => {
    const seen = answer(relay, OVERLOADED, ANSWER);
    const response = await relay.gateway.post("/v1/embeddings", { model: SECOND, input: "a" }, relay.key, {
      headers: {
        authorization: `Bearer ${relay.key}`,
        "content-type": "application/json",
        "x-fairway-fallback": FIRST,
      },
    });
    await response.text();
    expect(seen.every(({ model }) => model !== FIRST)).toBe(true);
  });
});
