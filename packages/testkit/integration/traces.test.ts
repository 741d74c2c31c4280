// Traces of a whole gateway at a collector that speaks OTLP over HTTP.
import {
  createChannel,
  createToken,
  signIn,
  startGateway,
  startUpstream,
  type GatewayProcess,
  type Upstream,
} from "@fairway/testkit";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { WebSocket } from "ws";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createDatabase } from "../src/databases.ts";

interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly { key: string; value: Record<string, unknown> }[];
  readonly status: { readonly code?: number };
}
interface Export {
  readonly resourceSpans: readonly { readonly scopeSpans: readonly { readonly spans: readonly Span[] }[] }[];
}

const [SERVER, CLIENT, ERROR] = [2, 3, 2];
const PARENT = { trace: "4bf92f3577b34da6a3ce929d0e0e4736", span: "00f067aa0ba902b7" };

/** A sampled context of its own. */
function context(): { readonly trace: string; readonly header: string } {
  const trace = randomBytes(16).toString("hex");
  return { trace, header: `00-${trace}-${PARENT.span}-01` };
}

let collector: Server;
let upstream: Upstream;
let gateway: GatewayProcess;
let start: (env?: Readonly<Record<string, string>>) => Promise<GatewayProcess>;
let key: string;
const received: {
  readonly path: string;
  readonly authorization: string | undefined;
  readonly spans: readonly Span[];
}[] = [];

beforeAll(async () => {
  collector = createServer((request, response) => {
    let text = "";
    request.on("data", (chunk: Buffer) => (text += chunk.toString()));
    request.on("end", () => {
      const { resourceSpans } = JSON.parse(text) as Export;
      const spans = resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans));
      received.push({ path: request.url ?? "", authorization: request.headers.authorization, spans });
      response.writeHead(200, { "content-type": "application/json" }).end("{}");
    });
  });
  await new Promise<void>((resolve) => collector.listen(0, "127.0.0.1", resolve));
  const endpoint = `http://127.0.0.1:${(collector.address() as AddressInfo).port}`;
  upstream = await startUpstream();
  const database = await createDatabase("sqlite");
  const collected = { FAIRWAY_OTLP_ENDPOINT: endpoint, FAIRWAY_OTLP_HEADERS: "authorization=Bearer%20collector" };
  start = (env) => startGateway({ database, env: { ...collected, ...env } });
  gateway = await start();
  const root = await signIn(gateway.url);
  await root.must("PUT", "/api/option/", { key: "RetryTimes", value: "1" });
  await root.must("PUT", "/api/option/", { key: "SelfUseModeEnabled", value: "true" });
  const mapped = (model: string) => JSON.stringify({ moved: model });
  const channel = { base_url: upstream.url, models: "moved,plain" };
  await createChannel(root, { ...channel, name: "failing", priority: 10, model_mapping: mapped("status-500") });
  await createChannel(root, { ...channel, name: "working", model_mapping: mapped("plain") });
  await createChannel(root, { type: 14, name: "counting", base_url: upstream.url, models: "counted" });
  key = await createToken(root);
});
afterAll(async () => {
  await gateway?.stop();
  await upstream?.stop();
  collector?.close();
});

