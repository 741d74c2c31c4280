import { createToken, signIn } from "@fairway/testkit";
import OpenAI from "openai";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { startRelayApp, type RelayApp } from "../../kit/relay-app.ts";

const PRICED = "kling-video_kling-v1_std_5";

let gateway: RelayApp;
let key = "";
let serial = 0;

beforeAll(async () => {
  gateway = await startRelayApp({});
  key = await gateway.token({ unlimited_quota: false, remain_quota: 10_000_000 });
  await gateway.option("ModelPrice", JSON.stringify({ [PRICED]: 0.2, "kling-v2": 1, mj_imagine: 0.1 }));
  await gateway.option("AutomaticDisableChannelEnabled", true);
});
afterAll(() => gateway.close());
beforeEach(async () => {
  gateway.upstream.reset();
  for (const { id } of await gateway.database.raw.rows<{ id: number }>("select id from channels", []))
    await gateway.root.must("PUT", "/api/channel/", { id, status: 2 });
});

function videoChannel(models = `${PRICED},kling-v1,kling-v2`, more: object = {}): Promise<number> {
  return gateway.channel(models, { type: 50, key: "ak-demo|sk-demo", ...more });
}

/** Sets the answer to submissions from now on. */
function answers(body: object, status = 200, action = "text2video"): void {
  gateway.upstream.script(`/v1/videos/${action}`, () => ({ status, body: { ...body } }));
}

const accepted = (id: string) => ({
  code: 0,
  message: "SUCCEED",
  request_id: "kr-1",
  data: { task_id: id, task_status: "submitted", created_at: 1_733_000_000_000, updated_at: 1_733_000_000_000 },
});
const nextId = () => `kt-${++serial}`;

