import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { isObject, parseObject, type JsonObject } from "../lib/text/json.ts";

/** The only model of the demo upstream. */
export const DEMO_MODEL = "fairway-demo";

export interface DemoUpstream {
  readonly url: string;
  stop(): Promise<void>;
}

const WORD_EVERY_MS = 25;
const MAX_BODY_BYTES = 1024 * 1024;
/** A fixed time, so that responses are the same in every run. */
const CREATED = 1_700_000_000;

/** Starts a loopback server with the OpenAI API that echoes the prompt, so that a first request needs no provider. */
export async function startDemoUpstream(): Promise<DemoUpstream> {
  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", resolve);
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, stop: () => stop(server) };
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const path = (request.url ?? "").split("?")[0];
  if (path === "/v1/models")
    return sendJson(response, 200, {
      object: "list",
      data: [{ id: DEMO_MODEL, object: "model", created: CREATED, owned_by: "fairway" }],
    });
  const body = parseObject(await read(request)) ?? {};
  if (path === "/v1/chat/completions") return chat(body, response);
  if (path === "/v1/embeddings") return embed(body, response);
  sendJson(response, 404, {
    error: {
      message: `The demo upstream has no ${path ?? ""}.`,
      type: "invalid_request_error",
      param: null,
      code: "unknown_url",
    },
  });
}

async function chat(body: JsonObject, response: ServerResponse): Promise<void> {
  const words = `You said: ${lastText(body)}`.split(/(?<= )/);
  const usage = {
    prompt_tokens: tokensIn(body),
    completion_tokens: words.length,
    total_tokens: tokensIn(body) + words.length,
  };
  const base = { id: "chatcmpl-demo", created: CREATED, model: DEMO_MODEL };
  if (body["stream"] !== true) {
    const choice = { index: 0, message: { role: "assistant", content: words.join("") }, finish_reason: "stop" };
    return sendJson(response, 200, { ...base, object: "chat.completion", choices: [choice], usage });
  }
  const chunk = (delta: JsonObject, finish: string | null) =>
    response.write(
      `data: ${JSON.stringify({ ...base, object: "chat.completion.chunk", choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`,
    );
  response.writeHead(200, { "content-type": "text/event-stream" });
  chunk({ role: "assistant", content: "" }, null);
  for (const word of words) {
    await sleep(WORD_EVERY_MS);
    if (response.destroyed) return;
    chunk({ content: word }, null);
  }
  chunk({}, "stop");
  const options = body["stream_options"];
  if (isObject(options) && options["include_usage"] === true) {
    response.write(`data: ${JSON.stringify({ ...base, object: "chat.completion.chunk", choices: [], usage })}\n\n`);
  }
  response.end("data: [DONE]\n\n");
}

function embed(body: JsonObject, response: ServerResponse): void {
  const inputs = (Array.isArray(body["input"]) ? body["input"] : [body["input"] ?? ""]).map((input) =>
    typeof input === "string" ? input : JSON.stringify(input),
  );
  const data = inputs.map((input, index) => ({
    object: "embedding",
    index,
    embedding: buildVector(input, body["encoding_format"] === "base64"),
  }));
  const tokens = inputs.reduce<number>((sum, input) => sum + wordsIn(input), 0);
  sendJson(response, 200, {
    object: "list",
    model: DEMO_MODEL,
    data,
    usage: { prompt_tokens: tokens, total_tokens: tokens },
  });
}

/** Returns eight numbers that depend only on the text. */
function buildVector(text: string, asBase64: boolean): number[] | string {
  const numbers = Float32Array.from({ length: 8 }, (_, index) => {
    let hash = index + 1;
    for (const letter of text) hash = (hash * 31 + (letter.codePointAt(0) ?? 0)) % 1009;
    return hash / 1009;
  });
  return asBase64 ? Buffer.from(numbers.buffer).toString("base64") : [...numbers];
}

function lastText(body: JsonObject): string {
  const messages = Array.isArray(body["messages"]) ? body["messages"] : [];
  const last = messages.at(-1);
  const content = isObject(last) ? last["content"] : undefined;
  if (typeof content === "string") return content;
  const parts = Array.isArray(content) ? content : [];
  return parts.map((part) => (isObject(part) && typeof part["text"] === "string" ? part["text"] : "")).join(" ");
}

function tokensIn(body: JsonObject): number {
  return Array.isArray(body["messages"]) ? wordsIn(JSON.stringify(body["messages"])) : 1;
}

function wordsIn(text: string): number {
  return Math.max(1, text.split(/\s+/).length);
}

async function read(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of request) {
    size += (part as Buffer).length;
    if (size > MAX_BODY_BYTES) throw new Error("the body is too large for the demo upstream");
    parts.push(part as Buffer);
  }
  return Buffer.concat(parts).toString("utf8");
}

function sendJson(response: ServerResponse, status: number, value: unknown): void {
  const body = Buffer.from(JSON.stringify(value));
  response.writeHead(status, { "content-type": "application/json", "content-length": body.length });
  response.end(body);
}

function stop(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((resolve) => server.close(() => resolve()));
}
