import type { ServerResponse } from "node:http";
import type { Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import type { Behaviour } from "./behaviour.ts";
import type { ChatFormat, Json, SseEvent } from "./reply.ts";

/** Writes the events of a stream in the manner of `behaviour`. */
export async function writeStream(
  response: ServerResponse,
  events: Iterable<SseEvent>,
  behaviour: Behaviour,
  format: ChatFormat,
): Promise<void> {
  response.writeHead(200, {
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-cache",
    "x-request-id": "req_fake",
  });
  response.flushHeaders();
  let written = 0;
  for (const event of events) {
    if (behaviour.delayMs > 0) await sleep(behaviour.delayMs);
    if (written === behaviour.stopAfter) return finishEarly(response, behaviour, format);
    if (response.destroyed) return;
    if (behaviour.hasComments) await write(response, `: keep-alive${behaviour.lineEnd}${behaviour.lineEnd}`, 0);
    await write(response, frame(event, behaviour.lineEnd), behaviour.splitBytes);
    written++;
  }
  response.end();
}

/** Writes Gemini's other stream: one JSON array, an element per event. */
export async function writeJsonArray(
  response: ServerResponse,
  events: Iterable<SseEvent>,
  behaviour: Behaviour,
): Promise<void> {
  response.writeHead(200, { "content-type": "application/json; charset=utf-8" });
  let written = 0;
  for (const event of events) {
    if (written === behaviour.stopAfter) return void response.destroy();
    if (behaviour.delayMs > 0) await sleep(behaviour.delayMs);
    await write(response, `${written === 0 ? "[" : ",\r\n"}${event.data}`, behaviour.splitBytes);
    written++;
  }
  response.end("]");
}

/** Sends the first half of a plain answer. */
export async function sendHalf(response: ServerResponse, value: Json, completion: "cut" | "reset"): Promise<void> {
  const body = Buffer.from(JSON.stringify(value));
  response.writeHead(200, { "content-type": "application/json", "content-length": body.length });
  await write(response, body.subarray(0, body.length / 2).toString(), 0);
  await flushed(response);
  if (completion === "cut") response.destroy();
  else response.socket?.resetAndDestroy();
}

/** Writes a body without an end, until the client disconnects. */
export async function writeEndless(response: ServerResponse, isStream: boolean): Promise<void> {
  response.writeHead(200, { "content-type": isStream ? "text/event-stream" : "application/json" });
  const block = "x".repeat(64 * 1024);
  await write(response, isStream ? 'data: {"filler":"' : '{"filler":"', 0);
  while (!response.destroyed) await write(response, block, 0);
}

async function finishEarly(response: ServerResponse, behaviour: Behaviour, format: ChatFormat): Promise<void> {
  switch (behaviour.completion) {
    case "hang":
      return;
    case "error":
      await write(response, frame(format.errorEvent("The fake upstream failed in the middle."), behaviour.lineEnd), 0);
      response.end();
      return;
    case "reset":
      await flushed(response);
      response.socket?.resetAndDestroy();
      return;
    case "cut":
    case "orderly":
      response.end();
  }
}

function frame(event: SseEvent, lineEnd: string): string {
  const name = event.name === undefined ? "" : `event: ${event.name}${lineEnd}`;
  return `${name}data: ${event.data}${lineEnd}${lineEnd}`;
}

async function write(response: ServerResponse, text: string, splitBytes: number): Promise<void> {
  if (splitBytes === 0) return writeBytes(response, text);
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += splitBytes) {
    await writeBytes(response, bytes.subarray(at, at + splitBytes));
    await flushed(response);
  }
}

async function writeBytes(response: ServerResponse, bytes: string | Buffer): Promise<void> {
  if (!response.destroyed && !response.write(bytes)) await drained(response);
}

/** Passes the bytes so far to the kernel before anything else is written. */
function flushed(response: ServerResponse): Promise<unknown> {
  return response.socket?.writableLength ? Promise.race([drained(response.socket), sleep(5)]) : sleep(0);
}

function drained(stream: Writable): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      stream.off("drain", done).off("close", done);
      resolve();
    };
    stream.on("drain", done).on("close", done);
  });
}