async function call(path: string, body?: object, with_ = key) {
  const response = await fetch(gateway.url + path, {
    method: body === undefined ? "GET" : "POST",
    headers: { authorization: `Bearer ${with_}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, json: (await response.json()) as Record<string, never> };
}

async function balance(): Promise<number> {
  await gateway.settled();
  const [user] = await gateway.database.raw.rows<{ quota: number; held: number }>(
    "select quota, held from users where id = 1",
    [],
  );
  expect(user?.held).toBe(0);
  return user?.quota ?? 0;
}

const kite = { model_name: "kling-v1", prompt: "a red kite flies", duration: "5", mode: "std", cfg_scale: 0.5 };

describe("videos", () => {
  it("are submitted with a token of the key, charged by model, mode and length, and shown to their owner", async () => {
    const id = nextId();
    const channel = await videoChannel();
    answers(accepted(id));
    const before = await balance();
    expect(await call("/kling/v1/videos/text2video", kite)).toEqual({ status: 200, json: accepted(id) });
    const [seen] = gateway.upstream.requests;
    expect(seen?.json).toEqual(kite);
    const [head, claims] = String(seen?.headers.authorization).slice("Bearer ".length).split(".");
    expect(
      [head, claims].map((part) => JSON.parse(Buffer.from(part ?? "", "base64url").toString()) as object),
    ).toMatchObject([{ alg: "HS256", typ: "JWT" }, { iss: "ak-demo" }]);
    expect(before - (await balance())).toBe(100_000);
    const [row] = await gateway.database.db.selectFrom("tasks").selectAll().where("task_id", "=", id).execute();
    expect(row).toMatchObject({ platform: "kling", action: "text2video", status: "SUBMITTED", channel_id: channel });
    const [log] = await gateway.database.db.selectFrom("logs").selectAll().where("model_name", "=", PRICED).execute();
    expect(log).toMatchObject({ type: 2, quota: 100_000, channel_id: channel });
    const one = await call(`/kling/v1/videos/text2video/${id}`);
    expect(one).toMatchObject({ status: 200, json: { code: 0, data: { task_id: id, task_status: "submitted" } } });
    const name = `viewer${++serial}`;
    await gateway.root.must("POST", "/api/user/", { username: name, password: "a-long-password", display_name: name });
    const other = await createToken(await signIn(gateway.url, name, "a-long-password"));
    expect(await call(`/kling/v1/videos/text2video/${id}`, undefined, other)).toMatchObject({
      status: 404,
      json: { error: { code: "task_not_found" } },
    });
  });

  it("support the general protocol as well", async () => {
    const id = nextId();
    await videoChannel();
    answers(accepted(id), 200, "image2video");
    const submitted = await call("/v1/video/generations", {
      model: "kling-v1",
      prompt: "it flies",
      image: "data:image/png;base64,QUJD",
      duration: 5,
      metadata: { negative_prompt: "rain" },
    });
    expect(submitted).toMatchObject({ status: 200, json: { task_id: id, object: "video", status: "queued" } });
    expect(gateway.upstream.requests[0]?.json).toEqual({
      model_name: "kling-v1",
      mode: "std",
      duration: "5",
      prompt: "it flies",
      image: "QUJD",
      negative_prompt: "rain",
    });
    const done = { task_status: "succeed", task_result: { videos: [{ id: "v", url: "https://v.example.com/k.mp4" }] } };
    await gateway.database.raw.run(
      "update tasks set status = 'SUCCESS', progress = '100%', data = ? where task_id = ?",
      [JSON.stringify(done), id],
    );
    expect((await call(`/v1/video/generations/${id}`)).json).toMatchObject({
      code: "success",
      data: { task_id: id, status: "SUCCESS", progress: "100%", url: "https://v.example.com/k.mp4" },
    });
  });

  it("are created, read and downloaded by OpenAI's own client", async () => {
    const id = nextId();
    await videoChannel();
    answers(accepted(id), 200, "image2video");
    const client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: key, maxRetries: 0 });
    const picture = new File([new Uint8Array(Buffer.from("PNG"))], "a.png", { type: "image/png" });
    const asked = { model: "kling-v1", prompt: "it flies", seconds: "5", input_reference: picture };
    const made = await client.videos.create(asked as unknown as Parameters<typeof client.videos.create>[0]);
    expect(made).toMatchObject({ id, object: "video", model: "kling-v1", status: "queued", seconds: "5", error: null });
    expect(gateway.upstream.requests[0]?.json).toMatchObject({ prompt: "it flies", duration: "5", image: "UE5H" });
    await expect(client.videos.downloadContent(id)).rejects.toMatchObject({ status: 400 });
    const url = "https://v.example.com/k.mp4";
    const data = JSON.stringify({ task_status: "succeed", task_result: { videos: [{ id: "v", url }] } });
    const sql = "update tasks set status = 'SUCCESS', progress = '100%', data = ? where task_id = ?";
    await gateway.database.raw.run(sql, [data, id]);
    expect(await client.videos.retrieve(id)).toMatchObject({ status: "completed", progress: 100 });
    gateway.upstream.script("/worker", () => ({ headers: { "content-type": "video/mp4" }, body: Buffer.from("MP4") }));
    await gateway.option("WorkerUrl", `${gateway.upstream.url}/worker`);
    const content = await client.videos.downloadContent(id);
    expect([content.headers.get("content-type"), await content.text()]).toEqual(["video/mp4", "MP4"]);
    expect(gateway.upstream.requests.at(-1)?.json).toMatchObject({ url });
    await expect(client.videos.downloadContent(id, { variant: "thumbnail" })).rejects.toMatchObject({
      status: 400,
      param: "variant",
    });
    await gateway.option("WorkerUrl", "");
    await gateway.database.raw.run("update tasks set status = 'FAILURE', fail_reason = 'no' where task_id = ?", [id]);
    expect(await client.videos.retrieve(id)).toMatchObject({ status: "failed", error: { message: "no" } });
    const missing: unknown = await client.videos
      .create({ model: "sora-9" as never, prompt: "a fox" })
      .catch((error: unknown) => error);
    expect(missing).toMatchObject({ status: 404, code: "model_not_found" });
    expect(String(missing)).toContain("The model sora-9 does not exist");
    await expect(client.videos.list()).rejects.toMatchObject({ status: 501 });
    await expect(client.videos.retrieve("none")).rejects.toMatchObject({ status: 404, code: "task_not_found" });
  });

  it("accept a picture of any bytes in a form", async () => {
    await videoChannel();
    answers(accepted(nextId()), 200, "image2video");
    const bytes = Buffer.from('\u0000]}}"[[[[\\', "latin1");
    const form = new FormData();
    form.set("model", "kling-v1");
    form.set("prompt", "it flies");
    form.set("input_reference", new Blob([new Uint8Array(bytes)], { type: "image/png" }), "a.png");
    const headers = { authorization: `Bearer ${key}` };
    const response = await fetch(`${gateway.url}/v1/videos`, { method: "POST", headers, body: form });
    expect(response.status).toBe(200);
    expect(gateway.upstream.requests[0]?.json).toMatchObject({ image: bytes.toString("base64") });
  });

  // @weakness Injection and parsing: A task names its model twice, or in other letters
  it.each([
    ["/v1/videos", '{"model":"kling-v1","prompt":"x","Model":"kling-v2"}', "Model differs from model"],
    ["/v1/videos", '{"model":"kling-v1","prompt":"x","model":"kling-v2"}', "model is in the body twice"],
    ["/kling/v1/videos/text2video", '{"model_name":"kling-v1","Duration":"10"}', "Duration differs from duration"],
    ["/mj/submit/imagine", '{"prompt":"x","BotType":"NIJI_JOURNEY"}', "BotType differs from botType"],
    ["/suno/submit/music", '{"prompt":"x","mv":"a","mv":"b"}', "mv is in the body twice"],
  ])("%s refuses %s", async (path, body, says) => {
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
    const response = await fetch(gateway.url + path, { method: "POST", headers, body });
    expect(response.status).toBe(400);
    expect(await response.text()).toContain(says);
    expect(gateway.upstream.requests).toHaveLength(0);
  });

  it("refuse a form that names its model twice", async () => {
    const form = new FormData();
    form.append("model", "kling-v1");
    form.append("model", "kling-v2");
    form.append("prompt", "x");
    const headers = { authorization: `Bearer ${key}` };
    const response = await fetch(`${gateway.url}/v1/videos`, { method: "POST", headers, body: form });
    expect(response.status).toBe(400);
    expect(await response.text()).toContain("model is in the form twice");
  });

  it.each([
    ["wide", { width: 1280, height: 720 }, "16:9"],
    ["tall", { size: "720x1280" }, "9:16"],
    ["square", { size: "1024x1024" }, "1:1"],
  ])("derive the aspect ratio of a %s size", async (_name, size, expected) => {
    await videoChannel();
    answers(accepted(nextId()));
    await call("/v1/video/generations", { model: "kling-v1", prompt: "x", ...size });
    expect(gateway.upstream.requests[0]?.json).toMatchObject({ aspect_ratio: expected });
  });

  it("take the price of the model where mode and length have none, and its mapped name upstream", async () => {
    await videoChannel("kling-v2", { model_mapping: '{"kling-v2":"kling-v2-master"}' });
    answers(accepted(nextId()));
    const before = await balance();
    expect((await call("/kling/v1/videos/text2video", { ...kite, model_name: "kling-v2" })).status).toBe(200);
    expect(before - (await balance())).toBe(500_000);
    expect(gateway.upstream.requests[0]?.json).toMatchObject({ model_name: "kling-v2-master" });
  });

  it("without a price are refused", async () => {
    await gateway.option("SelfUseModeEnabled", false);
    await videoChannel("kling-v9");
    expect(await call("/kling/v1/videos/text2video", { ...kite, model_name: "kling-v9" })).toMatchObject({
      json: { error: { code: "model_price_error" } },
    });
    expect(gateway.upstream.requests).toHaveLength(0);
    await gateway.option("SelfUseModeEnabled", true);
  });

  it.each([
    [1201, 400, 400, 1201],
    [1301, 400, 400, 1301],
    [1303, 429, 429, 1303],
    [1102, 429, 502, 5000],
    [1002, 401, 502, 5000],
    [5001, 503, 503, 5001],
  ])(
    "refused with code %i and status %i cost nothing and return %i, %i",
    async (code, status, answered, answeredCode) => {
      await videoChannel();
      answers({ code, message: "refused", request_id: "kr" }, status);
      const before = await balance();
      expect(await call("/kling/v1/videos/text2video", kite)).toMatchObject({
        status: answered,
        json: { code: answeredCode },
      });
      expect(await balance()).toBe(before);
    },
  );

  it("try another channel when the first one's key is dead, and switch that off", async () => {
    await gateway.option("RetryTimes", 1);
    const id = nextId();
    const dead = await videoChannel(undefined, { priority: 9, key: "ak-dead|sk-dead" });
    await videoChannel();
    gateway.upstream.script("/v1/videos/text2video", ({ headers }) => {
      const claims = String(headers.authorization).split(".")[1] ?? "";
      const isDead = Buffer.from(claims, "base64url").toString().includes("ak-dead");
      return isDead ? { status: 401, body: { code: 1002, message: "bad key" } } : { body: accepted(id) };
    });
    expect((await call("/kling/v1/videos/text2video", kite)).status).toBe(200);
    const [row] = await gateway.database.db.selectFrom("channels").select("status").where("id", "=", dead).execute();
    expect(row?.status).toBe(3);
    await gateway.option("RetryTimes", 0);
  });

  it.each([
    ["GET", "/kling/v1/videos/text2video", 404, "unknown_url"],
    ["POST", "/kling/v1/videos/fly", 404, "unknown_url"],
    ["POST", "/v1/video/generations", 400, "model_required"],
    ["GET", "/v1/video/generations/none", 404, "task_not_found"],
  ])("%s %s is answered with %i %s", async (method, path, status, code) => {
    expect(await call(path, method === "POST" ? {} : undefined)).toMatchObject({ status, json: { error: { code } } });
  });
});
