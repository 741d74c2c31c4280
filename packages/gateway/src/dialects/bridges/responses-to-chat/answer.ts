import { number, object, objects, text } from "../../core/read.ts";
import type { JsonObject } from "../../core/types.ts";
import { readChatUsage, responsesUsage } from "../../core/usage.ts";
import { withPrefix } from "../parts/answer/ids.ts";
import { chosenTokens } from "../parts/answer/logprobs.ts";
import type { AnswerContext } from "./asked.ts";
import { buildOutput } from "./items.ts";
import { responseId } from "./own-ids.ts";

/** Converts a chat answer to a response object. */
export function fromChat(body: JsonObject, answer: AnswerContext): JsonObject {
  const choice = objects(body, "choices")[0];
  const usage = readChatUsage(object(body, "usage"));
  const completion = toResponseStatus(text(choice, "finish_reason"));
  const response: JsonObject = {
    ...buildResponseHead(body, answer),
    status: completion.status,
    incomplete_details: completion.details,
    output: cutShort(buildOutput(object(choice, "message"), answer, chosenTokens(choice)), completion.status),
    usage: usage === undefined ? null : responsesUsage(usage),
  };
  answer.context.pending?.made(response);
  return response;
}

/** Sets the status of the item in which an answer was cut off, which is not complete either. */
function cutShort(items: readonly JsonObject[], status: string): JsonObject[] {
  const last = items.at(-1);
  return last?.["status"] !== "completed" ? [...items] : [...items.slice(0, -1), { ...last, status }];
}

/** Returns the members that every copy of the response object contains. */
export function buildResponseHead(chat: JsonObject, { context, echo }: AnswerContext): JsonObject {
  const { pending } = context;
  return {
    id: pending ? responseId(context) : withPrefix(text(chat, "id"), "resp_", context),
    object: "response",
    access_programs: null,
    created_at: number(chat, "created") ?? Math.floor(context.now / 1000),
    background: false,
    error: null,
    incomplete_details: null,
    model: text(chat, "model") ?? context.spec.model,
    previous_response_id: pending?.previous ?? null,
    service_tier: text(chat, "service_tier") ?? "default",
    store: pending !== undefined,
    usage: null,
    ...echo,
  };
}

export interface ResponseStatus {
  readonly status: "completed" | "incomplete";
  readonly details: JsonObject | null;
}

export function toResponseStatus(finish: string | undefined): ResponseStatus {
  if (finish === "length") return { status: "incomplete", details: { reason: "max_output_tokens" } };
  if (finish === "content_filter") return { status: "incomplete", details: { reason: "content_filter" } };
  return { status: "completed", details: null };
}
