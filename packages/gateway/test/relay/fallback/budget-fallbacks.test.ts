import type { Budget } from "@fairway/wire";
import { eachDatabase } from "@fairway/testkit/databases";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { books, chat, consumeRows, startRelayApp, type RelayApp } from "../../kit/relay-app.ts";

const DEAR = "dear";
const CHEAP = "cheap";

eachDatabase("fallbacks of budgets", (open) => {
  let gateway: RelayApp;
  let key = "";
  let asked: string[] = [];

  beforeAll(async () => {
    gateway = await startRelayApp({ FAIRWAY_DATABASE_URL: await open() });
    for (const model of [DEAR, CHEAP]) await gateway.channel(model);
    await gateway.option("SelfUseModeEnabled", "false");
    await gateway.option("ModelRatio", JSON.stringify({ [DEAR]: 50, [CHEAP]: 1 }));
    await gateway.option("ModelFallbacks", JSON.stringify({ [DEAR]: [{ model: CHEAP, on: ["budget"] }] }));
    key = await gateway.token();
  });
  afterAll(() => gateway.close());
  beforeEach(() => {
    asked = [];
    gateway.upstream.reset();
    gateway.upstream.script("/chat/completions", ({ body }) => {
      const { model } = JSON.parse(body.toString()) as { model: string };
      asked.push(model);
      return {
        body: {
          id: "c",
          object: "chat.completion",
          created: 1,
          model,
          choices: [{ index: 0, message: { role: "assistant", content: "ok" }, finish_reason: "stop" }],
          usage: { prompt_tokens: 20, completion_tokens: 10, total_tokens: 30 },
        },
      };
    });
  });

  const ask = (by = key) => gateway.post("/v1/chat/completions", chat(DEAR, { max_tokens: 100 }), by);
  const chargeOf = async (response: Response) => {
    await response.text();
    await gateway.settled();
    const [row] = await consumeRows(gateway, response.headers.get("x-request-id") ?? "");
    const { quota, ledger, held, holds } = await books(gateway);
    expect({ held, holds, ledger }).toEqual({ held: 0, holds: 0, ledger: quota });
    return [row?.model_name, row?.quota];
  };

  async function within<T>(fields: object, run: () => Promise<T>): Promise<T> {
    const { id } = await gateway.root.must<Budget>("POST", "/api/budget/", { period: "month", ...fields });
    try {
      return await run();
    } finally {
      await gateway.root.must("DELETE", `/api/budget/${id}`);
    }
  }

  it("a used-up budget of a model leads to the cheaper one, which is charged at its own price", () =>
    within({ scope: "model", subject: DEAR, quota_limit: 1 }, async () => {
      const response = await ask();
      expect(response.headers.get("x-fairway-fallback")).toBe(`from=${DEAR}; reason=budget; hops=1`);
      expect(await chargeOf(response)).toEqual([CHEAP, 30]);
      expect(asked).toEqual([CHEAP]);
    }));

  it("a budget of the key for some models only leads to a model that it does not count", () =>
    within({ scope: "user", subject: "1", filter_model: "de*", quota_limit: 1 }, async () => {
      expect(await chargeOf(await ask())).toEqual([CHEAP, 30]);
    }));

  it("a budget that counts both models refuses, and nothing is charged or called", () =>
    within({ scope: "user", subject: "1", quota_limit: 1 }, async () => {
      const response = await ask();
      expect(response.status).toBe(403);
      await chargeOf(response);
      expect(asked).toEqual([]);
    }));

  it("a token with too little left for the model is served by the cheaper one, if it covers that", async () => {
    const poor = await gateway.token({ unlimited_quota: false, remain_quota: 5000 });
    expect(await chargeOf(await ask(poor))).toEqual([CHEAP, 30]);
    const empty = await gateway.token({ unlimited_quota: false, remain_quota: 10 });
    expect((await ask(empty)).status).toBe(403);
    expect(asked).toEqual([CHEAP]);
  });

  it("a cheaper model whose own budget is used up is left out", () =>
    within({ scope: "model", subject: DEAR, quota_limit: 1 }, () =>
      within({ scope: "model", subject: CHEAP, quota_limit: 1 }, async () => {
        expect((await ask()).status).toBe(403);
        expect(asked).toEqual([]);
      }),
    ));
});
