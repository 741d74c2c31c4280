// An upstream that answers from a vector's steps, and complains about every request that differs.
import type { Dispatcher } from "undici";
import { isObject, text } from "../../src/dialects/core/read.ts";
import type { JsonObject, JsonValue } from "../../src/dialects/core/types.ts";
import { encodeBlock } from "../../src/lib/text/sse.ts";
import { createBodyStream } from "../../src/providers/core/exchange.ts";
import type { HttpJson, UpstreamAnswer, UpstreamCall, UpstreamSocket } from "../../src/providers/core/types.ts";
import type { Upstreams } from "../../src/relay/upstream/upstream.ts";
import { VectorMismatch, expectSame } from "./compare.ts";
import type { Vector, VectorRequest, VectorStep } from "./load.ts";

/** How a streamed body is cut into chunks. */
export type Chunking = "whole" | "events" | "pieces";

/** Token exchanges that were answered once; providers keep such tokens. */
const exchanged = new Set<string>();

export interface Script extends Upstreams {
  connect(call: UpstreamCall): Promise<UpstreamSocket | UpstreamAnswer>;
  /** First difference between what was sent and what the vector expects. */
  readonly failure: Error | undefined;
  /** Throws when a step was never asked for. */
  finish(): void;
}

export function createScript(vector: Vector, chunking: Chunking): Script {
  let at = 0;
  let failure: Error | undefined;

  function take(request: {
    method: string;
    url: string;
    headers: Readonly<Record<string, string>>;
    body: Buffer | undefined;
  }): VectorStep {
    try {
      while (
        at < vector.steps.length - 1 &&
        isKnownExchange(vector.steps[at]!) &&
        vector.steps[at]!.request.url !== request.url
      )
        at++;
      const step = vector.steps[at++];
      if (step === undefined) throw new VectorMismatch(`unexpected call of ${request.url}`);
      compareRequest(request, step.request);
      return step;
    } catch (error) {
      failure ??= error as Error;
      throw error;
    }
  }

  const json: HttpJson = async (call) => {
    const body = call.body === undefined ? undefined : Buffer.from(call.body);
    const { response, request } = take({ ...call, body });
    exchanged.add(request.url);
    const answer = response["body"];
    return {
      status: Number(response["status"]),
      json: answer,
      text: typeof answer === "string" ? answer : JSON.stringify(answer),
    };
  };

  return {
    json,
    refusesHost: () => false,
    dispatch(call, _proxy, _timeouts, handler) {
      void play(() => take({ ...call, url: call.url.href }).response, chunking, handler);
    },
    async connect(call) {
      const { response } = take({ ...call, url: call.url.href });
      if (response["ws"] === undefined)
        return {
          status: Number(response["status"]),
          headers: readHeaders(response),
          body: createBodyStream(...readParts(response)),
        };
      return createSocket(response, (error) => {
        failure ??= error;
      });
    },
    socketOptions: () => ({}),
    close: () => Promise.resolve(),
    get failure() {
      return failure;
    },
    finish() {
      const left = vector.steps.slice(at).filter((step) => !isKnownExchange(step));
      if (left.length > 0) throw new VectorMismatch(`never called: ${left[0]!.request.url}`);
    },
  };
}

function isKnownExchange(step: VectorStep): boolean {
  return exchanged.has(step.request.url);
}

function compareRequest(
  actual: { method: string; url: string; headers: Readonly<Record<string, string>>; body: Buffer | undefined },
  expected: VectorRequest,
): void {
  expectSame(actual.method, expected.method, "method");
  expectSame(actual.url, expected.url, "url");
  for (const [name, value] of Object.entries(expected.headers)) {
    if (/^(connection|upgrade|host)$/i.test(name)) continue;
    expectSame(actual.headers[name.toLowerCase()], value, `header ${name}`);
  }
  const body = actual.body?.toString("utf8");
  if (expected.raw !== undefined) return expectSame(body, expected.raw, "body");
  if (expected.body === undefined || expected.body === null) return;
  if (typeof expected.body === "string") return expectSame(body, expected.body, "body");
  expectSame(readBody(body, actual.headers["content-type"]), expected.body, "body");
}

function readBody(body: string | undefined, type: string | undefined): unknown {
  if (body === undefined) return undefined;
  return type?.startsWith("application/x-www-form-urlencoded") === true
    ? Object.fromEntries(new URLSearchParams(body))
    : (JSON.parse(body) as unknown);
}

