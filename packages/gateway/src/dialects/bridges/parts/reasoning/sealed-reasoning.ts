// Reasoning that OpenAI encrypted, as the signature of a thinking block: clients of other protocols send it back
// untouched, and it opens again on its way to Responses. It is base64, as clients in Python decode signatures.
import { isObject, text } from "../../../core/read.ts";
import type { JsonObject } from "../../../core/types.ts";
import { parseJson } from "../../../../lib/text/json.ts";

const LEAD = "fw:reasoning:1:"; // 15 bytes: what follows does not change its base64
const MARK = Buffer.from(LEAD).toString("base64");

export function sealReasoning(item: JsonObject, thinking: string): JsonObject {
  const { id, summary, encrypted_content } = item;
  const preserved = JSON.stringify({ id, summary: summary ?? [], encrypted_content });
  return { type: "thinking", thinking, signature: Buffer.from(LEAD + preserved).toString("base64") };
}

export function isSealedReasoning(block: JsonObject): boolean {
  return text(block, "signature")?.startsWith(MARK) === true;
}

/** The reasoning item in a thinking block; nothing when someone else signed it. */
export function openReasoning(block: JsonObject): JsonObject[] {
  if (!isSealedReasoning(block)) return [];
  const opened = Buffer.from(text(block, "signature") ?? "", "base64").toString("utf8");
  const item = parseJson(opened.slice(LEAD.length));
  return isObject(item) ? [{ type: "reasoning", ...item }] : [];
}
