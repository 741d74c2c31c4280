// How streams end for clients of each protocol when the upstream fails in the middle (6.6), streams that contain no
// events, and what clients learn about a call that was changed or never sent.
import { describe, expect, it } from "vitest";
import { parseEvents } from "../../../src/lib/text/sse.ts";
import { consumeRows, useRelay } from "../../kit/relay-app.ts";

const relay = useRelay();
const CONTENTS = { contents: [{ role: "user", parts: [{ text: "hi" }] }] };
const TYPES = [
  ["OpenAI", 1],
  ["Anthropic", 14],
  ["Gemini", 24],
] as const;

interface Read {
  readonly text: string;
  /** True if the body ended as HTTP requires, and was not cut off. */
  readonly isWhole: boolean;
  readonly type: string;
}

async function read(response: Response): Promise<Read> {
  const decoder = new TextDecoder();
  let text = "";
  let isWhole = true;
  try {
    for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>)
      text += decoder.decode(chunk, { stream: true });
  } catch {
    isWhole = false;
  }
  return { text, isWhole, type: response.headers.get("content-type") ?? "" };
}

async function gemini(model: string, query = ""): Promise<Read> {
  return read(await relay.gateway.post(`/v1beta/models/${model}:streamGenerateContent${query}`, CONTENTS, relay.key));
}

describe.each(TYPES)("a Gemini client before an upstream of %s", (name, type) => {
  const model = (word: string) => `${word}@${name}`;
  const channel = (word: string) =>
    relay.gateway.channel(model(word), { type, model_mapping: JSON.stringify({ [model(word)]: word }) });

  it("gets one JSON array unless it requests events", async () => {
    await channel("plain");
    const { text, isWhole, type: contentType } = await gemini(model("plain"));
    expect(isWhole).toBe(true);
    expect(contentType).toContain("application/json");
    const pieces = JSON.parse(text) as { candidates?: { content: { parts: { text?: string }[] } }[] }[];
    const said = pieces.flatMap((piece) => piece.candidates?.[0]?.content.parts ?? []).map((part) => part.text ?? "");
    expect(said.join("")).toBe("Hello from the fake upstream.");
    expect(pieces.at(-1)).toMatchObject({ usageMetadata: { promptTokenCount: 20, candidatesTokenCount: 10 } });
  });

  it.each(["", "?alt=sse"])("gets an error and a broken body when a stream breaks (%s)", async (query) => {
    await channel("slow-20+cut-after-4");
    const { text, isWhole } = await gemini(model("slow-20+cut-after-4"), query);
    expect(isWhole).toBe(false);
    expect(text).toContain("Hello");
    if (query === "") {
      expect(text.startsWith("[")).toBe(true);
      expect(JSON.parse(`${text}]`)).toContainEqual({ error: expect.objectContaining({ code: 502 }) as unknown });
    } else {
      expect(parseEvents(Buffer.from(text)).at(-1)?.data).toMatchObject({ error: { code: 502 } });
    }
  });
});

it("wraps a whole answer to a streaming client in an array of one element", async () => {
  await relay.gateway.channel("json-for-stream", { type: 24 });
  const { text, type } = await gemini("json-for-stream");
  expect(type).toContain("application/json");
  expect(JSON.parse(text)).toHaveLength(1);
});

it("a failure before the first event is a plain error response", async () => {
  await relay.gateway.channel("status-500@array", { type: 24, model_mapping: '{"status-500@array":"status-500"}' });
  const response = await relay.gateway.post(
    "/v1beta/models/status-500@array:streamGenerateContent",
    CONTENTS,
    relay.key,
  );
  expect(response.status).toBe(500);
  expect(await response.json()).toMatchObject({ error: { code: 500, status: "INTERNAL" } });
});

describe.each(TYPES)("a Responses client before an upstream of %s", (name, type) => {
  it("has the next sequence number and the failed response", async () => {
    const word = "slow-20+error-after-6";
    const model = `${word}@responses-${name}`;
    await relay.gateway.channel(model, { type, model_mapping: JSON.stringify({ [model]: word }) });
    const { text, isWhole } = await read(
      await relay.gateway.post("/v1/responses", { model, input: "hi", stream: true }, relay.key),
    );
    expect(isWhole).toBe(true);
    const events = parseEvents(Buffer.from(text)).flatMap(({ data }) => (data ? [data] : []));
    expect(events.map((event) => event["sequence_number"])).toEqual(events.map((_, at) => at));
    const created = events[0] as { response: { id: string } };
    expect(events.slice(-2)).toMatchObject([
      { type: "error" },
      { type: "response.failed", response: { id: created.response.id, status: "failed" } },
    ]);
  });
});

it("a refusal before the call hides the operator's key and hosts too", async () => {
  const { upstream } = relay.gateway;
  upstream.script("/oauth2/v2.0/token", () => ({
    status: 500,
    body: { error_description: `secret super-secret-of-the-operator is broken at ${upstream.url}` },
  }));
  await relay.gateway.channel("entra", {
    type: 3,
    key: "tenant|client|super-secret-of-the-operator",
    setting: JSON.stringify({ entra_authority: upstream.url }),
  });
  const text = await (await relay.ask("entra")).text();
  expect(text).toContain("Could not obtain an access token: secret *** is broken");
  expect(text).not.toContain("127.0.0.1");
});

it("logs parameters that a vendor's model does not support", async () => {
  await relay.gateway.channel("o3-mini");
  const response = await relay.ask("o3-mini", { temperature: 0.5, logit_bias: { "1": 2 }, max_tokens: 50 });
  expect(response.status).toBe(200);
  const sent = relay.gateway.upstream.requests[0]?.json;
  expect(sent).toMatchObject({ max_completion_tokens: 50 });
  expect(sent).not.toHaveProperty("temperature");
  const [row] = await consumeRows(relay.gateway, response.headers.get("x-request-id") ?? "");
  expect(row?.other["dropped_params"]).toEqual(["temperature", "logit_bias"]);
});

it("logs parameters that the operator's list removes", async () => {
  const setting = JSON.stringify({ drop_params: ["seed", "top_k"] });
  await relay.gateway.channel("some-model", { type: 1005, setting });
  const response = await relay.ask("some-model", { seed: 1, temperature: 0.5 });
  expect(response.status).toBe(200);
  const sent = relay.gateway.upstream.requests[0]?.json;
  expect(sent).toMatchObject({ temperature: 0.5 });
  expect(sent).not.toHaveProperty("seed");
  const [row] = await consumeRows(relay.gateway, response.headers.get("x-request-id") ?? "");
  expect(row?.other["dropped_params"]).toEqual(["seed"]);
});

it("cuts client text in the log to the length of a name", async () => {
  await relay.gateway.channel("wordy");
  const response = await relay.ask("wordy", { reasoning_effort: "x".repeat(100_000) });
  await response.text();
  const [row] = await consumeRows(relay.gateway, response.headers.get("x-request-id") ?? "");
  expect(row?.other["reasoning_effort"]).toBe("x".repeat(64));
});
