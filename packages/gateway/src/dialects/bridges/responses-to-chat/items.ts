import { anyText, object, objects } from "../../core/read.ts";
import type { JsonObject, JsonValue } from "../../core/types.ts";
import { readArguments, parseArguments } from "../parts/tools/arguments.ts";
import { readThought, formatMessage } from "../parts/answer/finish-words.ts";
import { newCallId } from "../parts/answer/ids.ts";
import { buildRunItem, getRunPrefix, listHostedRuns } from "../parts/tools/hosted-runs.ts";
import type { AnswerContext, AskedResponse } from "./asked.ts";
import { clientCall } from "./client-tools.ts";
import { itemId } from "./own-ids.ts";
import { sealThinking } from "./sealed.ts";

export function reasoningItem(id: string, thinking: string, signed: readonly JsonObject[]): JsonObject {
  return {
    type: "reasoning",
    id,
    summary: thinking === "" ? [] : [{ type: "summary_text", text: thinking }],
    ...(signed.length > 0 && { encrypted_content: sealThinking(signed) }),
  };
}

export function messageItem(id: string, content: JsonObject[], status: string): JsonObject {
  return { type: "message", id, status, role: "assistant", content };
}

export function textPart(
  written: string,
  annotations: readonly JsonObject[] = [],
  logprobs: readonly JsonObject[] = [],
): JsonObject {
  return { type: "output_text", text: written, annotations: [...annotations], logprobs: [...logprobs] };
}

/** Returns a call with the client's name for its tool and in the tool's shape. */
export function callItem(
  id: string,
  call: { readonly id: string; readonly name: string; readonly args: string },
  { specialTools }: Pick<AskedResponse, "specialTools">,
): JsonObject {
  const { kind, ...named } = specialTools.get(call.name) ?? { kind: "function", name: call.name };
  const place = { id, call_id: call.id };
  const status = "completed";
  switch (kind) {
    case "function":
      return { type: "function_call", ...place, ...named, arguments: call.args, status };
    case "free text":
      return { type: "custom_tool_call", ...place, ...named, input: freeText(call.args), status };
    case "client":
      return { ...place, ...clientCall(call.name, parseArguments(call.args)), status };
    case "search":
      return { type: "tool_search_call", ...place, execution: "client", arguments: parseArguments(call.args), status };
  }
}

function freeText(args: string): string {
  const input: JsonValue | undefined = parseArguments(args)["input"];
  return typeof input === "string" ? input : args;
}

export function toAnnotations(annotation: JsonObject): JsonObject[] {
  const citation = object(annotation, "url_citation");
  return citation === undefined ? [] : [{ type: "url_citation", ...citation }];
}

/** Converts a whole chat answer to output items. */
export function buildOutput(
  message: JsonObject | undefined,
  answer: AnswerContext,
  logprobs: readonly JsonObject[],
): JsonObject[] {
  const items: JsonObject[] = [];
  const add = (prefix: string, make: (id: string) => JsonObject) =>
    items.push(make(itemId(prefix, items.length, answer.context)));
  const signed = objects(message, "fw_thinking");
  const thinking = readThought(message) || signed.map((block) => anyText(block, "thinking")).join("");
  if (thinking !== "" || signed.length > 0) add("rs", (id) => reasoningItem(id, thinking, signed));
  for (const run of listHostedRuns(message)) add(getRunPrefix(run), (id) => buildRunItem(id, run));
  const content = buildContent(message, logprobs);
  if (content.length > 0) add("msg", (id) => messageItem(id, content, "completed"));
  const legacy = object(message, "function_call");
  const calls =
    legacy === undefined ? objects(message, "tool_calls") : [...objects(message, "tool_calls"), { function: legacy }];
  for (const call of calls) {
    const target = object(call, "function") ?? object(call, "custom");
    const read = {
      id: anyText(call, "id") || newCallId(),
      name: anyText(target, "name"),
      args: readArguments(target),
    };
    add("fc", (id) => callItem(id, read, answer));
  }
  return items;
}

function buildContent(message: JsonObject | undefined, logprobs: readonly JsonObject[]): JsonObject[] {
  const written = formatMessage(message);
  const refusal = anyText(message, "refusal");
  return [
    ...(written === "" ? [] : [textPart(written, objects(message, "annotations").flatMap(toAnnotations), logprobs)]),
    ...(refusal === "" ? [] : [{ type: "refusal", refusal }]),
  ];
}
