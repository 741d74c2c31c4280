import { createToken, signIn } from "@fairway/testkit";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { startRelayApp, type RelayApp } from "../../kit/relay-app.ts";

let gateway: RelayApp;
let key = "";
let serial = 0;

beforeAll(async () => {
  gateway = await startRelayApp({});
  key = await gateway.token({ unlimited_quota: false, remain_quota: 10_000_000 });
});
afterAll(() => gateway.close());
beforeEach(async () => {
  gateway.upstream.reset();
  const rows = await gateway.database.raw.rows<{ id: number }>("select id from channels where status = 1", []);
  for (const { id } of rows) await gateway.root.must("PUT", "/api/channel/", { id, status: 2 });
});

async function call(path: string, body?: object, with_ = key) {
  const response = await fetch(gateway.url + path, {
    method: body === undefined ? "GET" : "POST",
    headers: { authorization: `Bearer ${with_}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, json: (await response.json()) as Record<string, unknown> };
}

/** Returns every amount that a task changes. */
async function money() {
  await gateway.settled();
  const readRow = async (sql: string) => (await gateway.database.raw.rows<Record<string, number>>(sql, []))[0];
  return {
    user: await readRow("select quota, used_quota, held from users where id = 1"),
    channels: await readRow("select sum(used_quota) as used from channels"),
  };
}

async function stranger(): Promise<string> {
  const name = `listener${++serial}`;
  await gateway.root.must("POST", "/api/user/", { username: name, password: "a-long-password", display_name: name });
  return createToken(await signIn(gateway.url, name, "a-long-password"));
}

describe("songs", () => {
  it("are submitted, charged and fetched", async () => {
    const channel = await gateway.channel("suno_music,suno_lyrics", { type: 36, key: "suno-secret" });
    gateway.upstream.script("/suno/submit/MUSIC", () => ({
      body: { code: "success", message: "", data: `song-${++serial}` },
    }));
    const before = await money();
    const { status, json } = await call("/suno/submit/music", { gpt_description_prompt: "calm piano", extra: 1 });
    expect(status).toBe(200);
    const [seen] = gateway.upstream.requests;
    expect(seen?.headers.authorization).toBe("Bearer suno-secret");
    expect(seen?.json).toEqual({
      gpt_description_prompt: "calm piano",
      extra: 1,
      mv: "chirp-v3-0",
      make_instrumental: false,
    });
    expect((before.user?.["quota"] ?? 0) - ((await money()).user?.["quota"] ?? 0)).toBe(50_000);
    const id = String(json["data"]);
    const readRow = await call(`/suno/fetch/${id}`);
    expect(readRow.json).toMatchObject({
      code: "success",
      data: { task_id: id, action: "MUSIC", status: "NOT_START", progress: "0%", data: null },
    });
    expect((await call("/suno/fetch", { ids: [id, "x"] })).json["data"]).toHaveLength(1);
    expect(await call(`/suno/fetch/${id}`, undefined, await stranger())).toMatchObject({
      status: 400,
      json: { code: "task_not_exist" },
    });
    await gateway.database.raw.run("update tasks set data = ? where task_id = ?", ['[{"id":"clip-1"}]', id]);
    gateway.upstream.reset();
    gateway.upstream.script("/suno/submit/MUSIC", () => ({ body: { code: "success", data: `song-${++serial}` } }));
    await gateway.channel("suno_music", { type: 36, key: "suno-other", priority: 9 });
    expect((await call("/suno/submit/music", { prompt: "v2", continue_clip_id: "clip-1", task_id: id })).status).toBe(
      200,
    );
    expect(gateway.upstream.requests[0]?.headers.authorization).toBe("Bearer suno-secret");
    await gateway.root.must("PUT", "/api/channel/", { id: channel, status: 2 });
    expect((await call("/suno/submit/music", { continue_clip_id: "clip-1", task_id: id })).json["code"]).toBe(
      "task_channel_disable",
    );
  });

  it.each([
    ["/suno/submit/video", { prompt: "x" }, 400, "invalid_action"],
    ["/suno/submit/lyrics", {}, 400, "invalid_request"],
    ["/suno/submit/music", { continue_clip_id: "x" }, 400, "invalid_request"],
  ])("%s refuses %j", async (path, body, status, code) => {
    expect(await call(path, body)).toMatchObject({ status, json: { code, data: null } });
  });

  it("are free when the upstream refuses them", async () => {
    gateway.upstream.script("/suno/submit/LYRICS", () => ({
      status: 500,
      body: { code: "internal_error", message: "no account" },
    }));
    await gateway.channel("suno_lyrics", { type: 36 });
    const before = await money();
    expect(await call("/suno/submit/lyrics", { prompt: "x" })).toEqual({
      status: 500,
      json: { code: "fail_to_fetch_task", message: '{"code":"internal_error","message":"no account"}', data: null },
    });
    expect(await money()).toEqual(before);
  });

  it("switch a channel off whose key is rejected, without a word about it to the client", async () => {
    await gateway.option("AutomaticDisableChannelEnabled", true);
    gateway.upstream.script("/suno/submit/MUSIC", () => ({
      status: 401,
      body: { code: "invalid_request", message: "wrong key suno-secret-no7", data: null },
    }));
    const channel = await gateway.channel("suno_music", { type: 36, key: "suno-secret-no7" });
    const { status, json } = await call("/suno/submit/music", { prompt: "x" });
    expect([status, json["code"], String(json["message"]).includes("suno-secret-no7")]).toEqual([
      401,
      "fail_to_fetch_task",
      false,
    ]);
    const found = await gateway.database.raw.rows<{ status: number }>("select status from channels where id = ?", [
      channel,
    ]);
    expect(found).toEqual([{ status: 3 }]);
  });

  it("are not submitted again when the first submission may have arrived", async () => {
    await gateway.option("RetryTimes", 2);
    gateway.upstream.script("/suno/submit/MUSIC", () => ({ status: 504, body: { code: "internal_error" } }));
    await gateway.channel("suno_music", { type: 36, key: "one" });
    await gateway.channel("suno_music", { type: 36, key: "two" });
    expect((await call("/suno/submit/music", { prompt: "x" })).status).toBe(504);
    expect(gateway.upstream.requests).toHaveLength(1);
    await gateway.option("RetryTimes", 0);
  });

  it("with unreadable ids do not exist, like drawings", async () => {
    expect(await call("/suno/fetch/%zz")).toMatchObject({ status: 400, json: { code: "task_not_exist" } });
    expect((await call("/mj/task/%zz/fetch")).status).toBe(400);
  });
});