function call(model: string, headers: Readonly<Record<string, string>> = {}, isStream = false): Promise<Response> {
  return fetch(`${gateway.url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json", ...headers },
    body: JSON.stringify({
      model,
      stream: isStream,
      temperature: 0.5,
      max_tokens: 64,
      stop: ["a secret question"],
      messages: [{ role: "user", content: "a secret question" }],
    }),
  });
}

/** What the span of an upstream call says about its request and its answer. */
function readExchange(span: Span | undefined): Readonly<Record<string, unknown>> {
  const names = ["request.temperature", "request.max_tokens", "request.stream", "response.model"];
  const found = names.map((name) => [name, span && readAttribute(span, `gen_ai.${name}`)] as const);
  const reasons = span && readAttribute(span, "gen_ai.response.finish_reasons");
  return {
    ...Object.fromEntries(found.filter(([, value]) => value !== undefined)),
    ...(reasons !== undefined && { reasons: reasons as unknown }),
    hasId: Boolean(span && readAttribute(span, "gen_ai.response.id")),
  };
}

async function waitForSpans(requestId: string | null): Promise<readonly Span[]> {
  const all = () => received.flatMap(({ spans }) => spans);
  const find = () => all().find((span) => readAttribute(span, "fairway.request_id") === requestId);
  await expect.poll(find, { timeout: 20_000 }).toBeDefined();
  return all().filter(({ traceId }) => traceId === find()?.traceId);
}

function readAttribute({ attributes }: Span, name: string): unknown {
  return Object.values(attributes.find(({ key: known }) => known === name)?.value ?? {})[0];
}

test("a call that moves to another channel is one trace with a span for each attempt", async () => {
  upstream.reset();
  const answer = await call("moved", { traceparent: `00-${PARENT.trace}-${PARENT.span}-01` });
  expect(answer.status).toBe(200);
  await answer.text();
  const spans = await waitForSpans(answer.headers.get("x-oneapi-request-id") ?? answer.headers.get("request-id"));
  const server = spans.find(({ kind }) => kind === SERVER);
  const clients = spans.filter(({ kind }) => kind === CLIENT);
  expect(server).toMatchObject({ name: "chat moved", traceId: PARENT.trace, parentSpanId: PARENT.span });
  expect(server && readAttribute(server, "gen_ai.usage.output_tokens")).toBeGreaterThan(0);
  const usage = (span: Span | undefined) =>
    ["input", "output"].map((side) => span && readAttribute(span, `gen_ai.usage.${side}_tokens`));
  expect(clients.map(usage)).toEqual([[undefined, undefined], usage(server)]);
  for (const span of clients) expect(BigInt(span.endTimeUnixNano) >= BigInt(span.startTimeUnixNano)).toBe(true);
  expect(clients.map((span) => [span.name, readAttribute(span, "fairway.channel.name"), span.parentSpanId])).toEqual([
    ["chat status-500", "failing", server?.spanId],
    ["chat plain", "working", server?.spanId],
  ]);
  expect(clients.map(({ status }) => status.code ?? 0)).toEqual([ERROR, 0]);
  const asked = { "request.temperature": 0.5, "request.max_tokens": 64 };
  const reasons = { values: [{ stringValue: "stop" }] };
  expect(clients.map(readExchange)).toEqual([
    { ...asked, hasId: false },
    { ...asked, "response.model": "plain", reasons, hasId: true },
  ]);
  expect(clients.map((span) => readAttribute(span, "gen_ai.provider.name"))).toEqual(["openai", "openai"]);
  expect(upstream.requests.map(({ headers }) => headers["traceparent"])).toEqual(
    clients.map(({ spanId }) => `00-${PARENT.trace}-${spanId}-01`),
  );
  for (const { startTimeUnixNano, endTimeUnixNano } of spans)
    expect(BigInt(endTimeUnixNano)).toBeGreaterThanOrEqual(BigInt(startTimeUnixNano));
});

test("a stream has its first token, and no span has a word of the conversation or a key", async () => {
  const answer = await call("plain", {}, true);
  await answer.text();
  const spans = await waitForSpans(answer.headers.get("request-id"));
  const server = spans.find(({ kind }) => kind === SERVER);
  expect(server && readAttribute(server, "fairway.first_token_ms")).toBeGreaterThanOrEqual(0);
  const client = spans.find(({ kind }) => kind === CLIENT);
  expect(readExchange(client)).toMatchObject({
    "request.stream": true,
    "response.model": "plain",
    reasons: { values: [{ stringValue: "stop" }] },
    hasId: true,
  });
  expect(client && readAttribute(client, "gen_ai.response.time_to_first_chunk")).toBeGreaterThanOrEqual(0);
  expect(JSON.stringify(spans)).not.toMatch(/secret question|sk-/);
});

test("a refused call ends its trace with the code of the error", async () => {
  const answer = await call("unknown-model");
  expect(answer.status).toBeGreaterThanOrEqual(400);
  const spans = await waitForSpans(answer.headers.get("request-id"));
  expect(spans.map((span) => [span.kind, readAttribute(span, "error.type")])).toEqual([[SERVER, "model_not_found"]]);
});

test("a caller that does not sample its trace keeps its call out, and the upstream gets its trace", async () => {
  upstream.reset();
  const answer = await call("plain", { traceparent: `00-${"a".repeat(32)}-${PARENT.span}-00` });
  await answer.text();
  expect(upstream.requests[0]?.headers["traceparent"]).toMatch(/^00-a{32}-[0-9a-f]{16}-00$/);
  const later = await call("plain");
  await later.text();
  await waitForSpans(later.headers.get("request-id"));
  expect(received.flatMap(({ spans }) => spans).filter(({ traceId }) => traceId === "a".repeat(32))).toEqual([]);
});

test("a bucket of the latency shows the trace of its last sampled request", async () => {
  const { trace, header } = context();
  const answer = await call("plain", { traceparent: header });
  await answer.text();
  await waitForSpans(answer.headers.get("request-id"));
  const scrape = async (accept: string) => (await fetch(`${gateway.adminUrl}/metrics`, { headers: { accept } })).text();
  const text = await scrape("application/openmetrics-text;version=1.0.0,text/plain;q=0.5");
  expect(text).toMatch(new RegExp(`relay_duration_seconds_bucket{.*} \\d+ # {trace_id="${trace}"}`));
  expect(await scrape("text/plain")).not.toContain("trace_id");
});

