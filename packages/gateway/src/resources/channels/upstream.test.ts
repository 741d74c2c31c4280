import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { CHANNEL_KEY as KEY, openChannelKit, type ChannelKit } from "../../../test/kit/channel-kit.ts";
import { readRefusal, setOptions } from "../../../test/kit/members.ts";

let kit: ChannelKit;
let app: ChannelKit["app"];
let upstream: ChannelKit["upstream"];
let members: ChannelKit["members"];
let admin: ChannelKit["admin"];
let create: ChannelKit["create"];
let row: ChannelKit["row"];

beforeAll(async () => {
  kit = await openChannelKit();
  ({ app, upstream, members, admin, create, row } = kit);
});
afterAll(() => kit.close());
beforeEach(() => kit.reset());

/** Waits until a job has finished and returns it. */
async function finished(id: unknown): Promise<Record<string, unknown>> {
  for (;;) {
    const job = await admin.data<Record<string, unknown>>(admin.get(`/api/job/${String(id)}`));
    if (job["status"] !== "running") return job;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

describe("testing one channel", () => {
  test("reports the seconds, stores them and writes a free log row", async () => {
    const id = await create();
    const { body } = await admin.get(`/api/channel/test/${id}?model=`);
    expect(body).toEqual({ success: true, message: "", time: expect.any(Number) as number });
    expect(upstream.requests[0]).toMatchObject({ path: "/v1/chat/completions", model: "gpt-4o" });
    const stored = await row(id);
    expect(stored.test_time).toBe(Math.floor(app.clock.now() / 1000));
    expect(stored.response_time).toBe(Math.round(Number(body["time"]) * 1000));
    const log = await app.database.db.selectFrom("logs").selectAll().where("type", "=", 2).executeTakeFirstOrThrow();
    expect(log).toMatchObject({
      username: "boss",
      token_name: "Model test",
      content: "Model test",
      quota: 0,
      token_id: 0,
      channel_id: id,
      model_name: "gpt-4o",
    });
    expect(JSON.parse(log.other)).toMatchObject({
      group_ratio: 1,
      model_price: -1,
      admin_info: { use_channel: [String(id)] },
      test_ok: true,
      test_ms: stored.response_time,
    });
  });

  test("writes a row of the system for a failed test, which is no failed call", async () => {
    const id = await create({ models: "status-500" });
    await admin.get(`/api/channel/test/${id}?model=`);
    const [log, ...more] = await app.database.db.selectFrom("logs").selectAll().where("channel_id", "=", id).execute();
    expect(more).toEqual([]);
    expect(log).toMatchObject({ type: 4, token_name: "Model test", model_name: "status-500", quota: 0 });
    expect(log?.content).toMatch(/^Model test: \S/);
    expect(JSON.parse(log?.other ?? "")).toMatchObject({ test_ok: false, test_ms: expect.any(Number) as number });
  });

  // @weakness Leaks: The upstream's words reach users, with the key in them
  test("reports the upstream's message without the key, and the time, on failure", async () => {
    const id = await create({ models: "status-401" });
    upstream.script("/chat/completions", () => ({
      status: 401,
      body: { error: { message: `bad key ${KEY}`, type: "invalid_request_error", code: "invalid_api_key" } },
    }));
    const { body } = await admin.get(`/api/channel/test/${id}`);
    expect(body).toMatchObject({ success: false, time: expect.any(Number) as number });
    expect(String(body["message"])).toContain("bad key");
    expect(String(body["message"])).not.toContain(KEY);
    expect((await row(id)).test_time).toBeGreaterThan(0);
    expect((await row(id)).status).toBe(1);
  });

  test("names the message by a code when the gateway itself found what is wrong", async () => {
    const test = async (channel: Record<string, unknown>) =>
      (await admin.get(`/api/channel/test/${await create(channel)}`)).body;
    expect(await test({ base_url: "http://127.0.0.1:9" })).toMatchObject({ success: false, code: "CH24" });
    expect(await test({ models: "dall-e-3" })).toMatchObject({ success: false, code: "CH23" });
    const message = "The upstream did not answer within 5 s.";
    expect(await test({ models: "hang" })).toMatchObject({ success: false, code: "CH25", message });
    upstream.script("/chat/completions", () => ({ status: 200, body: "ready" }));
    expect(await test({})).toMatchObject({ success: false, code: "CH26" });
  });

  test("refuses channels that do not exist or cannot be tested", async () => {
    expect(await readRefusal(admin.get("/api/channel/test/999999"))).toEqual([200, "CH8", "Channel does not exist."]);
    const refusal = { success: false, code: "CH12", message: "This channel type cannot be tested.", time: 0 };
    for (const type of [2, 5, 36])
      expect((await admin.get(`/api/channel/test/${await create({ type })}`)).body).toMatchObject(refusal);
  });

  test("is not done for a prefetching browser", async () => {
    const id = await create();
    const reply = await admin.get(`/api/channel/test/${id}`, { "sec-purpose": "prefetch" });
    expect(reply.status).toBe(400);
    expect(upstream.requests).toEqual([]);
  });
});

describe("testing all channels", () => {
  test("runs once at a time, shows its progress and tells the super administrator", async () => {
    await create();
    await create({ models: "slow-200+gpt-4o" });
    await create({ type: 2 });
    const started = await admin.get("/api/channel/test");
    expect(started.body).toMatchObject({ success: true, message: "", job_id: expect.any(Number) as number });
    expect(await readRefusal(admin.get("/api/channel/test"))).toEqual([
      200,
      "CH11",
      "A channel test is already running.",
    ]);
    const job = await finished(started.body["job_id"]);
    expect(job).toMatchObject({
      name: "channel-test",
      status: "done",
      done: 3,
      total: 3,
      failed: 0,
      message: "3 channels tested, 0 failed",
    });
    await expect.poll(() => app.notices.at(-1)).toBe("Channel test finished");
    expect(await admin.data<unknown[]>(admin.get("/api/job/"))).toHaveLength(1);
    expect((await admin.get("/api/channel/test")).body["success"]).toBe(true);
  });

  test("switches off what fails for good or is slow, and on what works again, when the options say so", async () => {
    await setOptions(members.root, {
      AutomaticDisableChannelEnabled: "true",
      AutomaticEnableChannelEnabled: "true",
      ChannelDisableThreshold: "0.15",
    });
    upstream.script("/chat/completions", async ({ model }) => {
      if (model === "dead")
        return { status: 401, body: { error: { message: "invalid key", code: "invalid_api_key" } } };
      if (model === "slow") await new Promise((resolve) => setTimeout(resolve, 200));
      if (model === "busy") return { status: 429, body: { error: { message: "later" } } };
      return {
        body: {
          id: "x",
          object: "chat.completion",
          choices: [{ index: 0, message: { role: "assistant", content: "hi" }, finish_reason: "stop" }],
        },
      };
    });
    const dead = await create({ name: "dead", models: "dead" });
    const left = await create({ models: "dead", auto_ban: 0 });
    const slow = await create({ models: "slow" });
    const slowOn = await create({ name: "slow but on", models: "slow", auto_ban: 0 });
    const busy = await create({ models: "busy" });
    const back = await create({ name: "back", models: "fine" });
    const byHand = await create({ models: "fine", status: 2 });
    await app.operations.channels.store.switchBySystem(back, 1, 3, "was bad");
    await finished((await admin.get("/api/channel/test")).body["job_id"]);
    const statuses = await Promise.all(
      [dead, left, slow, busy, back, byHand].map(async (id) => (await row(id)).status),
    );
    expect(statuses).toEqual([3, 1, 3, 1, 1, 2]);
    expect((await row(dead)).other_info).toContain("invalid key");
    expect((await row(slow)).other_info).toMatch(/Response time 0\.\d\ds exceeds the threshold 0\.15s/);
    expect(app.notices).toContain(`Channel "dead" (#${dead}) has been disabled`);
    expect(app.notices).toContain(`Channel "back" (#${back}) has been enabled`);
    expect((await row(slowOn)).status).toBe(1);
    const events = await admin.data<unknown[]>(members.root.get("/api/event/?type=channel.slow"));
    expect(events).toMatchObject([{ data: { id: slowOn, name: "slow but on", most_milliseconds: 150 } }]);
    await setOptions(members.root, {
      AutomaticDisableChannelEnabled: "false",
      AutomaticEnableChannelEnabled: "false",
      ChannelDisableThreshold: "5",
    });
  });

  test("switches off each dead key alone, and on the keys that work again", async () => {
    const switches = { AutomaticDisableChannelEnabled: "true", AutomaticEnableChannelEnabled: "true" };
    await setOptions(members.root, switches);
    const dead = new Set(["sk-1", "sk-2"]);
    const { store } = app.operations.channels;
    upstream.script("/chat/completions", ({ headers }) =>
      dead.has(String(headers.authorization).replace("Bearer ", ""))
        ? { status: 401, body: { error: { message: "invalid key", code: "invalid_api_key" } } }
        : { body: { id: "x", object: "chat.completion", choices: [{ index: 0, message: {}, finish_reason: "stop" }] } },
    );
    const id = await create({ name: "keys", key: "sk-1\nsk-2\nsk-3", multi_key: true });
    const round = async () => finished((await admin.get("/api/channel/test")).body["job_id"]);
    const states = async () => [(await row(id)).status, [...((await store.keySet(id))?.states.keys() ?? [])]];
    await round();
    expect(await states()).toEqual([1, [0, 1]]);
    dead.delete("sk-1");
    await round();
    expect(await states()).toEqual([1, [1]]);
    expect(app.notices).toContain(`Key 1 of channel "keys" (#${id}) has been enabled`);
    for (const key of ["sk-1", "sk-3"]) await app.operations.channels.disable(id, "gone", key);
    expect(await states()).toEqual([3, [0, 1, 2]]);
    await round();
    expect(await states()).toEqual([1, [1]]);
    await setOptions(members.root, { AutomaticDisableChannelEnabled: "false", AutomaticEnableChannelEnabled: "false" });
  });

  test("is done by the schedule in the name of the super administrator", async () => {
    const id = await create();
    await (
      await app.operations.channels.testAll()
    )?.finished;
    const log = await app.database.db.selectFrom("logs").selectAll().executeTakeFirstOrThrow();
    expect(log).toMatchObject({ username: "root", channel_id: id, token_name: "Model test" });
    const job = await app.database.db.selectFrom("jobs").selectAll().executeTakeFirstOrThrow();
    expect(job).toMatchObject({ name: "channel-test", status: "done", started_by: 0 });
  });

  test("can be followed as events", async () => {
    await create({ models: "slow-100+gpt-4o" });
    const id = (await admin.get("/api/channel/test")).body["job_id"] as number;
    const reply = await admin.get(`/api/job/${id}`, { accept: "text/event-stream" });
    expect(reply.headers["content-type"]).toBe("text/event-stream; charset=utf-8");
    const states = [...reply.text.matchAll(/^data: (.*)$/gm)].map(
      (match) => (JSON.parse(match[1] ?? "") as { status: string }).status,
    );
    expect(states[0]).toBe("running");
    expect(states.at(-1)).toBe("done");
    expect(await readRefusal(admin.get("/api/job/999999"))).toEqual([200, "J1", "Job does not exist."]);
  });
});

describe("balances", () => {
  const tells = (limit: number, used: number) => {
    upstream.script("/dashboard/billing/subscription", () => ({
      body: { has_payment_method: true, hard_limit_usd: limit },
    }));
    upstream.script("/dashboard/billing/usage", () => ({ body: { total_usage: used * 100 } }));
  };

  test("are asked for and stored", async () => {
    tells(20, 7.5);
    const id = await create();
    expect((await admin.get(`/api/channel/update_balance/${id}/`)).body).toEqual({
      success: true,
      message: "",
      balance: 12.5,
    });
    expect(await row(id)).toMatchObject({ balance: 12.5, balance_updated_time: Math.floor(app.clock.now() / 1000) });
  });

  test("that fall below the threshold make one event, and another after they were above it again", async () => {
    await app.database.db.deleteFrom("events").execute();
    const id = await create();
    const readings = [3, 20, 4.2, 4, 0, 5, 4.9];
    const heard: unknown[] = [];
    for (const balance of readings) {
      tells(balance, 0);
      app.clock.move(60);
      await admin.get(`/api/channel/update_balance/${id}`);
      const rows = await app.database.db
        .selectFrom("events")
        .selectAll()
        .where("type", "=", "channel.balance_low")
        .execute();
      heard.push(rows.length);
      if (rows.length > 0)
        expect(JSON.parse(rows[0]?.data ?? "")).toMatchObject({ id, balance_usd: 4.2, threshold_usd: 5 });
      expect(await row(id)).toMatchObject({ balance });
    }
    // The first reading of a channel is no fall.
    expect(heard).toEqual([0, 0, 1, 1, 1, 1, 2]);
  });

  test("of an unreachable upstream contain the system's error code", async () => {
    const id = await create({ base_url: "http://localhost:1" });
    expect((await admin.get(`/api/channel/update_balance/${id}`)).body).toEqual({
      success: false,
      message: "the upstream could not be reached (ECONNREFUSED)",
      balance: 0,
    });
  });

  test("that cannot be read name the reason, next to those with a number", async () => {
    const id = await create();
    upstream.script("/dashboard/billing/subscription", () => ({ status: 500, body: { error: { message: KEY } } }));
    const { body } = await admin.get(`/api/channel/update_balance/${id}`);
    expect(body).toMatchObject({ success: false, balance: 0, message: expect.stringContaining("500") as string });
    expect(JSON.stringify(body)).not.toContain(KEY);
    expect(await readRefusal(admin.get("/api/channel/update_balance/999999"))).toEqual([
      200,
      "CH8",
      "Channel does not exist.",
    ]);
    expect(await readRefusal(admin.get(`/api/channel/update_balance/${await create({ type: 14 })}`))).toEqual([
      200,
      "CH13",
      "Querying the balance of this channel type is not supported.",
    ]);
  });

  // @weakness Injection and parsing: Balances of all channels are asked inside one request
  test("of all enabled channels are refreshed in a job that switches off the empty ones", async () => {
    tells(5, 5);
    const [empty, off] = [await create(), await create({ status: 2 })];
    const started = await admin.get("/api/channel/update_balance");
    expect(await finished(started.body["job_id"])).toMatchObject({ name: "channel-balance", done: 1, total: 1 });
    expect((await row(empty)).other_info).toContain("Insufficient balance");
    expect([(await row(empty)).status, (await row(off)).balance_updated_time]).toEqual([3, 0]);
  });

  test("are refreshed once at a time", async () => {
    let release = () => {};
    const gate = new Promise<void>((resolve) => (release = resolve));
    upstream.script("/dashboard/billing/subscription", async () => {
      await gate;
      return { body: { hard_limit_usd: 1, has_payment_method: true } };
    });
    await create();
    const started = await admin.get("/api/channel/update_balance");
    expect(await readRefusal(admin.get("/api/channel/update_balance"))).toEqual([
      200,
      "CH18",
      "A balance update is already running.",
    ]);
    release();
    await finished(started.body["job_id"]);
  });
});

test("many channels can be tested in one call", async () => {
  const [a, b] = [await create(), await create({ type: 2 })];
  expect(await admin.data(admin.post("/api/channel/bulk", { ids: [a, b], action: "test" }))).toEqual([
    { id: a, success: true, message: "", time: expect.any(Number) as number },
    { id: b, success: false, message: "This channel type cannot be tested.", time: 0 },
  ]);
});

test("a channel whose key a live request found dead is switched off once, with one mail", async () => {
  const id = await create({ name: "live" });
  const before = app.notices.length;
  const disable = () => app.operations.channels.disable(id, `bad ${"x".repeat(300)}`);
  const outcomes = await Promise.all([disable(), disable(), disable()]);
  expect(outcomes.filter(Boolean)).toHaveLength(1);
  expect(app.notices.slice(before)).toEqual([`Channel "live" (#${id}) has been disabled`]);
  const stored = await row(id);
  expect([stored.status, (JSON.parse(stored.other_info) as { status_reason: string }).status_reason.length]).toEqual([
    3, 200,
  ]);
  expect(app.snapshots.current().index.get("default")?.has("gpt-4o") ?? false).toBe(false);
  expect(await app.operations.channels.disable(999_999, "gone")).toBe(false);
});
