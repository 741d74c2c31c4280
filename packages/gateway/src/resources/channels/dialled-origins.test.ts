import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { dialectById } from "../../dialects/index.ts";
import { allProviders } from "../../providers/registry.ts";
import type { ChannelRecord, HttpJson, ProviderAdapter, UpstreamRoute } from "../../providers/core/types.ts";
import { createChannelHttp, readProxy } from "../../providers/core/proxy.ts";
import { jsonBody } from "../../relay/body/read-body.ts";
import { buildCall } from "../../relay/conversion/build-call.ts";
import { probeChannel } from "../../relay/pipeline/probe.ts";
import { mapModel } from "../../snapshot/model-mapping.ts";
import { CallProgress } from "../../relay/request/call-progress.ts";
import type { RelayRequest } from "../../relay/request/request.ts";
import { exchangeTools } from "../../relay/upstream/exchange.ts";
import type { Upstreams } from "../../relay/upstream/upstream.ts";
import { createRequestSpec } from "../../../test/kit/provider-kit.ts";
import { createTaskUpstream } from "../../tasks/upstream.ts";
import { listDestinations, parsedChannel, type Addressed } from "./destination.ts";

const HOSTS = ["https://a.example", "http://b.example:8080/v1", "https://[2001:db8::1]/x?", "https://c.example/y"];
const MODELS = ["gpt-4o", "claude-sonnet-4-5", "gemini-2.5-pro", "text-embedding-3", "bge-m3", "rerank-1", "dall-e-3"];
const PEM = "-----BEGIN PRIVATE KEY-----";
const keyFile = (token_uri: string) =>
  JSON.stringify({ project_id: "p", client_email: "c@p.example", private_key: PEM, token_uri });
const KEYS = ["sk-plain", "tenant|client|secret", "AK|SK|us-east-1", "cn-north-1|token", "id|secret", "bce-v3/x"];

const host = fc.constantFrom(...HOSTS);
const member = (name: string) => fc.constantFrom(JSON.stringify(name), escaped(name));

/** Returns the same text with its first letter written as an escape. */
function escaped(text: string): string {
  const code = text.charCodeAt(0).toString(16).padStart(4, "0");
  return `"\\u${code}${JSON.stringify(text.slice(1)).slice(1)}`;
}

const text = (value: fc.Arbitrary<string>) =>
  fc.tuple(value, fc.boolean()).map(([plain, isEscaped]) => (isEscaped ? escaped(plain) : JSON.stringify(plain)));

const paths = fc
  .dictionary(fc.constantFrom("chat", "embeddings", "rerank", "images.generations"), text(host), { maxKeys: 2 })
  .map(
    (map) =>
      `{${Object.entries(map)
        .map(([name, value]) => `"${name}":${value}`)
        .join(",")}}`,
  );

const setting = fc
  .record(
    {
      proxy: fc.tuple(member("proxy"), text(host)),
      paths: fc.tuple(member("paths"), paths),
      entra_authority: fc.tuple(member("entra_authority"), text(host)),
      protocol: fc.tuple(member("protocol"), fc.constantFrom('"native"', '"compatible"', '"sonar"')),
      responses_mode: fc.tuple(member("responses_mode"), fc.constantFrom('"always"', '"never"')),
    },
    { requiredKeys: [] },
  )
  .map(
    (parts) =>
      `{${Object.values(parts)
        .map(([name, value]) => `${name}:${value}`)
        .join(",")}}`,
  );

const regions = fc.constantFrom(
  "",
  "global",
  "eu",
  "us-east5",
  "evil.example/x?",
  '{"gpt-4o":"eu","\\u0064efault":"global"}',
);
const bases = fc.oneof(host, fc.constantFrom("", "https://{model}.d.example/{path}", "glm-coding-plan"));
const mapping = fc.constantFrom("", '{"gpt-4o":"other.e.example"}', '{"\\u0067pt-4o":"bge-m3"}');

const channels = fc
  .record({
    provider: fc.constantFrom(...allProviders),
    base_url: bases,
    other: regions,
    setting,
    model_mapping: mapping,
    key: fc.oneof(fc.constantFrom(...KEYS), host.map(keyFile)),
    more: fc.constantFrom("", "\nsk-second", "\nAK|SK|eu-west-1"),
  })
  .map(({ provider, key, more, ...fields }) => ({
    provider,
    keys: key + more,
    fields: createFields(provider, fields),
  }));

