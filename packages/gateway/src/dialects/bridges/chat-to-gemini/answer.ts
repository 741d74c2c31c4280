import { anyText, compact, list, number, object, objects, text } from "../../core/read.ts";
import type { BridgeContext } from "../../core/bridge.ts";
import type { JsonObject } from "../../core/types.ts";
import { readGeminiUsage } from "../../core/usage.ts";
import { chatAnswer, chatMessage, toolCall } from "../parts/answer/chat-answer.ts";
import { dataUrl } from "../parts/content/data-url.ts";
import { fenced } from "../parts/content/code-fence.ts";
import { throwIfGeminiFailed, convertGeminiFinish } from "../parts/answer/finish.ts";
import { newCallId } from "../parts/answer/ids.ts";
import { joinSignature } from "../../core/call-ids.ts";
import { sealSignatures, signatureMembers } from "../parts/reasoning/sealed-signatures.ts";
import { chatLogprobs } from "../parts/answer/logprobs.ts";
import { CandidateCode, showsCode } from "../parts/tools/code-runs.ts";
import { readGroundingRuns } from "../parts/tools/hosted-runs.ts";
import { joinAudio, type SoundFormat } from "./sound.ts";

/** Converts the candidates to a chat answer. */
export function fromGemini(body: JsonObject, context: BridgeContext, sound: SoundFormat): JsonObject {
  const candidates = objects(body, "candidates");
  const choices =
    candidates.length === 0 ? [blockedChoice()] : candidates.map((candidate) => toChoice(candidate, context, sound));
  return chatAnswer(
    { head: readAnswerHead(body), choices, usage: readGeminiUsage(object(body, "usageMetadata")) },
    context,
  );
}

export function readAnswerHead(body: JsonObject) {
  return { id: text(body, "responseId"), model: text(body, "modelVersion") };
}

function blockedChoice(): JsonObject {
  return { message: chatMessage({ content: "", reasoning: "", toolCalls: [] }), finish_reason: "content_filter" };
}

function toChoice(candidate: JsonObject, context: BridgeContext, sound: SoundFormat): JsonObject {
  const reason = text(candidate, "finishReason");
  const parts = objects(object(candidate, "content"), "parts");
  const coded = showsCode(context) ? codeIn(parts) : [];
  const content = parts.map((part) => formatPart(part, context)).join("");
  const toolCalls = parts.flatMap(toToolCalls);
  const audio = joinAudio(parts, context, sound);
  if (content === "" && toolCalls.length === 0 && coded.length === 0 && audio === undefined)
    throwIfGeminiFailed(reason);
  const runs = [...coded, ...readGroundingRuns(object(candidate, "groundingMetadata"))];
  const reasoning = parts.map(readThought).join("");
  const sealed = sealSignatures(toolCalls, reasoning);
  const isOnlySound = content === "" && audio !== undefined;
  const message = chatMessage({
    content,
    reasoning,
    toolCalls,
    extra: compact({
      fw_thinking: sealed.length === 0 ? undefined : sealed,
      fw_runs: runs.length === 0 ? undefined : runs,
      annotations: listAnnotations(candidate, () => content),
      audio,
      content: isOnlySound ? null : undefined,
    }),
  });
  const logprobs = chatLogprobs(candidate);
  const finish_reason = convertGeminiFinish(reason, toolCalls.length > 0);
  return { message, ...(logprobs && { logprobs }), finish_reason };
}

export function readThought(part: JsonObject): string {
  return part["thought"] === true ? (text(part, "text") ?? "") : "";
}

function codeIn(parts: readonly JsonObject[]): JsonObject[] {
  const reader = new CandidateCode();
  const runs = parts.flatMap((part) => reader.read(part) ?? []);
  return [...runs, ...reader.rest()];
}

/**
 * Returns a part as answer text: text as it is, images as markdown, code and its output as fenced blocks for clients
 * that have no parts for them.
 */
export function formatPart(part: JsonObject, context: BridgeContext): string {
  if (part["thought"] === true) return "";
  const image = object(part, "inlineData");
  if (image !== undefined) return formatImage(image);
  if (showsCode(context)) return text(part, "text") ?? "";
  const code = object(part, "executableCode");
  if (code !== undefined) return fenced((text(code, "language") ?? "").toLowerCase(), text(code, "code") ?? "");
  const result = object(part, "codeExecutionResult");
  if (result !== undefined) return fenced("", text(result, "output") ?? "");
  return text(part, "text") ?? "";
}

/** Returns the markdown of an inline image; "" for sound and other data. */
function formatImage(image: JsonObject): string {
  const type = text(image, "mimeType") ?? "";
  return type.startsWith("image/") ? `![image](${dataUrl(type, text(image, "data") ?? "")})` : "";
}

export function toToolCalls(part: JsonObject): JsonObject[] {
  const call = object(part, "functionCall");
  if (call === undefined) return [];
  const id = anyText(call, "id") || newCallId();
  const signature = text(part, "thoughtSignature") ?? "";
  const joined = signature === "" ? id : joinSignature(id, signature);
  const named = toolCall(joined ?? id, text(call, "name") ?? "", JSON.stringify(call["args"] ?? {}));
  return [joined === undefined ? { ...named, ...signatureMembers(signature) } : named];
}

/** Returns the sources of grounded text; the upstream counts bytes, clients count characters. */
export function listAnnotations(candidate: JsonObject, written: () => string): JsonObject[] | undefined {
  const grounding = object(candidate, "groundingMetadata");
  const chunks = objects(grounding, "groundingChunks");
  if (chunks.length === 0) return undefined;
  const content = written();
  const bytes = Buffer.from(content);
  const charactersTo = (offset: number) => bytes.subarray(0, offset).toString("utf8").length;
  const supported = objects(grounding, "groundingSupports").flatMap((support) => {
    const segment = object(support, "segment");
    const start = charactersTo(number(segment, "startIndex") ?? 0);
    const end = charactersTo(number(segment, "endIndex") ?? 0);
    return list(support, "groundingChunkIndices").flatMap((index) => citation(chunks[Number(index)], start, end));
  });
  return supported.length > 0 ? supported : chunks.flatMap((chunk) => citation(chunk, 0, content.length));
}

function citation(chunk: JsonObject | undefined, start: number, end: number): JsonObject[] {
  const web = object(chunk, "web") ?? object(chunk, "maps") ?? object(chunk, "retrievedContext");
  const url = text(web, "uri");
  if (url === undefined) return [];
  return [
    {
      type: "url_citation",
      url_citation: { start_index: start, end_index: end, title: text(web, "title") ?? "", url },
    },
  ];
}
