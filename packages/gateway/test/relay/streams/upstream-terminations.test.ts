// Upstreams that end an answer in their own way, and processes that stop before the answer began.
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { parseEvents } from "../../../src/lib/text/sse.ts";
import { books, chat, consumeRows, readError, useRelay } from "../../kit/relay-app.ts";

const relay = useRelay();
const EVENTS = { "content-type": "text/event-stream" };
const MODEL = "own-stop";
const CLAUDE = "own-stop-claude";

/** The answers, used in turn; the last one is repeated. */
let answers: ((response: ServerResponse) => void)[] = [];
let calls = 0;
const upstream = createServer((request, response) => {
  request.resume().once("end", () => answers[Math.min(calls++, answers.length - 1)]?.(response));
});

beforeAll(async () => {
  await once(upstream.listen(0, "127.0.0.1"), "listening");
  const base_url = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`;
  await relay.gateway.channel(MODEL, { base_url });
  await relay.gateway.channel(CLAUDE, { base_url, type: 14 });
  await relay.gateway.option("RetryTimes", 1);
});
beforeEach(() => {
  calls = 0;
});
afterAll(() => {
  upstream.closeAllConnections();
  upstream.close();
});

const event = (data: object) => `data: ${JSON.stringify(data)}\n\n`;
const chunk = (content: string, finish: string | null = null) =>
  event({
    id: "c",
    object: "chat.completion.chunk",
    created: 1,
    model: "m",
    choices: [{ index: 0, delta: { content }, finish_reason: finish }],
  });
const HELLO = chunk("Hello");
const FINISHED = HELLO + chunk("", "stop");

function streamed(text: string, then: (response: ServerResponse) => void): (response: ServerResponse) => void {
  return (response) => {
    response.writeHead(200, EVENTS).write(text, () => setTimeout(() => then(response), 50));
  };
}

const ask = (more: object = { stream: true }) => relay.ask(MODEL, more);

async function endReason(response: Response): Promise<unknown> {
  await relay.gateway.settled();
  const rows = await consumeRows(relay.gateway, response.headers.get("x-request-id") ?? "");
  return rows.map((row) => row.other["end_reason"]);
}

it.each([
  ["breaks the connection", (response: ServerResponse) => void response.destroy()],
  ["says nothing more", () => undefined],
])("an answer with its finish reason is whole when the upstream then %s", async (_what, then) => {
  answers = [streamed(FINISHED, then)];
  const response = await ask();
  const text = await response.text();
  expect(text).not.toContain("error");
  expect(text.endsWith("data: [DONE]\n\n")).toBe(true);
  expect(await endReason(response)).toEqual(["stop"]);
});

it("adds the final event to a message with a stop reason", async () => {
  const start = { id: "msg", role: "assistant", content: [], model: "m", usage: { input_tokens: 3, output_tokens: 1 } };
  const said = [
    { type: "message_start", message: start },
    { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
    { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Hello" } },
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 2 } },
  ];
  const text = said.map((data) => `event: ${data.type}\n${event(data)}`).join("");
  answers = [streamed(text, (response) => void response.destroy())];
  const body = chat(CLAUDE, { stream: true, max_tokens: 9 });
  const response = await relay.gateway.post("/v1/messages", body, relay.key);
  expect(parseEvents(Buffer.from(await response.text())).map((each) => each.event)).toEqual([
    ...said.map(({ type }) => type),
    "message_stop",
  ]);
});

it("an upstream that sends more after the end of its answer is cut off", async () => {
  const closed = Promise.withResolvers<string>();
  answers = [
    streamed(`${FINISHED}data: [DONE]\n\n`, (response) => {
      const talking = setInterval(() => response.write(": still here\n\n"), 100);
      response.once("close", () => {
        clearInterval(talking);
        closed.resolve("closed");
      });
    }),
  ];
  expect(await (await ask()).text()).toContain("[DONE]");
  expect(await Promise.race([closed.promise, sleep(4_000, "open")])).toBe("closed");
});

it("a cut stream is a failure for a client that requested a whole answer", async () => {
  answers = [streamed(HELLO, (response) => void response.end())];
  const response = await ask({});
  expect([response.status, (await readError(response)).code]).toEqual([502, "upstream_stream_interrupted"]);
  expect(calls).toBe(2);
  expect(await endReason(response)).toEqual([]);
});

it("reports an event that does not end in place of a whole answer", async () => {
  answers = [streamed(`data: ${"x".repeat(17 * 1024 * 1024)}`, (response) => void response.end())];
  const response = await ask({});
  expect([response.status, (await readError(response)).code]).toEqual([502, "upstream_invalid_response"]);
});

it("an upstream that breaks off at the second call without the usage option is a failure", async () => {
  const refusal = { error: { message: "Unknown parameter: stream_options", type: "invalid_request_error" } };
  answers = [
    (response) => response.writeHead(400, { "content-type": "application/json" }).end(JSON.stringify(refusal)),
    (response) => void response.destroy(),
  ];
  const response = await ask();
  expect([response.status, (await readError(response)).code]).toEqual([502, "upstream_connect_failed"]);
});

it("an upstream that sends only keep-alives is given up for another channel", async () => {
  const alive = (type: string, sign: string) => (response: ServerResponse) => {
    response.writeHead(200, { "content-type": type });
    const timer = setInterval(() => response.write(sign), 100);
    response.once("close", () => clearInterval(timer));
  };
  const finished = streamed(FINISHED, (response) => void response.end());
  answers = [alive("text/event-stream", ": still here\n\n"), alive("application/json", "\n"), finished];
  const asked = ask();
  while (calls === 0) await sleep(5);
  const [streamedAnswer, plain] = await Promise.all([asked, ask({})]);
  expect(await streamedAnswer.text()).toContain("Hello");
  expect(await plain.text()).toContain("Hello");
  expect(calls).toBe(4);
});

it.each([
  ["no head", () => undefined],
  ["no event", (response: ServerResponse) => response.writeHead(200, EVENTS).flushHeaders()],
  ["half a refusal", (response: ServerResponse) => void response.writeHead(500).write("no")],
  ["half an event", (response: ServerResponse) => void response.writeHead(200, EVENTS).write("da")],
])("a process that stops does not try another channel when there is %s yet", async (_what, begin) => {
  answers = [begin];
  const asked = ask();
  while (calls === 0) await sleep(20);
  await sleep(100);
  relay.gateway.app.cutOff();
  const response = await asked;
  expect([response.status, (await readError(response)).code, calls]).toEqual([503, "server_shutdown", 1]);
  await relay.gateway.settled();
  expect((await books(relay.gateway)).holds).toBe(0);
});