function createFields({ type }: ProviderAdapter, fields: Partial<Addressed>): Addressed {
  return {
    type,
    name: "c",
    status: 1,
    models: MODELS.join(","),
    group: "default",
    base_url: "",
    other: "",
    openai_organization: "",
    test_model: "",
    model_mapping: "",
    status_code_mapping: "",
    max_input_tokens: 0,
    auto_ban: 1,
    priority: 0,
    weight: 0,
    tag: null,
    setting: null,
    param_override: null,
    header_override: null,
    ...fields,
  };
}

/** Records every address that is called, and returns nothing but tokens. */
function recorder() {
  const dialled = new Set<string>();
  const note = (url: URL, proxy: string | undefined) => {
    dialled.add(`${url.protocol}//${url.host}`);
    if (proxy !== undefined) dialled.add(`proxy ${new URL(proxy).protocol}//${new URL(proxy).host}`);
  };
  const json: HttpJson = ({ url, proxy }) => {
    note(new URL(url), proxy);
    return Promise.resolve({ status: 200, json: { access_token: "t", expires_in: 1 }, text: "" });
  };
  const upstreams: Upstreams = {
    dispatch(call, proxy) {
      note(call.url, proxy);
      throw new Error("recorded");
    },
    socketOptions(url, proxy) {
      note(url, proxy);
      throw new Error("recorded");
    },
    refusesHost: () => false,
    json,
    close: () => Promise.resolve(),
  };
  return { dialled, note, upstreams };
}

async function dial(channel: ChannelRecord, provider: ProviderAdapter): Promise<ReadonlySet<string>> {
  const { dialled, note, upstreams } = recorder();
  const files = { read: () => Promise.reject(new Error("no files")) } as never;
  const deps = {
    http: upstreams.json,
    now: () => 0,
    userAgent: "t",
    publicUrl: () => "",
    files,
    upstreams,
    outputLimit: () => undefined,
  };
  for (const model of MODELS) await probeChannel(channel, model, "rid", deps);
  for (const [keyIndex, key] of channel.keys.entries()) {
    const http = createChannelHttp(channel, upstreams.json);
    await settled(() => provider.listModels?.(channel, key, http, 0));
    await settled(() => provider.balance?.(channel, key, http, 0));
    for (const route of provider.speaks)
      for (const model of MODELS) {
        const { request, target } = createAttempt(channel, provider, { route, model, keyIndex });
        await settled(async () => {
          const { call, signing } = await buildCall(request, target, deps);
          note(call.url, readProxy(channel));
          const timeouts = { headersMs: 1, idleMs: 1 };
          const tools = exchangeTools({ proxy: readProxy(channel), timeouts, signal: AbortSignal.timeout(50) }, deps);
          const { spec } = request;
          await route.exchange?.(call, { ...signing, ...tools, spec, upstreamModel: target.upstreamModel, channel });
        });
      }
  }
  await settled(() => createTaskUpstream(deps)(channel, { method: "GET", path: "/x", timeoutMs: 1 }));
  return dialled;
}

interface Tried {
  readonly route: UpstreamRoute;
  readonly model: string;
  readonly keyIndex: number;
}

function createAttempt(channel: ChannelRecord, provider: ProviderAdapter, { route, model, keyIndex }: Tried) {
  const body = { model, messages: [{ role: "user", content: "hi" }], input: "hi", prompt: "hi" };
  const dialect = dialectById(route.dialect) ?? dialectById("openai-chat")!;
  const request: RelayRequest = {
    id: "rid",
    spec: createRequestSpec({ operation: route.operation, dialect: route.dialect, model }),
    dialect,
    body: jsonBody(Buffer.from(JSON.stringify(body))),
    contentType: "application/json",
    caller: { userId: 1 } as never,
    url: "/v1/x",
    protocolHeaders: {},
    startedAt: 0,
    autoGroup: undefined,
    isPlayground: false,
    progress: new CallProgress(),
  };
  const plan = { provider, route, bridges: [], upstreamDialect: dialectById(route.dialect) };
  const upstreamModel = mapModel(channel.modelMapping, model);
  return { request, target: { channel, group: "default", plan, upstreamModel, keyIndex } };
}

async function settled(work: () => unknown): Promise<void> {
  try {
    await work();
  } catch {
    // A call that is not made is not recorded.
  }
}

describe("the servers of a channel", () => {
  it("are known before any of them is called", async () => {
    await fc.assert(
      fc.asyncProperty(channels, async ({ provider, keys, fields }) => {
        const channel = parsedChannel(fields, keys);
        const known = listDestinations(channel);
        const unknown = [...(await dial(channel, provider))].filter((origin) => !known.has(origin));
        expect(unknown).toEqual([]);
      }),
      { numRuns: 150 },
    );
  });
});
