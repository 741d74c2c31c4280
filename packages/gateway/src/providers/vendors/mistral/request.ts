import { createHash } from "node:crypto";
import type { JsonObject } from "../../../dialects/core/types.ts";
import { list, object, objects, text } from "../../../dialects/core/read.ts";
import { clamped, eachObject, renamed, omitMembers } from "../../../dialects/core/json-edit.ts";
import { developerToSystem } from "../../core/request-transforms/roles.ts";
import type { RequestTransform } from "../../core/types.ts";

/** Members that the API knows; it answers 422 to any other. */
const TAKEN: ReadonlySet<string> = new Set([
  "model",
  "messages",
  "stream",
  "max_tokens",
  "temperature",
  "top_p",
  "n",
  "stop",
  "random_seed",
  "presence_penalty",
  "frequency_penalty",
  "response_format",
  "tools",
  "tool_choice",
  "parallel_tool_calls",
  "prediction",
  "reasoning_effort",
  "prompt_mode",
  "safe_prompt",
  "metadata",
  "guardrails",
  "document_image_limit",
  "document_page_limit",
]);

export const mistralParams: RequestTransform = {
  name: "parameters of Mistral",
  rewords: ["messages.content.file", "messages.content.input_audio", "tools", "tool_choice"],
  apply(body, _spec, upstreamModel) {
    const named = renamed(renamed(body, "seed", "random_seed"), "max_completion_tokens", "max_tokens");
    const known = omitMembers(
      named,
      Object.keys(named).filter((name) => !TAKEN.has(name)),
    );
    return messages(toolChoice(effort(clamped(known, "temperature", 0, 1.5), upstreamModel)));
  },
};

/** Maps the effort to two steps, only for models whose reasoning can be switched. */
function effort(body: JsonObject, model: string): JsonObject {
  const asked = body["reasoning_effort"];
  if (typeof asked !== "string") return body;
  if (!/^mistral-(?:small-(?:2603|latest)|medium-(?:3|2604|latest))/.test(model))
    return omitMembers(body, ["reasoning_effort"]);
  const step = asked === "none" ? "none" : "high";
  return step === asked ? body : { ...body, reasoning_effort: step };
}

/** Converts the choice: `required` is called `any`; a named function becomes `any` with only that tool offered. */
function toolChoice(body: JsonObject): JsonObject {
  if (body["tool_choice"] === "required") return { ...body, tool_choice: "any" };
  const name = text(object(object(body, "tool_choice"), "function"), "name");
  if (name === undefined) return body;
  const tools = objects(body, "tools").filter((tool) => text(object(tool, "function"), "name") === name);
  return { ...body, tools: [...tools], tool_choice: "any" };
}

function messages(body: JsonObject): JsonObject {
  const all = list(developerToSystem(body), "messages");
  const names = new Map<string, string>();
  return eachObject(developerToSystem(body), "messages", (message, index) => {
    if (message["role"] === "assistant") return assistant(message, index === all.length - 1, names);
    if (message["role"] === "tool") return toolResult(message, names);
    return message["role"] === "user" ? eachObject(message, "content", userPart) : message;
  });
}

function assistant(message: JsonObject, isLast: boolean, names: Map<string, string>): JsonObject {
  const renumbered = eachObject(
    omitMembers(message, ["reasoning_content", "refusal", "annotations", "audio"]),
    "tool_calls",
    (call) => {
      const id = text(call, "id") ?? "";
      names.set(id, text(object(call, "function"), "name") ?? "");
      const known = mistralId(id);
      return known === id ? call : { ...call, id: known };
    },
  );
  const isPrefix = isLast && renumbered["tool_calls"] === undefined && renumbered["prefix"] === undefined;
  return isPrefix ? { ...renumbered, prefix: true } : renumbered;
}

function toolResult(message: JsonObject, names: ReadonlyMap<string, string>): JsonObject {
  const id = text(message, "tool_call_id") ?? "";
  const name = text(message, "name") ?? names.get(id);
  const known = mistralId(id);
  if (known === id && (name === undefined || message["name"] === name)) return message;
  return { ...message, tool_call_id: known, ...(name ? { name } : {}) };
}

/** Returns an id of nine letters and digits; other ids are hashed, so that a call and its result still match. */
export function mistralId(id: string): string {
  return /^[A-Za-z0-9]{9}$/.test(id) ? id : createHash("sha256").update(id).digest("hex").slice(0, 9);
}

/** Converts a part: documents have a type of their own, and sound is written without its format. */
function userPart(part: JsonObject): JsonObject {
  const document = part["type"] === "file" ? text(object(part, "file"), "file_data") : undefined;
  if (document !== undefined) return { type: "document_url", document_url: document };
  const sound = part["type"] === "input_audio" ? text(object(part, "input_audio"), "data") : undefined;
  return sound === undefined ? part : { type: "input_audio", input_audio: sound };
}

const EMBEDDING_MEMBERS: ReadonlySet<string> = new Set([
  "model",
  "input",
  "output_dimension",
  "output_dtype",
  "encoding_format",
  "metadata",
]);

export const mistralEmbeddings: RequestTransform = {
  name: "embeddings of Mistral",
  on: ["openai-embeddings"],
  apply(body) {
    const named = renamed(body, "dimensions", "output_dimension");
    return omitMembers(
      named,
      Object.keys(named).filter((name) => !EMBEDDING_MEMBERS.has(name)),
    );
  },
};
