// Drawings, songs and videos use limits and budgets like calls, and are refused in their own words.
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { startRelayApp, type RelayApp } from "../../kit/relay-app.ts";

const VIDEO = "kling-video_kling-v1_std_5";

let gateway: RelayApp;
let key = "";
let serial = 0;

beforeAll(async () => {
  gateway = await startRelayApp({});
  key = await gateway.token();
  const prices = { mj_imagine: 0.1, suno_music: 0.1, [VIDEO]: 0.2, mj_blend: 0.1, mj_describe: 0.1 };
  await gateway.option("ModelPrice", JSON.stringify(prices));
  const id = () => `task-${(serial += 1)}`;
  gateway.upstream.script("/mj/submit/imagine", () => ({ body: { code: 1, description: "ok", result: id() } }));
  gateway.upstream.script("/suno/submit/MUSIC", () => ({ body: { code: "success", data: id() } }));
  gateway.upstream.script("/v1/videos/text2video", () => ({
    body: { code: 0, message: "SUCCEED", data: { task_id: id(), task_status: "submitted" } },
  }));
});
afterAll(() => gateway.close());
afterEach(async () => {
  await gateway.option("ModelLimits", "{}");
  await gateway.option("ModelRequestRateLimitEnabled", false);
});

const limit = (limits: object) => gateway.option("ModelLimits", JSON.stringify(limits));

async function call(path: string, body?: object) {
  const response = await fetch(gateway.url + path, {
    method: body ? "POST" : "GET",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, text, headers: response.headers };
}

const KINDS = [
  { model: "mj_imagine", type: 2, path: "/mj/submit/imagine", body: { prompt: "a cat" } },
  { model: "suno_music", type: 36, path: "/suno/submit/music", body: { prompt: "a song" } },
  {
    model: VIDEO,
    type: 50,
    path: "/kling/v1/videos/text2video",
    body: { model_name: "kling-v1", prompt: "a kite", duration: "5", mode: "std" },
  },
] as const;

it.each(KINDS)("$model takes the limits of its model and of its channel", async ({ model, type, path, body }) => {
  const small = await gateway.channel(model, {
    type,
    key: "ak|sk",
    priority: 9,
    setting: JSON.stringify({ limits: { rpm: 1 } }),
  });
  const large = await gateway.channel(model, { type, key: "ak|sk" });
  await limit({ [model]: { rpm: 3, concurrency: 3 } });
  for (let at = 0; at < 3; at += 1) expect(await call(path, body)).toMatchObject({ status: 200 });
  const refused = await call(path, body);
  expect(refused.status).toBe(429);
  expect(refused.text).toContain(`Limit of this model ${model} reached: 3 requests per minute, 3 used; retry after `);
  expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(30);
  expect(refused.headers.get("x-ratelimit-limit-requests")).toBe("3");
  await gateway.settled();
  const rows = await gateway.database.db
    .selectFrom("logs")
    .select("channel_id")
    .where("model_name", "=", model)
    .execute();
  expect(rows.map(({ channel_id: id }) => id).toSorted((a, b) => a - b)).toEqual([small, large, large]);
});

it("a submission waits for a full channel when there is no other, and is then refused", async () => {
  await gateway.option("ChannelQueueSeconds", 1);
  const setting = JSON.stringify({ limits: { rpm: 1 } });
  gateway.upstream.script("/mj/submit/blend", () => ({ body: { code: 1, description: "ok", result: "b1" } }));
  await gateway.channel("mj_blend", { type: 2, key: "k", setting });
  const images = { base64Array: ["data:image/png;base64,AA==", "data:image/png;base64,AA=="] };
  expect((await call("/mj/submit/blend", images)).status).toBe(200);
  const refused = await call("/mj/submit/blend", images);
  expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "5"]);
  await gateway.option("ChannelQueueSeconds", 10);
});

