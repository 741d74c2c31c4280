import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { parseBehaviour, type Behaviour } from "./behaviour.ts";
import { createFakeFiles, type FakeFiles } from "./files.ts";
import type { ScriptedAnswer } from "./scripted-answer.ts";
import { createBatchServer, type BatchServer } from "./batches/batch-server.ts";
import { createGeminiBatchServer, type GeminiBatchServer } from "./batches/gemini-batches.ts";
import { createFileBatchServer, type FileBatchServer } from "./batches/file-batches.ts";
import { createFakeUploads, type FakeUploads } from "./uploads.ts";
import { openaiChat } from "./formats/openai-chat.ts";
import { attachRealtime } from "./realtime.ts";
import { record, type Recorded } from "./recorded.ts";
import { composeReply, type ChatFormat, type Json } from "./reply.ts";
import { findRoute, type ChatRoute, type Route } from "./routes.ts";
import { sendHalf, writeEndless, writeJsonArray, writeStream } from "./stream.ts";

export type { ScriptedAnswer } from "./scripted-answer.ts";
export type Script = (request: Recorded) => ScriptedAnswer | Promise<ScriptedAnswer>;

export interface Upstream {
  /** `http://127.0.0.1:<port>`, the base URL of a channel. */
  readonly url: string;
  /** Everything received since the last `reset()`, oldest first. */
  readonly requests: readonly Recorded[];
  /** Returns the most parallel requests for a model since the last `reset()`. */
  getMaxConcurrency(model: string): number;
  /** Answers requests whose path ends with `pathEnd` from now on, before the built-in formats. */
  script(pathEnd: string, script: Script): void;
  /** The files that it stores. */
  readonly files: FakeFiles;
  /** Its uploads in parts. */
  readonly uploads: FakeUploads;
  /** The batches that it was given. */
  readonly batches: BatchServer;
  readonly fileBatches: FileBatchServer;
  readonly geminiBatches: GeminiBatchServer;
  /** Forgets requests, files, batches, scripts and the counters behind `status-N-then-ok`. */
  reset(): void;
  stop(): Promise<void>;
}

/** A tool's result in any chat format. */
const TOOL_RESULT = /"(?:tool_result|function_call_output|functionResponse)"|"role":\s*"tool"/;

interface State {
  readonly requests: Recorded[];
  readonly scripts: Map<string, Script>;
  readonly failedOnce: Set<string>;
  /** By model: how many requests are running, and the most that ran at once. */
  readonly running: Map<string, { now: number; most: number }>;
  readonly files: FakeFiles;
  readonly uploads: FakeUploads;
  readonly batches: BatchServer;
  readonly geminiBatches: GeminiBatchServer;
  readonly fileBatches: FileBatchServer;
  serial: number;
}

