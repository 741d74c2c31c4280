// Silence of the upstream, and what is sent meanwhile (R-STR-1, R-STR-7).
import { afterAll, beforeAll, expect, it } from "vitest";
import { chat, eventsOf, startRelayApp, type RelayApp } from "../../kit/relay-app.ts";

const CONTENTS = { contents: [{ role: "user", parts: [{ text: "hi" }] }] };

let gateway: RelayApp;
let key: string;

beforeAll(async () => {
  gateway = await startRelayApp({ FAIRWAY_HEARTBEAT_MS: "300", FAIRWAY_STREAM_HEADER_TIMEOUT_MS: "1500" });
  key = await gateway.token();
});
afterAll(() => gateway.close());

/** The body as far as it came, and whether it ended as HTTP says. */
async function read(response: Response): Promise<{ text: string; isWhole: boolean }> {
  const chunks: Uint8Array[] = [];
  let isWhole = true;
  try {
    for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) chunks.push(chunk);
  } catch {
    isWhole = false;
  }
  return { text: Buffer.concat(chunks).toString(), isWhole };
}

it("sends comments to chat clients, and an error event when nothing follows", async () => {
  await gateway.channel("hang");
  const response = await gateway.post("/v1/chat/completions", chat("hang", { stream: true }), key);
  const { text, isWhole } = await read(response);
  expect(response.status).toBe(200);
  expect(isWhole).toBe(true);
  const blocks = eventsOf(text);
  expect(blocks.slice(0, -1).every((block) => block.startsWith(":"))).toBe(true);
  expect(JSON.parse((blocks.at(-1) ?? "").slice("data: ".length))).toMatchObject({
    error: { code: "upstream_timeout" },
  });
});

it("sends line feeds in Gemini arrays, and an error element in a body that breaks off", async () => {
  await gateway.channel("hang@array", { type: 24, model_mapping: '{"hang@array":"hang"}' });
  const response = await gateway.post("/v1beta/models/hang@array:streamGenerateContent", CONTENTS, key);
  const { text, isWhole } = await read(response);
  expect(response.status).toBe(200);
  expect(isWhole).toBe(false);
  expect(text.startsWith("\n")).toBe(true);
  expect(JSON.parse(`${text}]`)).toMatchObject([{ error: { code: 504, status: "DEADLINE_EXCEEDED" } }]);
});

it("a Gemini array with keep-alives is valid JSON", async () => {
  await gateway.channel("slow-700", { type: 24 });
  const response = await gateway.post("/v1beta/models/slow-700:streamGenerateContent", CONTENTS, key);
  const { text, isWhole } = await read(response);
  expect(isWhole).toBe(true);
  expect(text).toContain("\n");
  const pieces = JSON.parse(text) as { candidates: { content: { parts: { text: string }[] } }[] }[];
  expect(pieces.map((piece) => piece.candidates[0]?.content.parts[0]?.text).join("")).toBe(
    "Hello from the fake upstream.",
  );
});

it("sends no keep-alive between Gemini events, because old clients fail on comments", async () => {
  await gateway.channel("slow-600", { type: 24 });
  const response = await gateway.post("/v1beta/models/slow-600:streamGenerateContent?alt=sse", CONTENTS, key);
  const { text } = await read(response);
  expect(eventsOf(text).every((block) => block.startsWith("data: {"))).toBe(true);
});
