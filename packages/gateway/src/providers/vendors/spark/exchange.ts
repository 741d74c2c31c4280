import type { JsonObject } from "../../../dialects/core/types.ts";
import { count, object, objects, text } from "../../../dialects/core/read.ts";
import { encodeBlock } from "../../../lib/text/sse.ts";
import { parseObject } from "../../../lib/text/json.ts";
import { jsonAnswer } from "../../core/exchange.ts";
import type { Exchange, UpstreamAnswer, UpstreamSocket } from "../../core/types.ts";
import { FILTERED } from "./chat.ts";

/**
 * Sends one frame and receives frames until status 2. The first frame decides whether this is an answer or a failure.
 */
export const sparkExchange: Exchange = async (call, context) => {
  const socket = await context.connect({ ...call, method: "GET", body: undefined });
  if ("status" in socket) return socket;
  socket.send(call.body?.toString("utf8") ?? "");
  const frames = socket.received[Symbol.asyncIterator]();
  const first = await frames.next();
  const frame = first.done ? undefined : parseObject(first.value);
  if (!frame) {
    socket.close();
    return closedEarly();
  }
  if (readFrameCode(frame) !== 0) {
    socket.close();
    return jsonAnswer(frame);
  }
  if (context.spec.stream)
    return { status: 200, headers: { "content-type": "text/event-stream" }, body: events(socket, frame, frames) };
  const answer = await joinFrames(socket, frame, frames);
  return answer ? jsonAnswer(answer) : closedEarly();
};

function closedEarly(): UpstreamAnswer {
  return jsonAnswer({ error: { message: "The upstream closed the connection early.", type: "xunfei_error" } }, 502);
}

function readFrameCode(frame: JsonObject): number {
  return count(object(frame, "header"), "code") ?? 0;
}

function isLast(frame: JsonObject): boolean {
  return readFrameCode(frame) !== 0 || count(object(object(frame, "payload"), "choices"), "status") === 2;
}

async function* framesFrom(
  socket: UpstreamSocket,
  first: JsonObject,
  rest: AsyncIterator<string>,
): AsyncGenerator<JsonObject> {
  try {
    let frame: JsonObject | undefined = first;
    while (frame) {
      yield frame;
      if (isLast(frame)) return;
      const next = await rest.next();
      frame = next.done ? undefined : parseObject(next.value);
    }
  } finally {
    socket.close();
  }
}

async function* events(socket: UpstreamSocket, first: JsonObject, rest: AsyncIterator<string>): AsyncGenerator<Buffer> {
  for await (const frame of framesFrom(socket, first, rest)) yield Buffer.from(encodeBlock(JSON.stringify(frame)));
}

/**
 * Joins all frames to one: the joined texts, the last function call and the usage; undefined if the last frame never
 * arrived. A text whose rest is blocked is an answer; a text that broke off is not, because nothing of it was sent yet.
 */
async function joinFrames(
  socket: UpstreamSocket,
  first: JsonObject,
  rest: AsyncIterator<string>,
): Promise<JsonObject | undefined> {
  let content = "";
  let reasoning = "";
  let last = first;
  let call: JsonObject | undefined;
  for await (const frame of framesFrom(socket, first, rest)) {
    const code = readFrameCode(frame);
    if (code !== 0 && (content === "" || !FILTERED.has(String(code)))) return frame;
    if (code !== 0) return merged(last, { content, reasoning, call }, "content_filter");
    last = frame;
    for (const piece of objects(object(object(frame, "payload"), "choices"), "text")) {
      content += text(piece, "content") ?? "";
      reasoning += text(piece, "reasoning_content") ?? "";
      call = object(piece, "function_call") ?? call;
    }
  }
  return isLast(last) ? merged(last, { content, reasoning, call }, "stop") : undefined;
}

function merged(
  last: JsonObject,
  said: { content: string; reasoning: string; call: JsonObject | undefined },
  finish: string,
): JsonObject {
  const { content, reasoning, call } = said;
  const piece: JsonObject = {
    content,
    ...(reasoning === "" ? {} : { reasoning_content: reasoning }),
    ...(call ? { function_call: call } : {}),
  };
  return { ...last, finish, payload: { ...object(last, "payload"), choices: { text: [piece] } } };
}