it("a channel that was switched off gets no submission that waited for it", async () => {
  const sent = Promise.withResolvers<void>();
  let submitted = 0;
  gateway.upstream.script("/mj/submit/describe", async () => {
    submitted += 1;
    await sent.promise;
    return { body: { code: 1, description: "ok", result: "described" } };
  });
  const setting = JSON.stringify({ limits: { concurrency: 1 } });
  const id = await gateway.channel("mj_describe", { type: 2, key: "k", setting });
  const image = { base64: "data:image/png;base64,AA==" };
  const first = call("/mj/submit/describe", image);
  await expect.poll(() => submitted).toBe(1);
  const second = call("/mj/submit/describe", image);
  const metrics = async () => (await fetch(`${gateway.adminUrl}/metrics`)).text();
  await expect.poll(metrics).toContain("fairway_admission_queue_length 1\n");
  await gateway.root.must("PUT", "/api/channel/", { id, status: 2 });
  sent.resolve();
  expect((await first).status).toBe(200);
  expect((await second).status).toBe(503);
  expect(submitted).toBe(1);
});

it("a budget of one drawing admits one, and a failed one does not use it", async () => {
  await gateway.channel("mj_imagine", { type: 2, key: "k", priority: 99 });
  const budget = await gateway.root.must<{ id: number }>("POST", "/api/budget/", {
    scope: "model",
    subject: "mj_imagine",
    period: "day",
    quota_limit: 60_000,
  });
  gateway.upstream.script("/mj/submit/imagine", () => ({ body: { code: 24, description: "banned word" } }));
  expect((await call("/mj/submit/imagine", { prompt: "bad" })).text).toContain("banned word");
  await gateway.settled();
  let next = 0;
  gateway.upstream.script("/mj/submit/imagine", () => ({ body: { code: 1, description: "ok", result: `d${next++}` } }));
  const answers = await Promise.all(Array.from({ length: 8 }, () => call("/mj/submit/imagine", { prompt: "one" })));
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  expect(answers.find(({ status }) => status === 403)?.text).toContain(
    "The daily budget of model mj_imagine is used up",
  );
  await expect.poll(() => refundable(budget.id)).toBe(50_000);
  await gateway.root.must("DELETE", `/api/budget/${budget.id}`);
});

/** Returns the amount that the budget gets back if the task fails. */
async function refundable(budgetId: number): Promise<number | undefined> {
  const rows = gateway.database.db.selectFrom("budget_reaped").where("budget_id", "=", budgetId);
  return (await rows.select("charged").executeTakeFirst())?.charged;
}

it("a budget that was created during a submission is charged for it", async () => {
  const fields = { scope: "model", subject: "mj_imagine", period: "day", quota_limit: 1_000_000 };
  let id = 0;
  gateway.upstream.script("/mj/submit/imagine", async () => {
    ({ id } = await gateway.root.must<{ id: number }>("POST", "/api/budget/", fields));
    return { body: { code: 1, description: "ok", result: "late-budget" } };
  });
  expect((await call("/mj/submit/imagine", { prompt: "one" })).status).toBe(200);
  await expect.poll(() => gateway.root.must("GET", `/api/budget/${id}`)).toMatchObject({ used: 50_000, held: 0 });
  expect(await refundable(id)).toBe(50_000);
  await gateway.root.must("DELETE", `/api/budget/${id}`);
});

it("status calls count as requests of the user, submissions only once", async () => {
  await gateway.option("ModelRequestRateLimitCount", 3);
  await gateway.option("ModelRequestRateLimitDurationMinutes", 9);
  await gateway.option("ModelRequestRateLimitEnabled", true);
  expect((await call("/suno/submit/music", { prompt: "a song" })).status).toBe(200);
  expect((await call("/suno/fetch", { ids: ["x"] })).status).toBe(200);
  expect((await call("/suno/submit/music", { prompt: "a song" })).status).toBe(200);
  const refused = await call("/suno/fetch/x");
  expect(refused.status).toBe(429);
  expect(JSON.parse(refused.text)).toMatchObject({ error: { code: "rate_limit_exceeded" } });
});
