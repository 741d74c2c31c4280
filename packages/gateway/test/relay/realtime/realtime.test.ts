import OpenAI from "openai";
import { once } from "node:events";
import { createServer } from "node:http";
import { connect, type AddressInfo, type NetConnectOpts } from "node:net";
import { OpenAIRealtimeWS } from "openai/realtime/ws";
import { describe, expect, it } from "vitest";
import WebSocket, { WebSocketServer } from "ws";
import { consumeRows, useRelay } from "../../kit/relay-app.ts";

const relay = useRelay();

function open(model: string, key = relay.key, protocols: string[] = []): WebSocket {
  const url = `${relay.gateway.url.replace("http", "ws")}/v1/realtime?model=${encodeURIComponent(model)}`;
  return new WebSocket(url, protocols, protocols.length > 0 ? {} : { headers: { authorization: `Bearer ${key}` } });
}

/** Makes the fake upstream report an answer. */
const LONG_ANSWER = JSON.stringify({
  type: "emit",
  event: { type: "response.done", response: { usage: { input_tokens: 5_000, output_tokens: 100 } } },
});

/** The official client supports only `wss:`. */
const withoutTls: typeof connect = (options: unknown) => connect(options as NetConnectOpts);

interface Frame {
  readonly type: string;
  readonly [key: string]: unknown;
}

/** Records everything that arrives, and how it ended. */
function listen(socket: WebSocket) {
  const frames: Frame[] = [];
  const waiting = new Set<() => void>();
  let isClosed = false;
  const closed = new Promise<number>((resolve) => socket.once("close", (code) => resolve(code)));
  void closed.then(() => {
    isClosed = true;
    for (const wake of waiting) wake();
  });
  socket.on("message", (data: Buffer) => {
    frames.push(JSON.parse(data.toString("utf8")) as Frame);
    for (const wake of waiting) wake();
  });
  return {
    frames,
    closed,
    async until(type: string, count = 1): Promise<void> {
      while (!isClosed && frames.filter((frame) => frame.type === type).length < count)
        await new Promise<void>((resolve) => waiting.add(resolve));
    },
  };
}

/** Returns the answer to a refused upgrade. */
function refused(socket: WebSocket): Promise<{ status: number; code: string }> {
  return new Promise((resolve, reject) => {
    socket.once("open", () => reject(new Error("it opened")));
    socket.once("unexpected-response", (_request, answer) => {
      let text = "";
      answer.on("data", (part: Buffer) => (text += part.toString("utf8")));
      answer.on("end", () =>
        resolve({
          status: answer.statusCode ?? 0,
          code: (JSON.parse(text) as { error: { code: string } }).error.code,
        }),
      );
    });
    socket.on("error", () => undefined);
  });
}