test("a count of tokens is a trace, with the call of an upstream that can count", async () => {
  upstream.reset();
  const { trace, header } = context();
  const answer = await fetch(`${gateway.url}/v1/messages/count_tokens`, {
    method: "POST",
    headers: { "x-api-key": key, "content-type": "application/json", traceparent: header },
    body: JSON.stringify({ model: "counted", messages: [{ role: "user", content: "a secret question" }] }),
  });
  expect(answer.status).toBe(200);
  const spans = await waitForSpans(answer.headers.get("request-id"));
  const [server, client] = [spans.find(({ kind }) => kind === SERVER), spans.find(({ kind }) => kind === CLIENT)];
  expect(server).toMatchObject({ name: "count_tokens counted", traceId: trace });
  expect(client && readAttribute(client, "fairway.channel.name")).toBe("counting");
  expect(upstream.requests[0]?.headers["traceparent"]).toBe(`00-${trace}-${client?.spanId}-01`);
});

test("a realtime session is a trace as long as it lasts, with the handshake of its upstream", async () => {
  const { trace, header } = context();
  const socket = new WebSocket(`${gateway.url.replace("http", "ws")}/v1/realtime?model=plain`, "realtime", {
    headers: { authorization: `Bearer ${key}`, traceparent: header },
  });
  await once(socket, "message");
  socket.close();
  const isSession = ({ name, kind }: Span) => name === "realtime plain" && kind === SERVER;
  await expect.poll(() => received.flatMap(({ spans }) => spans).find(isSession), { timeout: 20_000 }).toBeDefined();
  const spans = received.flatMap(({ spans: all }) => all).filter(({ traceId }) => traceId === trace);
  const session = spans.find(isSession);
  const handshake = spans.find(({ parentSpanId }) => parentSpanId === session?.spanId);
  expect(handshake && readAttribute(handshake, "http.response.status_code")).toBe(101);
});

test("a submitted song is a trace, and its upstream gets the context", async () => {
  const { trace, header } = context();
  const heard: (string | undefined)[] = [];
  const songs = createServer((request, response) => {
    heard.push(request.headers["traceparent"] as string | undefined);
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ code: "success", data: "song-1", message: "" }));
  });
  await new Promise<void>((resolve) => songs.listen(0, "127.0.0.1", resolve));
  const base_url = `http://127.0.0.1:${(songs.address() as AddressInfo).port}`;
  const root = await signIn(gateway.url);
  await createChannel(root, { type: 36, name: "songs", base_url, models: "suno_music" });
  const answer = await fetch(`${gateway.url}/suno/submit/music`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json", traceparent: header },
    body: JSON.stringify({ prompt: "a secret song" }),
  });
  expect(answer.status, await answer.text()).toBe(200);
  const spans = await waitForSpans(answer.headers.get("request-id"));
  const submit = spans.find(({ name, kind }) => name === "tasks.submit" && kind === SERVER);
  const client = spans.find(({ parentSpanId }) => parentSpanId === submit?.spanId);
  expect(client && readAttribute(client, "fairway.channel.name")).toBe("songs");
  expect(heard[0]).toBe(`00-${trace}-${client?.spanId}-01`);
  expect(JSON.stringify(spans)).not.toContain("secret song");
  songs.close();
});

test("the collector gets its headers, and what waits at a stop", async () => {
  expect(new Set(received.map(({ path, authorization }) => `${path} ${authorization}`))).toEqual(
    new Set(["/v1/traces Bearer collector"]),
  );
  const answer = await call("plain");
  await answer.text();
  await gateway.stop();
  const ids = received.flatMap(({ spans }) => spans).map((span) => readAttribute(span, "fairway.request_id"));
  expect(ids).toContain(answer.headers.get("request-id"));
});

test("without a share of its own a gateway traces the calls whose callers do, and an older convention has its names", async () => {
  gateway = await start({ FAIRWAY_TRACE_SAMPLE: "0", FAIRWAY_GENAI_CONVENTION: "1.36" });
  const untraced = await call("plain");
  await untraced.text();
  const traced = await call("plain", { traceparent: context().header });
  await traced.text();
  const client = (await waitForSpans(traced.headers.get("request-id"))).find(({ kind }) => kind === CLIENT);
  expect(client && readAttribute(client, "gen_ai.system")).toBe("openai");
  expect(client && readAttribute(client, "gen_ai.provider.name")).toBeUndefined();
  await gateway.stop();
  const ids = received.flatMap(({ spans }) => spans).map((span) => readAttribute(span, "fairway.request_id"));
  expect(ids).not.toContain(untraced.headers.get("request-id"));
});
