// Traces of a whole gateway through a real OpenTelemetry Collector, which decodes them and sends them on.
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createChannel, createToken, signIn } from "../src/api.ts";
import { createDatabase } from "../src/databases.ts";
import { startGateway, type GatewayProcess } from "../src/gateway.ts";
import { startUpstream, type Upstream } from "../src/upstream/index.ts";
import { startCollector, type Collector } from "./collector.ts";

type Value = Readonly<Record<string, unknown>>;
interface Attributed {
  readonly attributes: readonly { readonly key: string; readonly value: Value }[];
}
interface Span extends Attributed {
  readonly name: string;
  readonly kind: number;
  readonly traceId: string;
}
interface ResourceSpans {
  readonly resource: Attributed;
  readonly scopeSpans: readonly { readonly spans: readonly Span[] }[];
}

const [SERVER, CLIENT] = [2, 3];
const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
const received: ResourceSpans[] = [];
let backEnd: Server;
let collector: Collector;
let upstream: Upstream;
let gateway: GatewayProcess;

beforeAll(async () => {
  backEnd = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      const sent = JSON.parse(Buffer.concat(parts).toString()) as { resourceSpans: ResourceSpans[] };
      received.push(...sent.resourceSpans);
      response.writeHead(200, { "content-type": "application/json" }).end("{}");
    });
  });
  await new Promise<void>((resolve) => backEnd.listen(0, "127.0.0.1", resolve));
  collector = await startCollector(`http://127.0.0.1:${(backEnd.address() as AddressInfo).port}`);
  upstream = await startUpstream();
  gateway = await startGateway({
    database: await createDatabase("sqlite"),
    env: {
      FAIRWAY_OTLP_ENDPOINT: collector.url,
      FAIRWAY_TRACE_SERVICE: "models",
      FAIRWAY_TRACE_ATTRIBUTES: "k8s.namespace.name=ai",
      FAIRWAY_GENAI_CONVENTION: "both",
    },
  });
});
afterAll(async () => {
  await gateway?.stop();
  await Promise.all([upstream?.stop(), collector?.stop()]);
  backEnd?.close();
});

function readAttributes({ attributes }: Attributed): Value {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
}

test("a real collector takes the spans of a stream with all their attributes", async () => {
  const root = await signIn(gateway.url);
  await root.must("PUT", "/api/option/", { key: "SelfUseModeEnabled", value: "true" });
  await createChannel(root, { name: "main", base_url: upstream.url, models: "plain" });
  const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${await createToken(root)}`,
      "content-type": "application/json",
      traceparent: `00-${TRACE}-00f067aa0ba902b7-01`,
    },
    body: JSON.stringify({
      model: "plain",
      stream: true,
      temperature: 0.5,
      max_tokens: 64,
      messages: [{ role: "user", content: "a secret question" }],
    }),
  });
  expect(answer.status, await answer.text()).toBe(200);
  const listSpans = () => received.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans));
  await expect.poll(() => listSpans().length, { timeout: 60_000 }).toBe(2);
  const spans = listSpans();
  expect(new Set(spans.map(({ traceId }) => traceId))).toEqual(new Set([TRACE]));
  expect(new Set(spans.map(({ name, kind }) => `${name} ${kind}`))).toEqual(
    new Set([`chat plain ${SERVER}`, `chat plain ${CLIENT}`]),
  );
  const client = spans.find(({ kind }) => kind === CLIENT);
  expect(client && readAttributes(client)).toMatchObject({
    "gen_ai.operation.name": "chat",
    "gen_ai.system": "openai",
    "gen_ai.provider.name": "openai",
    "gen_ai.request.model": "plain",
    "gen_ai.request.stream": true,
    "gen_ai.request.temperature": 0.5,
    "gen_ai.request.max_tokens": "64",
    "gen_ai.response.model": "plain",
    "gen_ai.response.finish_reasons": { values: [{ stringValue: "stop" }] },
    "gen_ai.response.id": expect.any(String) as string,
    "gen_ai.usage.input_tokens": expect.any(String) as string,
    "gen_ai.usage.output_tokens": expect.any(String) as string,
    "gen_ai.response.time_to_first_chunk": expect.any(Number) as number,
  });
  expect(received[0] && readAttributes(received[0].resource)).toMatchObject({
    "service.name": "models",
    "k8s.namespace.name": "ai",
  });
  expect(JSON.stringify(received)).not.toMatch(/secret question|sk-/);
});