export async function startUpstream(port = 0): Promise<Upstream> {
  const files = createFakeFiles();
  const state: State = {
    requests: [],
    scripts: new Map(),
    failedOnce: new Set(),
    running: new Map(),
    files,
    uploads: createFakeUploads(files),
    batches: createBatchServer(),
    fileBatches: createFileBatchServer(files),
    geminiBatches: createGeminiBatchServer(files),
    serial: 0,
  };
  const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
    serve(state, request, response).catch((error: unknown) => {
      if (!response.headersSent) response.writeHead(500).end(String(error));
      else response.destroy();
    });
  });
  attachRealtime(server);
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", resolve);
  });
  const address = server.address();
  if (!address || typeof address === "string") throw new Error("the fake upstream has no port");
  return {
    url: `http://127.0.0.1:${address.port}`,
    requests: state.requests,
    files,
    uploads: state.uploads,
    getMaxConcurrency: (model) => state.running.get(model)?.most ?? 0,
    script: (pathEnd, script) => void state.scripts.set(pathEnd, script),
    batches: state.batches,
    fileBatches: state.fileBatches,
    geminiBatches: state.geminiBatches,
    reset() {
      state.batches.reset();
      state.fileBatches.clear();
      state.geminiBatches.clear();
      state.requests.length = 0;
      state.scripts.clear();
      state.failedOnce.clear();
      state.running.clear();
      files.clear();
      state.uploads.clear();
    },
    stop: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function serve(state: State, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const recorded = await record(request, response);
  state.requests.push(recorded);
  countRunning(state, recorded.model, response);
  const script = [...state.scripts].find(([end]) => recorded.path.endsWith(end))?.[1];
  if (script) return answerScripted(response, await script(recorded));

  const stored = answerStored(state, recorded);
  if (stored === "lost") return void response.destroy();
  if (stored === "hanging") return;
  if (stored) return answerScripted(response, stored);
  const behaviour = parseBehaviour(recorded.model);
  const route = findRoute(recorded);
  if (!route)
    return sendJson(response, 404, openaiChat.error(404, `Invalid URL (${recorded.method} ${recorded.path})`));
  if (await answerFaulty({ state, recorded, response, behaviour, route })) return;
  if ("single" in route) {
    const { contentType, body } = route.single(recorded, behaviour);
    if (behaviour.delayMs > 0) await sleep(behaviour.delayMs);
    response.writeHead(200, { "content-type": contentType, "content-length": Buffer.byteLength(body) }).end(body);
    return;
  }
  return answerChat(state, recorded, response, { behaviour, route });
}

/** Answers calls about files and batches. */
function answerStored(state: State, recorded: Recorded) {
  return (
    state.files.answer(recorded) ??
    state.uploads.answer(recorded) ??
    state.fileBatches.answer(recorded) ??
    state.geminiBatches.answer(recorded) ??
    state.batches.answer(recorded)
  );
}

function countRunning({ running }: State, model: string, response: ServerResponse): void {
  const count = running.get(model) ?? { now: 0, most: 0 };
  running.set(model, count);
  count.now += 1;
  count.most = Math.max(count.most, count.now);
  let isOver = false;
  const over = () => {
    if (!isOver) count.now -= 1;
    isOver = true;
  };
  response.once("finish", over).once("close", over);
}

interface Exchange {
  readonly state: State;
  readonly recorded: Recorded;
  readonly response: ServerResponse;
  readonly behaviour: Behaviour;
  readonly route: Route;
}

/** Returns true if a fault of the behaviour has answered, or will never answer. */
async function answerFaulty({ state, recorded, response, behaviour, route }: Exchange): Promise<boolean> {
  if (behaviour.isHanging) return true;
  const format = "chat" in route ? route.chat : route.errors;
  if (behaviour.status !== undefined && !(behaviour.isOnce && state.failedOnce.has(recorded.model))) {
    state.failedOnce.add(recorded.model);
    if (behaviour.delayMs > 0) await sleep(behaviour.delayMs);
    sendError(response, behaviour.status, behaviour, format);
    return true;
  }
  return behaviour.body !== "normal" && answerOdd(response, behaviour.body, "chat" in route && route.isStream);
}

async function answerOdd(
  response: ServerResponse,
  body: Exclude<Behaviour["body"], "normal">,
  isStream: boolean,
): Promise<true> {
  const contentType = isStream ? "text/event-stream" : "application/json";
  switch (body) {
    case "html":
      response.writeHead(200, { "content-type": "text/html; charset=utf-8" });
      response.end("<html><body><h1>Sign in</h1></body></html>");
      return true;
    case "empty":
      response.writeHead(200, { "content-type": contentType }).end();
      return true;
    case "redirect":
      response.writeHead(302, { location: "/redirected" }).end();
      return true;
    case "huge":
      await writeEndless(response, isStream);
      return true;
    case "bad-json":
      response.writeHead(200, { "content-type": contentType });
      response.end(isStream ? 'data: {"choices":[{"del\n\n' : '{"choices":[{"mess');
      return true;
  }
}

async function answerChat(
  state: State,
  recorded: Recorded,
  response: ServerResponse,
  { behaviour, route }: { readonly behaviour: Behaviour; readonly route: ChatRoute },
): Promise<void> {
  const isAnswered = behaviour.isToolLoop && TOOL_RESULT.test(recorded.body.toString());
  const reply = composeReply(
    isAnswered ? { ...behaviour, toolCalls: 0 } : behaviour,
    recorded.model,
    readQuestion(recorded.json),
    ++state.serial,
  );
  const isStream = behaviour.forcedShape ? behaviour.forcedShape === "sse" : route.isStream;
  if (!isStream) {
    if (behaviour.delayMs > 0) await sleep(behaviour.delayMs);
    const whole = route.chat.plain(reply);
    if (behaviour.completion === "cut" || behaviour.completion === "reset")
      return sendHalf(response, whole, behaviour.completion);
    return sendJson(response, 200, whole);
  }
  const events = route.chat.stream(reply, route.wantsUsage || behaviour.isUsageForced);
  return route.isJsonArray
    ? writeJsonArray(response, events, behaviour)
    : writeStream(response, events, behaviour, route.chat);
}

/** Returns the text of the last message, for `echo`. */
function readQuestion(json: Json | undefined): string {
  const list = ["messages", "contents", "input", "prompt"]
    .map((name) => json?.[name])
    .find((value) => value !== undefined);
  const last: unknown = Array.isArray(list) ? list.at(-1) : list;
  if (typeof last !== "object" || last === null) return typeof last === "string" ? last : "";
  const { content, parts } = last as { content?: unknown; parts?: unknown };
  const pieces = content ?? parts;
  if (!Array.isArray(pieces)) return typeof pieces === "string" ? pieces : "";
  return (pieces as readonly { text?: string }[]).map((piece) => piece.text ?? "").join("");
}

function answerScripted(
  response: ServerResponse,
  { status = 200, headers = {}, body = "", stallsAfter }: ScriptedAnswer,
): void {
  const isRaw = typeof body === "string" || Buffer.isBuffer(body);
  const bytes = Buffer.from(isRaw ? body : JSON.stringify(body));
  response.writeHead(status, { ...(isRaw ? {} : { "content-type": "application/json" }), ...headers });
  if (stallsAfter === undefined) response.end(bytes);
  else response.write(bytes.subarray(0, stallsAfter));
}

function sendError(response: ServerResponse, status: number, behaviour: Behaviour, format: ChatFormat): void {
  if (behaviour.retryAfterSeconds !== undefined) response.setHeader("retry-after", String(behaviour.retryAfterSeconds));
  if (behaviour.body === "html")
    response.writeHead(status, { "content-type": "text/html" }).end("<html><body>Bad gateway</body></html>");
  else if (behaviour.body === "empty") response.writeHead(status).end();
  else sendJson(response, status, format.error(status, `The fake upstream answers ${status}.`));
}

function sendJson(response: ServerResponse, status: number, value: Json): void {
  const body = JSON.stringify(value);
  response.writeHead(status, {
    "content-type": "application/json",
    "content-length": Buffer.byteLength(body),
    "x-request-id": "req_fake",
  });
  response.end(body);
}