/** Feeds one answer to an undici handler as a connection would. */
async function play(take: () => JsonObject, chunking: Chunking, handler: Dispatcher.DispatchHandler): Promise<void> {
  const controller = new ScriptController();
  handler.onRequestStart?.(controller, {});
  try {
    const response = take();
    handler.onResponseStart?.(controller, Number(response["status"]), readHeaders(response), "");
    for (const chunk of cut(readParts(response), chunking)) {
      await controller.flowing();
      if (controller.aborted) break;
      handler.onResponseData?.(controller, chunk);
    }
    if (controller.reason !== null) handler.onResponseError?.(controller, controller.reason);
    else handler.onResponseEnd?.(controller, {});
  } catch (error) {
    handler.onResponseError?.(controller, error as Error);
  }
}

class ScriptController implements Dispatcher.DispatchController {
  rawHeaders = null;
  rawTrailers = null;
  reason: Error | null = null;
  #paused = Promise.resolve();
  #resume: (() => void) | undefined;

  get aborted(): boolean {
    return this.reason !== null;
  }

  get paused(): boolean {
    return this.#resume !== undefined;
  }

  abort(reason: Error): void {
    this.reason ??= reason;
    this.resume();
  }

  pause(): void {
    this.#paused = new Promise((resolve) => {
      this.#resume = resolve;
    });
  }

  resume(): void {
    this.#resume?.();
    this.#resume = undefined;
  }

  async flowing(): Promise<void> {
    await this.#paused;
  }
}

export function readHeaders(response: JsonObject): Record<string, string> {
  const headers = Object.entries((response["headers"] ?? {}) as Record<string, string>);
  return Object.fromEntries(headers.map(([name, value]) => [name.toLowerCase(), value]));
}

/** The body in its natural parts: events, lines, frames or the whole. */
function readParts(response: JsonObject): Buffer[] {
  const { sse, ndjson, body, body_base64: base64, body_hex: hex } = response;
  if (Array.isArray(sse)) return sse.map((event) => Buffer.from(eventText(event)));
  if (Array.isArray(ndjson))
    return ndjson.map((line) => Buffer.from(`${typeof line === "string" ? line : JSON.stringify(line)}\n`));
  if (typeof base64 === "string") return splitFrames(Buffer.from(base64, "base64"));
  if (typeof hex === "string") return [Buffer.from(hex, "hex")];
  return [Buffer.from(typeof body === "string" ? body : JSON.stringify(body))];
}

/** Binary frames begin with their own length. */
function splitFrames(bytes: Buffer): Buffer[] {
  const frames: Buffer[] = [];
  for (let start = 0; start < bytes.length;) {
    const end = start + bytes.readUInt32BE(start);
    frames.push(bytes.subarray(start, end));
    start = end;
  }
  return frames;
}

function eventText(event: JsonValue): string {
  if (typeof event === "string") return `${event}\n\n`;
  if (!isObject(event)) throw new VectorMismatch("an event is neither text nor object");
  const comment = text(event, "comment");
  if (comment !== undefined) return `: ${comment}\n\n`;
  const data = event["data"];
  return encodeBlock(typeof data === "string" ? data : JSON.stringify(data), text(event, "event"));
}

function cut(parts: readonly Buffer[], chunking: Chunking): Buffer[] {
  if (chunking === "events") return [...parts];
  const all = Buffer.concat(parts);
  if (chunking === "whole") return [all];
  const pieces: Buffer[] = [];
  for (let start = 0; start < all.length; start += 7) pieces.push(all.subarray(start, start + 7));
  return pieces;
}

/** Plays `ws` frames: what is sent is compared, what is received is handed over. */
function createSocket(response: JsonObject, onFailure: (error: Error) => void): UpstreamSocket {
  const frames = (response["ws"] ?? []) as JsonObject[];
  const sent = frames.filter((frame) => frame["dir"] === "send");
  const received = frames.filter((frame) => frame["dir"] === "recv");
  return {
    send(message) {
      try {
        expectSame(JSON.parse(message) as unknown, sent.shift()?.["json"], "frame");
      } catch (error) {
        onFailure(error as Error);
      }
    },
    received: (async function* () {
      for (const frame of received) yield JSON.stringify(frame["json"]);
    })(),
    close: () => undefined,
  };
}
