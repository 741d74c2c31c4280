// Exchanges written out in a test instead of a file: the same form and the same runner as the vectors.
import { isObject } from "../../src/dialects/core/read.ts";
import type { JsonObject, JsonValue } from "../../src/dialects/core/types.ts";
import { readVector } from "../vectors/load.ts";
import { runVector } from "../vectors/run.ts";

export interface Exchange {
  readonly type: number | string;
  /** base_url, key, other, setting. */
  readonly channel?: JsonObject;
  /** Path of the client's request. */
  readonly path?: string;
  readonly body: JsonObject;
  /** The request that must reach the upstream; omitted members are not checked. */
  readonly sent?: { readonly url?: string; readonly headers?: JsonObject; readonly body?: JsonValue };
  /** The upstream's answers: body, sse, ndjson or body_base64; one for each call. */
  readonly answer?: JsonObject | readonly JsonObject[];
  /** The expected answer to the client. */
  readonly got?: JsonObject;
  readonly usage?: JsonObject;
  readonly classify?: JsonObject;
}

export const HELLO: JsonObject[] = [{ role: "user", content: "Hello" }];

export const CHAT_ANSWER: JsonObject = {
  id: "chatcmpl-1",
  object: "chat.completion",
  created: 1,
  model: "m",
  choices: [{ index: 0, message: { role: "assistant", content: "Hi" }, finish_reason: "stop" }],
  usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
};

export const MESSAGE_ANSWER: JsonObject = {
  id: "msg_1",
  type: "message",
  role: "assistant",
  model: "m",
  content: [{ type: "text", text: "Hi" }],
  stop_reason: "end_turn",
  usage: { input_tokens: 3, output_tokens: 2 },
};

export const RESPONSE_ANSWER: JsonObject = {
  id: "resp_1",
  object: "response",
  created_at: 1,
  status: "completed",
  model: "m",
  output: [{ type: "message", role: "assistant", content: [{ type: "output_text", text: "Hi", annotations: [] }] }],
  usage: { input_tokens: 3, output_tokens: 2, total_tokens: 5 },
};

/** Runs one exchange; throws at the first difference. */
export async function exchange(parts: Exchange): Promise<void> {
  const answers = listAnswers(parts);
  const { sent } = parts;
  const request: JsonObject = {
    method: "<any>",
    url: sent?.url ?? "<any>",
    headers: sent?.headers ?? {},
    body: sent?.body,
  };
  await runVector(
    readVector("exchange", {
      channel_type: parts.type,
      channel: { key: "test-key", other: "", ...parts.channel },
      client_request: { method: "POST", path: parts.path ?? "/v1/chat/completions", body: parts.body },
      upstream_request: answers.map(() => request),
      upstream_response: answers.map((answer) => ({ status: 200, headers: buildHeaders(answer), ...answer })),
      client_response: parts.got && { status: 200, ...parts.got },
      usage: parts.usage,
      classify: parts.classify,
    }),
  );
}

function listAnswers({ answer = { body: CHAT_ANSWER } }: Exchange): readonly JsonObject[] {
  return isObject(answer) ? [answer] : answer;
}

function buildHeaders(answer: JsonObject): JsonObject {
  if (answer["sse"] !== undefined) return { "content-type": "text/event-stream" };
  return { "content-type": "application/json" };
}
