import type { JsonObject } from "../../../dialects/core/types.ts";
import { list, object, text } from "../../../dialects/core/read.ts";
import { codeText } from "../../core/errors/error-body.ts";
import { parseObject } from "../../../lib/text/json.ts";
import { jsonAnswer, readWhole } from "../../core/exchange.ts";
import { joinUrl } from "../../core/join-url.ts";
import { NO_ACTION } from "./chat.ts";
import type { Exchange, ExchangeContext, UpstreamAnswer, UpstreamCall } from "../../core/types.ts";

const POLL_MS = 1000;
const MAX_POLLS = 120;
const RUNNING: ReadonlySet<string> = new Set(["created", "in_progress"]);

/**
 * Without a stream, the chat runs in the background: it is created, polled until it is done, and its messages are read.
 */
export const cozeExchange: Exchange = async (call, context) => {
  if (context.spec.stream) return context.send(call);
  const created = await ask(call, context);
  const data = object(created.json, "data");
  if (!data || !isFine(created)) return created.answer;
  return untilDone(call, context, data);
};

async function untilDone(call: UpstreamCall, context: ExchangeContext, data: JsonObject): Promise<UpstreamAnswer> {
  const ids = new URLSearchParams({
    conversation_id: text(data, "conversation_id") ?? "",
    chat_id: text(data, "id") ?? "",
  });
  for (let poll = 0; poll < MAX_POLLS; poll++) {
    if (poll > 0) await context.sleep(POLL_MS);
    const state = await ask(reading(call, context, `/v3/chat/retrieve?${ids.toString()}`), context);
    const chat = object(state.json, "data");
    if (!chat || !isFine(state)) return state.answer;
    const status = text(chat, "status") ?? "unknown";
    if (status === "completed") return finished(chat, await ask(messages(call, context, ids), context));
    if (!RUNNING.has(status)) return failed(chat, status);
  }
  return jsonAnswer({ error: { type: "coze_error", code: "", message: "The chat was not finished in time." } }, 504);
}

function messages(call: UpstreamCall, context: ExchangeContext, ids: URLSearchParams): UpstreamCall {
  return reading(call, context, `/v3/chat/message/list?${ids.toString()}`);
}

function finished(chat: JsonObject, listed: Read): UpstreamAnswer {
  return isFine(listed) ? jsonAnswer({ chat, messages: [...list(listed.json, "data")] }) : listed.answer;
}

interface Read {
  readonly answer: UpstreamAnswer;
  readonly json: JsonObject | undefined;
}

async function ask(call: UpstreamCall, context: ExchangeContext): Promise<Read> {
  const { answer, bytes } = await readWhole(await context.send(call));
  return { answer, json: parseObject(bytes.toString("utf8")) };
}

function isFine({ answer, json }: Read): boolean {
  return answer.status === 200 && json?.["code"] === 0;
}

function failed(chat: JsonObject, status: string): UpstreamAnswer {
  const error = object(chat, "last_error");
  const reason = status === "requires_action" ? NO_ACTION : `The chat ended as ${status}.`;
  const message = text(error, "msg") || reason;
  return jsonAnswer({ error: { type: "coze_error", code: codeText(error?.["code"]), message } });
}

function reading(call: UpstreamCall, context: ExchangeContext, path: string): UpstreamCall {
  const { authorization = "" } = call.headers;
  return {
    method: "GET",
    url: joinUrl(context.channel.baseUrl || call.url.origin, path),
    headers: { authorization, "content-type": "application/json" },
    body: undefined,
  };
}
