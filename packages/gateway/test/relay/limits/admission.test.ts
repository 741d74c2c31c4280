// Limits apply to every way to an upstream, and refusals use the words of each protocol.
import type { IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import { afterEach, describe, expect, it } from "vitest";
import WebSocket from "ws";
import { readError, useRelay, type ClientError } from "../../kit/relay-app.ts";

const relay = useRelay();
const CHANGED: Readonly<Record<string, string>> = {
  ModelLimits: "{}",
  GroupLimits: "{}",
  ModelRequestRateLimitEnabled: "false",
  ModelRequestRateLimitCount: "0",
  ModelRequestRateLimitSuccessCount: "1000",
  ModelRequestRateLimitDurationMinutes: "1",
};

afterEach(async () => {
  for (const [key, value] of Object.entries(CHANGED)) await relay.gateway.option(key, value);
});

const limit = (option: string, limits: object) => relay.gateway.option(option, JSON.stringify(limits));
const readStatus = async (asked: Promise<Response>) => {
  const response = await asked;
  await response.text();
  return response.status;
};

interface Refusal {
  readonly status: number | undefined;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

const sessions: WebSocket[] = [];

/** Resolves with an open session, or with the answer to a refused upgrade. */
async function session(model: string): Promise<WebSocket | Refusal> {
  const url = `${relay.gateway.url.replace("http", "ws")}/v1/realtime?model=${model}`;
  const socket = new WebSocket(url, { headers: { authorization: `Bearer ${relay.key}` } });
  sessions.push(socket);
  return new Promise((resolve) => {
    socket.on("error", () => undefined);
    socket.once("open", () => resolve(socket));
    socket.once("unexpected-response", (_request, answer) => {
      void text(answer).then((body) => resolve({ status: answer.statusCode, headers: answer.headers, body }));
    });
  });
}

const isOpen = (found: WebSocket | Refusal) => found instanceof WebSocket;

async function hangUp(): Promise<void> {
  for (const socket of sessions.splice(0)) {
    if (socket.readyState === WebSocket.CLOSED) continue;
    const closed = new Promise((resolve) => socket.once("close", resolve));
    socket.terminate();
    await closed;
  }
  await relay.gateway.settled();
}

describe("realtime sessions", () => {
  afterEach(hangUp);

  it("occupy a place until they end", async () => {
    await relay.gateway.channel("rt-places");
    await limit("ModelLimits", { "rt-places": { concurrency: 2 } });
    const opened = await Promise.all([session("rt-places"), session("rt-places"), session("rt-places")]);
    expect(opened.filter(isOpen)).toHaveLength(2);
    const refused = opened.find((found) => !isOpen(found)) as Refusal;
    expect(refused).toMatchObject({
      status: 429,
      headers: { "retry-after": "1", "x-ratelimit-limit-concurrency": "2", "x-ratelimit-remaining-concurrency": "0" },
    });
    const { error } = JSON.parse(refused.body) as { error: ClientError };
    expect(error).toMatchObject({ type: "rate_limit_error", code: "concurrency_limit_exceeded" });
    expect(error.message).toMatch(
      /^Limit of this model rt-places reached: 2 requests at once, 2 used; retry after 1 s\. /,
    );
    await hangUp();
    expect(isOpen(await session("rt-places"))).toBe(true);
  });

  it("skip a full channel", async () => {
    const setting = JSON.stringify({ limits: { concurrency: 1 } });
    const small = await relay.gateway.channel("rt-full", { setting, priority: 9 });
    await relay.gateway.channel("rt-full");
    expect(isOpen(await session("rt-full")) && isOpen(await session("rt-full"))).toBe(true);
    await hangUp();
    const rows = await relay.gateway.database.db
      .selectFrom("logs")
      .select("channel_id")
      .where("model_name", "=", "rt-full")
      .execute();
    expect(rows.filter(({ channel_id: id }) => id === small)).toHaveLength(1);
    expect(rows).toHaveLength(2);
  });

  it("end when they exceed a token limit, which then applies to other requests", async () => {
    await relay.gateway.channel("rt-tokens");
    await limit("ModelLimits", { "rt-tokens": { tpm: 50 } });
    const socket = (await session("rt-tokens")) as WebSocket;
    const frames: { type: string; error?: { code: string; type: string } }[] = [];
    socket.on("message", (data: Buffer) => {
      const frame = JSON.parse(data.toString("utf8")) as (typeof frames)[number];
      frames.push(frame);
      if (frame.type === "session.created" || frame.type === "response.done") socket.send('{"type":"response.create"}');
    });
    socket.send('{"type":"response.create"}');
    const code = await new Promise((resolve) => socket.once("close", resolve));
    expect(code).toBe(1008);
    expect(frames.at(-1)).toMatchObject({
      type: "error",
      error: { type: "rate_limit_error", code: "rate_limit_exceeded" },
    });
    expect(await session("rt-tokens")).toMatchObject({ status: 429 });
  });
});

describe("counting tokens", () => {
  const count = (model: string) =>
    relay.gateway.post("/v1/messages/count_tokens", { model, messages: [{ role: "user", content: "hi" }] }, relay.key);

  it("counts against request limits, upstream and here, but not against token limits", async () => {
    await relay.gateway.channel("count-up+usage-5-0", { type: 14 });
    await relay.gateway.channel("count-here");
    for (const model of ["count-up+usage-5-0", "count-here"]) {
      await limit("ModelLimits", { [model]: { rpm: 2, tpm: 100_000, concurrency: 1 } });
      expect([await readStatus(count(model)), await readStatus(count(model))]).toEqual([200, 200]);
      const refused = await count(model);
      expect([refused.status, refused.headers.get("x-ratelimit-limit-requests")]).toEqual([429, "2"]);
      expect(await refused.json()).toMatchObject({ type: "error", error: { type: "rate_limit_error" } });
      await limit("ModelLimits", { [model]: { rpm: 100, tpm: 100_000 } });
      const counted = await count(model);
      await counted.text();
      expect(counted.headers.get("x-ratelimit-remaining-tokens")).toBe("100000");
    }
  });
});

describe("limits of groups", () => {
  it("apply to prompts that the gateway counts", async () => {
    await relay.gateway.channel("group-here");
    await limit("GroupLimits", { default: { rpm: 1 } });
    const body = { model: "group-here", messages: [{ role: "user", content: "hi" }] };
    expect(await readStatus(relay.gateway.post("/v1/messages/count_tokens", body, relay.key))).toBe(200);
    expect(await readStatus(relay.gateway.post("/v1/messages/count_tokens", body, relay.key))).toBe(429);
    expect(await readStatus(relay.ask("group-here"))).toBe(429);
  });
});

describe("limits of the group that serves in the end", () => {
  const usual: Record<string, string> = {};
  afterEach(async () => {
    for (const [key, value] of Object.entries(usual)) await relay.gateway.option(key, value);
  });

  it("are taken when a request continues in another group", async () => {
    const options = await relay.gateway.root.must<{ key: string; value: string }[]>("GET", "/api/option/");
    for (const key of ["AutoGroups", "UserUsableGroups", "GroupRatio", "RetryTimes"])
      usual[key] = options.find((one) => one.key === key)?.value ?? "";
    await relay.gateway.option("GroupRatio", '{"default":1,"first":1,"second":1}');
    await relay.gateway.option("UserUsableGroups", '{"auto":"a","default":"d","first":"f","second":"s"}');
    await relay.gateway.option("AutoGroups", '["first","second"]');
    await relay.gateway.option("RetryTimes", 1);
    await relay.gateway.channel("crossing", { group: "first", model_mapping: '{"crossing":"status-500"}' });
    await relay.gateway.channel("crossing", { group: "second" });
    await limit("GroupLimits", { second: { rpm: 1 } });
    const key = await relay.gateway.token({ group: "auto" });
    const body = { model: "crossing", messages: [{ role: "user", content: "hi" }] };
    const ask = () => readStatus(relay.gateway.post("/v1/chat/completions", body, key));
    expect([await ask(), await ask()]).toEqual([200, 500]);
  });
});

describe("the limit of model requests per user", () => {
  /** Windows of different lengths are counted separately: each test has its own. */
  const switchOn = async (count: number, successes: number, minutes: number) => {
    await relay.gateway.option("ModelRequestRateLimitCount", count);
    await relay.gateway.option("ModelRequestRateLimitSuccessCount", successes);
    await relay.gateway.option("ModelRequestRateLimitDurationMinutes", minutes);
    await relay.gateway.option("ModelRequestRateLimitEnabled", true);
  };
  it("counts every request, also those that reach no channel", async () => {
    await relay.gateway.channel("counted");
    await switchOn(4, 0, 5);
    expect(await readStatus(relay.ask("counted"))).toBe(200);
    expect(await readStatus(relay.ask("unheard-of"))).toBe(404);
    expect(await readStatus(relay.gateway.post("/v1/chat/completions", "{", relay.key))).toBe(400);
    expect(await readStatus(relay.ask("counted"))).toBe(200);
    const refused = await relay.ask("counted");
    expect(refused.status).toBe(429);
    expect((await readError(refused)).message).toMatch(
      /^Limit of this user reached: 4 requests per 5 minutes, 4 used; retry after \d+ s\. /,
    );
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(200);
    expect(refused.headers.get("x-ratelimit-limit-requests")).toBe("4");
    // The user is known to be over the limit, so the broken body is not even read.
    const again = await relay.gateway.post("/v1/chat/completions", "{", relay.key);
    expect([again.status, again.headers.get("x-ratelimit-remaining-requests")]).toEqual([429, "0"]);
    await again.text();
    await relay.gateway.option("ModelRequestRateLimitCount", 100);
    expect(await readStatus(relay.ask("counted"))).toBe(200);
  });

  it("counts successes, and releases what failed", async () => {
    await relay.gateway.channel("counted-too");
    await relay.gateway.channel("status-500");
    await switchOn(0, 2, 7);
    for (let at = 0; at < 3; at += 1) expect(await readStatus(relay.ask("status-500"))).toBe(500);
    const answers = await Promise.all(Array.from({ length: 6 }, async () => readStatus(relay.ask("counted-too"))));
    expect(answers.toSorted((a, b) => a - b)).toEqual([200, 200, 429, 429, 429, 429]);
    const refused = await relay.ask("counted-too");
    expect((await readError(refused)).message).toContain("2 successful requests per 7 minutes, 2 used");
  });
});

describe("429 in every protocol", () => {
  const paths: readonly [string, object][] = [
    ["/v1/chat/completions", { model: "every", messages: [{ role: "user", content: "hi" }] }],
    ["/v1/responses", { model: "every", input: "hi" }],
    ["/v1/messages", { model: "every", max_tokens: 5, messages: [{ role: "user", content: "hi" }] }],
    ["/v1beta/models/every:generateContent", { contents: [{ role: "user", parts: [{ text: "hi" }] }] }],
    ["/v1/embeddings", { model: "every", input: "hi" }],
  ];

  it("names the owner of the limit, the limit, its use and its reset", async () => {
    await relay.gateway.channel("every");
    await limit("ModelLimits", { every: { rpm: 1 } });
    expect(await readStatus(relay.ask("every"))).toBe(200);
    for (const [path, body] of paths) {
      const refused = await relay.gateway.post(path, body, relay.key);
      const answer = await refused.text();
      expect([path, refused.status]).toEqual([path, 429]);
      expect(answer).toMatch(/Limit of this model every reached: 1 requests per minute, 1 used; retry after \d+ s\./);
      expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(30);
      expect(refused.headers.get("x-ratelimit-limit-requests")).toBe("1");
      expect(refused.headers.get("x-ratelimit-remaining-requests")).toBe("0");
      expect(refused.headers.get("x-ratelimit-reset-requests")).toMatch(/^\d+s$/);
    }
  });
});