/** Starts a proxy that tunnels to any requested address. */
async function startProxy() {
  const asked: string[] = [];
  const state = { isClosed: false };
  const server = createServer();
  server.on("connect", (request, socket) => {
    asked.push(`${request.url} ${request.headers["proxy-authorization"]}`);
    if (state.isClosed) return void socket.end("HTTP/1.1 403 Forbidden\r\n\r\n");
    const [host, port] = (request.url ?? "").split(":");
    const onward = connect(Number(port), host, () => {
      socket.write("HTTP/1.1 200 Connection established\r\n\r\n");
      onward.pipe(socket).pipe(onward);
    });
    onward.on("error", () => socket.destroy());
    socket.on("error", () => onward.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return Object.assign(state, {
    url: `http://u:p@127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    close: () => server.close(),
  });
}

describe("realtime", () => {
  it("connects the official client with the upstream and bills all answers once, in one row", async () => {
    await relay.gateway.channel("gpt-realtime");
    const client = new OpenAI({ baseURL: `${relay.gateway.url}/v1`, apiKey: relay.key });
    const session = new OpenAIRealtimeWS({ model: "gpt-realtime", options: { createConnection: withoutTls } }, client);
    const texts: string[] = [];
    const done = new Promise<void>((resolve, reject) => {
      let answers = 0;
      session.on("error", reject);
      session.on("response.output_text.delta", (event) => texts.push(event.delta));
      session.on("response.done", () => {
        answers++;
        if (answers === 2) resolve();
        else session.send({ type: "response.create" });
      });
    });
    session.socket.on("open", () => session.send({ type: "response.create" }));
    await done;
    session.close();
    await relay.gateway.settled();
    expect(texts).toEqual(["Hello", "Hello"]);
    const rows = await consumeRows(relay.gateway);
    expect(rows.filter(({ model_name }) => model_name === "gpt-realtime")).toMatchObject([
      { prompt_tokens: 40, completion_tokens: 20, other: { ws: true } },
    ]);
  });

  it("accepts the key as a subprotocol, and selects only `realtime`", async () => {
    await relay.gateway.channel("gpt-realtime");
    const socket = open("gpt-realtime", "", [
      "realtime",
      `openai-insecure-api-key.${relay.key}`,
      "openai-beta.realtime-v1",
    ]);
    const heard = listen(socket);
    await heard.until("session.created");
    expect(socket.protocol).toBe("realtime");
    socket.close(3001, "bye");
    expect(await heard.closed).toBe(3001);
  });

  it("forwards frames unchanged, text and binary, and close codes", async () => {
    await relay.gateway.channel("gpt-realtime");
    const socket = open("gpt-realtime");
    const heard = listen(socket);
    await heard.until("session.created");
    socket.send('{ "type":"x", "big":12345678901234567890, "one":1.0 }');
    await heard.until("echo");
    socket.removeAllListeners("message");
    const binary = new Promise<[Buffer, boolean]>((resolve) =>
      socket.once("message", (data: Buffer, isBinary) => resolve([data, isBinary])),
    );
    socket.send(Buffer.from([1, 2, 3]));
    expect(await binary).toEqual([Buffer.from([1, 2, 3]), true]);
    socket.send('{"type":"close-1008"}');
    expect(await heard.closed).toBe(1008);
  });

  it("tries the next channel until an upstream upgrades", async () => {
    await relay.gateway.option("RetryTimes", 1);
    await relay.gateway.channel("rt-retry", { model_mapping: '{"rt-retry":"status-500"}', priority: 5 });
    await relay.gateway.channel("rt-retry");
    const socket = open("rt-retry");
    const heard = listen(socket);
    await heard.until("session.created");
    socket.close();
    expect(await heard.closed).toBe(1005);
    await relay.gateway.option("RetryTimes", 0);
  });

  it("does not wait for the end of an endless upstream refusal", async () => {
    const endless = createServer().on("upgrade", (_request, socket) => {
      socket.on("error", () => undefined).write("HTTP/1.1 429 Too Many Requests\r\nconnection: close\r\n\r\n");
      const talking = setInterval(() => socket.write("x".repeat(16 * 1024)), 20);
      socket.once("close", () => clearInterval(talking));
    });
    await once(endless.listen(0, "127.0.0.1"), "listening");
    await relay.gateway.channel("rt-endless", {
      base_url: `http://127.0.0.1:${(endless.address() as AddressInfo).port}`,
    });
    expect(await refused(open("rt-endless"))).toEqual({ status: 429, code: "upstream_saturated" });
    endless.close();
  });

  it("refuses before the upgrade, as plain HTTP", async () => {
    await relay.gateway.channel("status-401");
    await relay.gateway.channel("gpt-realtime");
    expect(await refused(open("gpt-realtime", "sk-nonsense"))).toEqual({ status: 401, code: "invalid_api_key" });
    expect(await refused(open(""))).toEqual({ status: 400, code: "model_required" });
    expect(await refused(open("unheard-of"))).toEqual({ status: 404, code: "model_not_found" });
    expect(await refused(open("status-401"))).toEqual({ status: 502, code: "upstream_auth_error" });
    const poor = await relay.gateway.token({ unlimited_quota: false, remain_quota: 10 });
    expect(await refused(open("gpt-realtime", poor))).toEqual({ status: 403, code: "insufficient_token_quota" });
    const plain = await fetch(`${relay.gateway.url}/v1/realtime?model=x`, {
      headers: { authorization: `Bearer ${relay.key}` },
    });
    expect(plain.status).toBe(426);
  });

  it.each([
    { what: "an upgrade that cannot be completed", version: 99, leavesAfterMs: undefined },
    { what: "a client that leaves before the upgrade", version: 13, leavesAfterMs: 0 },
  ])("$what leaves no upstream connection and no reservation", async ({ version, leavesAfterMs }) => {
    const upstream = new WebSocketServer({ port: 0, host: "127.0.0.1" });
    await once(upstream, "listening");
    const model = `rt-left-${version}`;
    const { port } = upstream.address() as AddressInfo;
    await relay.gateway.channel(model, { base_url: `http://127.0.0.1:${port}` });
    const client = connect(Number(new URL(relay.gateway.url).port), "127.0.0.1");
    client.on("error", () => undefined).resume();
    const head = [
      `GET /v1/realtime?model=${model} HTTP/1.1`,
      "host: gateway",
      `authorization: Bearer ${relay.key}`,
      "connection: upgrade",
      "upgrade: websocket",
      "sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==",
      `sec-websocket-version: ${version}`,
    ];
    client.write(`${head.join("\r\n")}\r\n\r\n`);
    if (leavesAfterMs === undefined) await once(client, "close");
    else setTimeout(() => client.destroy(), leavesAfterMs);
    await new Promise((resolve) => setTimeout(resolve, 500));
    const holds = await relay.gateway.database.db.selectFrom("holds").select("request_id").execute();
    expect([upstream.clients.size, holds]).toEqual([0, []]);
    for (const socket of upstream.clients) socket.terminate();
    upstream.close();
  });

  it("ends when the key cannot pay for another answer, and bills the answers so far", async () => {
    await relay.gateway.channel("rt-poor");
    const poor = await relay.gateway.token({ unlimited_quota: false, remain_quota: 40_000 });
    const socket = open("rt-poor", poor);
    const heard = listen(socket);
    await heard.until("session.created");
    for (let turn = 1; turn <= 30 && socket.readyState === WebSocket.OPEN; turn++) {
      socket.send(LONG_ANSWER);
      await heard.until("response.done", turn);
    }
    expect(await heard.closed).toBe(1008);
    expect(heard.frames.at(-1)).toMatchObject({ type: "error", error: { code: "insufficient_quota" } });
    await relay.gateway.settled();
    const [row] = (await consumeRows(relay.gateway)).filter(({ model_name }) => model_name === "rt-poor");
    expect(row?.quota).toBeGreaterThan(30_000);
    expect(row?.quota).toBeLessThanOrEqual(40_000);
  });

  it("ends when a hard budget cannot cover another answer, and charges it the answers so far", async () => {
    await relay.gateway.channel("rt-budget");
    const fields = { scope: "model", subject: "rt-budget", period: "day", quota_limit: 40_000 };
    const { id } = await relay.gateway.root.must<{ id: number }>("POST", "/api/budget/", fields);
    const socket = open("rt-budget");
    const heard = listen(socket);
    await heard.until("session.created");
    for (let turn = 1; turn <= 30 && socket.readyState === WebSocket.OPEN; turn++) {
      socket.send(LONG_ANSWER);
      await heard.until("response.done", turn);
    }
    expect(await heard.closed).toBe(1008);
    await relay.gateway.settled();
    const [row] = (await consumeRows(relay.gateway)).filter(({ model_name }) => model_name === "rt-budget");
    await expect
      .poll(() => relay.gateway.root.must("GET", `/api/budget/${id}`))
      .toMatchObject({ held: 0, used: row?.quota });
    await relay.gateway.root.must("DELETE", `/api/budget/${id}`);
  });

  it("charges a budget that was created during the session", async () => {
    await relay.gateway.channel("rt-late-budget");
    const socket = open("rt-late-budget");
    const heard = listen(socket);
    await heard.until("session.created");
    const fields = { scope: "model", subject: "rt-late-budget", period: "day", quota_limit: 10 ** 9 };
    const { id } = await relay.gateway.root.must<{ id: number }>("POST", "/api/budget/", fields);
    socket.send('{"type":"response.create"}');
    await heard.until("response.done");
    socket.close();
    await heard.closed;
    await relay.gateway.settled();
    const [row] = (await consumeRows(relay.gateway)).filter(({ model_name }) => model_name === "rt-late-budget");
    expect(row?.quota).toBeGreaterThan(0);
    await expect
      .poll(() => relay.gateway.root.must("GET", `/api/budget/${id}`))
      .toMatchObject({ held: 0, used: row?.quota });
    await relay.gateway.root.must("DELETE", `/api/budget/${id}`);
  });

  it("bills sound, cached tokens and transcriptions at their own prices", async () => {
    await relay.gateway.option("ModelRatio", JSON.stringify({ "rt-sound": 2, "rt-words": 15 }));
    await relay.gateway.option("CompletionRatio", JSON.stringify({ "rt-sound": 4 }));
    await relay.gateway.option("CacheRatio", JSON.stringify({ "rt-sound": 0.1 }));
    await relay.gateway.option("AudioRatio", JSON.stringify({ "rt-sound": 8 }));
    await relay.gateway.option("AudioCompletionRatio", JSON.stringify({ "rt-sound": 2 }));
    await relay.gateway.channel("rt-sound");
    const socket = open("rt-sound");
    const heard = listen(socket);
    await heard.until("session.created");
    const emit = (event: object) => socket.send(JSON.stringify({ type: "emit", event }));
    const transcription = "conversation.item.input_audio_transcription.completed";
    emit({ type: "session.updated", session: { input_audio_transcription: { model: "rt-words" } } });
    emit({
      type: "response.done",
      response: {
        usage: {
          input_tokens: 1000,
          output_tokens: 300,
          input_token_details: {
            text_tokens: 400,
            audio_tokens: 600,
            cached_tokens: 500,
            cached_tokens_details: { text_tokens: 100, audio_tokens: 400 },
          },
          output_token_details: { text_tokens: 100, audio_tokens: 200 },
        },
      },
    });
    emit({ type: transcription, transcript: "x", usage: { type: "duration", seconds: 60 } });
    await heard.until(transcription);
    socket.close();
    await heard.closed;
    await relay.gateway.settled();
    const [row] = (await consumeRows(relay.gateway)).filter(({ model_name }) => model_name === "rt-sound");
    // 300 of fresh text, 200 of fresh sound at 8, 500 cached at 0.1; 100 words at 4, 200 of sound at 8 times 2.
    expect(row?.quota).toBe(2 * (300 + 200 * 8 + 500 * 0.1 + 100 * 4 + 200 * 16) + 15 * 200);
    expect(row).toMatchObject({ prompt_tokens: 1000, completion_tokens: 300 });
  });

  it("charges a bounded count for answers with impossible usage", async () => {
    await relay.gateway.channel("rt-boaster");
    const socket = open("rt-boaster");
    const heard = listen(socket);
    await heard.until("session.created");
    const emit = (event: object) => socket.send(JSON.stringify({ type: "emit", event }));
    emit({ type: "response.output_text.delta", delta: "Hello there, how are you?" });
    const usage = { input_tokens: Number.MAX_SAFE_INTEGER, output_tokens: 1 };
    for (let at = 0; at < 2; at += 1) emit({ type: "response.done", response: { usage } });
    await heard.until("response.done", 2);
    socket.close();
    await heard.closed;
    await relay.gateway.settled();
    const [row] = (await consumeRows(relay.gateway)).filter(({ model_name }) => model_name === "rt-boaster");
    expect(row).toMatchObject({ prompt_tokens: 2 * 262_144, completion_tokens: 2, other: { usage_bounded: true } });
  });

  it("counts and bills answers and transcripts without usage, whatever follows", async () => {
    await relay.gateway.channel("rt-untold");
    const socket = open("rt-untold");
    const heard = listen(socket);
    await heard.until("session.created");
    const emit = (event: object) => socket.send(JSON.stringify({ type: "emit", event }));
    emit({ type: "session.updated", session: { audio: { input: { transcription: { model: "whisper-1" } } } } });
    const transcription = "conversation.item.input_audio_transcription.completed";
    emit({ type: transcription, transcript: "Hello there, how are you?", usage: null });
    emit({ type: "response.output_text.delta", delta: "Hello there, how are you?" });
    emit({ type: "response.done", response: { status: "cancelled", usage: null } });
    emit({ type: "response.output_text.delta", delta: "Well." });
    emit({ type: "response.done", response: { usage: { input_tokens: 10, output_tokens: 2 } } });
    await heard.until("response.done", 2);
    socket.close();
    await heard.closed;
    await relay.gateway.settled();
    const [row] = (await consumeRows(relay.gateway)).filter(({ model_name }) => model_name === "rt-untold");
    expect(row?.prompt_tokens).toBe(10);
    // 2 reported, 7 counted; the transcript's 7 or 8 at fifteen times the price.
    expect(row?.completion_tokens).toBeGreaterThanOrEqual(2 + 7 + 7);
    expect(row?.quota).toBeGreaterThanOrEqual(10 + 2 + 7 + 7 * 15);
  });

  it("uses the proxy of its channel, and reports its refusal", async () => {
    const proxy = await startProxy();
    try {
      await relay.gateway.channel("rt-proxy", { setting: JSON.stringify({ proxy: proxy.url }) });
      const socket = open("rt-proxy");
      const heard = listen(socket);
      await heard.until("session.created");
      socket.close();
      await heard.closed;
      expect(proxy.asked).toEqual([`127.0.0.1:${new URL(relay.gateway.upstream.url).port} Basic dTpw`]);
      proxy.isClosed = true;
      expect(await refused(open("rt-proxy"))).toEqual({ status: 502, code: "upstream_connect_failed" });
    } finally {
      proxy.close();
    }
  });

  it("bills the delivered part of an answer that was cut", async () => {
    await relay.gateway.channel("rt-cut");
    const socket = open("rt-cut");
    const heard = listen(socket);
    await heard.until("session.created");
    socket.send('{"type":"cut-response"}');
    expect(await heard.closed).toBe(1011);
    expect(heard.frames.at(-1)).toMatchObject({ type: "error", error: { code: "upstream_stream_interrupted" } });
    await relay.gateway.settled();
    const [row] = (await consumeRows(relay.gateway)).filter(({ model_name }) => model_name === "rt-cut");
    expect(row?.completion_tokens).toBeGreaterThan(2);
    expect(row?.other["end_reason"]).toBe("upstream_cut");
  });
});
