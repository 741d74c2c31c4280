import { createVerify, generateKeyPairSync } from "node:crypto";
import { describe, expect, it } from "vitest";
import { createRequestSpec, createUpstreamCall, createChannelRecord } from "../../../../test/kit/provider-kit.ts";
import { vertex } from "./vertex.ts";
import type { HttpJson } from "../../core/types.ts";

const pair = generateKeyPairSync("rsa", { modulusLength: 2048 });
const pem = pair.privateKey.export({ type: "pkcs8", format: "pem" }).toString();

function createKey(parts: Record<string, string> = {}): string {
  return JSON.stringify({
    type: "service_account",
    project_id: "p",
    client_email: "gw@p.iam",
    private_key: pem,
    ...parts,
  });
}

function buildPath(
  model: string,
  parts: { stream?: boolean; baseUrl?: string; other?: string; key?: string } = {},
): string | undefined {
  const { stream = false, baseUrl = "", other = "us-east5", key = createKey() } = parts;
  const spec = createRequestSpec({ model, stream });
  const channel = createChannelRecord({ baseUrl, other });
  const route = vertex.speaks.find(
    (candidate) => candidate.operation === "chat" && candidate.when?.(spec, model, channel),
  );
  return typeof route?.path === "function" ? route.path(spec, model, channel, key) : undefined;
}

const root = "https://us-east5-aiplatform.googleapis.com/v1/projects/p/locations/us-east5";

describe("places of Vertex", () => {
  it.each([
    ["gemini-3.8-flash", false, `${root}/publishers/google/models/gemini-3.8-flash:generateContent`],
    ["gemini-3.8-flash", true, `${root}/publishers/google/models/gemini-3.8-flash:streamGenerateContent?alt=sse`],
    ["claude-sonnet-5", true, `${root}/publishers/anthropic/models/claude-sonnet-5:streamRawPredict`],
    [
      "claude-3-5-sonnet-20241022",
      false,
      `${root}/publishers/anthropic/models/claude-3-5-sonnet-v2@20241022:rawPredict`,
    ],
    ["meta/llama-4-maverick", false, `${root}/endpoints/openapi/chat/completions`],
    ["1234567890", false, `${root}/endpoints/1234567890:generateContent`],
  ])("%s, stream %s", (model, stream, expected) => {
    expect(buildPath(model, { stream })).toBe(expected);
  });

  it("finds regions by the client's name and knows hosts without a region", () => {
    const other = JSON.stringify({ default: "global", "claude-sonnet-5": "eu" });
    expect(buildPath("gemini-3.8-flash", { other })).toMatch(
      /^https:\/\/aiplatform\.googleapis\.com\/.*locations\/global\//,
    );
    expect(buildPath("claude-sonnet-5", { other })).toMatch(/^https:\/\/aiplatform\.eu\.rep\.googleapis\.com\//);
  });

  it("gives the path alone to channels with a base URL, and leaves the project out for plain keys", () => {
    expect(buildPath("gemini-3.8-flash", { baseUrl: "http://127.0.0.1:1" })).toMatch(/^\/v1\/projects\/p\//);
    expect(buildPath("gemini-3.8-flash", { key: "AIzaKey" })).toBe(
      "https://aiplatform.googleapis.com/v1/publishers/google/models/gemini-3.8-flash:generateContent",
    );
  });
});

describe("tokens of Vertex", () => {
  const now = 1_790_000_000_000;

  it("buys one at the file's own address with a signed assertion, and keeps it", async () => {
    const key = createKey({ token_uri: "http://127.0.0.1:1/token", private_key_id: "kid" });
    const asked: Parameters<HttpJson>[0][] = [];
    const http: HttpJson = (call) => {
      asked.push(call);
      return Promise.resolve({ status: 200, json: { access_token: "ya29.x", expires_in: 3599 }, text: "" });
    };
    const calls = [createUpstreamCall("https://h/v1/x", {}), createUpstreamCall("https://h/v1/x", {})];
    for (const call of calls)
      await vertex.authorize(call, createChannelRecord(), { key, now, http, clientHeaders: {} });
    expect(calls.map((call) => call.headers["authorization"])).toEqual(["Bearer ya29.x", "Bearer ya29.x"]);
    expect(asked.map((call) => call.url)).toEqual(["http://127.0.0.1:1/token"]);
    const assertion = new URLSearchParams(asked[0]?.body).get("assertion") ?? "";
    const [head = "", claims = "", signature = ""] = assertion.split(".");
    expect(JSON.parse(Buffer.from(head, "base64url").toString())).toEqual({ alg: "RS256", typ: "JWT", kid: "kid" });
    expect(JSON.parse(Buffer.from(claims, "base64url").toString())).toMatchObject({
      aud: "http://127.0.0.1:1/token",
      iat: 1_790_000_000,
      exp: 1_790_003_600,
    });
    expect(createVerify("RSA-SHA256").update(`${head}.${claims}`).verify(pair.publicKey, signature, "base64url")).toBe(
      true,
    );
  });

  it("refuses files that cannot be right before any call", async () => {
    const http: HttpJson = () => Promise.reject(new Error("unexpected"));
    for (const key of ["{}", createKey({ private_key: "nonsense" })]) {
      const signing = vertex.authorize(createUpstreamCall("https://h/", {}), createChannelRecord(), {
        key,
        now,
        http,
        clientHeaders: {},
      });
      await expect(Promise.resolve(signing)).rejects.toMatchObject({
        upstreamError: { class: "bad_key", disable: false },
      });
    }
  });
});
