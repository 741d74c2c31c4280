import type { Budget } from "@fairway/wire";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { chat, useRelay } from "../../kit/relay-app.ts";
import { ANSWER, answer, OVERLOADED } from "./fallback-kit.ts";

const relay = useRelay();

/** A model whose context the prompt below certainly exceeds, so that its list is asked before it. */
const SMALL = "gpt-4";
const LARGE = "large-context";
const LONG = { messages: [{ role: "user", content: "word ".repeat(12_000) }] };

const made: number[] = [];

async function budget(fields: object): Promise<Budget> {
  const created = await relay.gateway.root.must<Budget>("POST", "/api/budget/", { period: "month", ...fields });
  made.push(created.id);
  return created;
}
const read = (id: number) => relay.gateway.root.must<Budget>("GET", `/api/budget/${id}`);

beforeAll(async () => {
  await relay.gateway.channel(SMALL);
  await relay.gateway.channel(LARGE);
  await relay.gateway.option("ModelRatio", JSON.stringify({ [SMALL]: 1, [LARGE]: 1 }));
  await relay.gateway.option(
    "ModelFallbacks",
    JSON.stringify({ [SMALL]: [{ model: LARGE, on: ["context", "error"] }] }),
  );
  await relay.gateway.option("RetryTimes", 0);
});

afterEach(async () => {
  for (const id of made.splice(0)) await relay.gateway.root.must("DELETE", `/api/budget/${id}`);
  await relay.gateway.option("ModelLimits", "{}");
});

describe("a fallback model that refuses", () => {
  it("returns its limits while the requested model runs, which is counted by its own", async () => {
    await relay.gateway.option("ModelLimits", JSON.stringify({ [SMALL]: { rpm: 1 }, [LARGE]: { concurrency: 1 } }));
    const refusing = await budget({ scope: "model", subject: LARGE, quota_limit: 1 });
    const { promise: isAsked, resolve: asked } = Promise.withResolvers<undefined>();
    const { promise: mayAnswer, resolve: letAnswer } = Promise.withResolvers<undefined>();
    relay.gateway.upstream.script("/chat/completions", async ({ body }) => {
      if (!body.includes(`"${SMALL}"`)) return ANSWER;
      asked(undefined);
      await mayAnswer;
      return ANSWER;
    });
    const key = await relay.gateway.token({ limits: { rpm: 10 } });
    const ask = (model: string, more: object) => relay.gateway.post("/v1/chat/completions", chat(model, more), key);
    const running = ask(SMALL, LONG);
    await isAsked;
    await relay.gateway.root.must("DELETE", `/api/budget/${refusing.id}`);
    made.splice(0);
    const { status } = await ask(LARGE, {});
    letAnswer(undefined);
    expect([status, (await running).status]).toEqual([200, 200]);
    expect((await ask(SMALL, {})).status).toBe(429);
  });

  it("returns its budget, and the charge goes to the budget of the requested model", async () => {
    await relay.gateway.option("ModelLimits", JSON.stringify({ [LARGE]: { rpm: 1 } }));
    const [ofSmall, ofLarge] = await Promise.all([
      budget({ scope: "model", subject: SMALL, quota_limit: 10 ** 9 }),
      budget({ scope: "model", subject: LARGE, quota_limit: 10 ** 9 }),
    ]);
    const seen = answer(relay, OVERLOADED, ANSWER);
    await (await relay.ask(LARGE)).text();
    await expect.poll(async () => (await read(ofLarge.id)).used).toBeGreaterThan(0);
    const { used } = await read(ofLarge.id);
    const response = await relay.ask(SMALL, LONG);
    expect(response.status).toBe(200);
    expect(seen.map(({ model }) => model)).toEqual([LARGE, SMALL]);
    await expect.poll(async () => (await read(ofSmall.id)).used).toBeGreaterThan(0);
    await relay.gateway.settled();
    expect(await read(ofLarge.id)).toMatchObject({ used, held: 0 });
    expect(await read(ofSmall.id)).toMatchObject({ held: 0 });
  });
});
