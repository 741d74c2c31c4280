// Reasoning that OpenAI encrypted, as the signature of a thinking block: clients of other protocols send it back
// unchanged, and the conversion to Responses opens it again. It is base64, because Python clients decode signatures.
import { isObject, text } from "../../../core/read.ts";
import type { JsonObject } from "../../../core/types.ts";
import { parseJson } from "../../../../lib/text/json.ts";

const LEAD = "fw:reasoning:1:"; // 15 bytes, so that the text after it does not change its base64
const MARK = Buffer.from(LEAD).toString("base64");

export function sealReasoning(item: JsonObject, thinking: string): JsonObject {
  const { id, summary, encrypted_content } = item;
  const preserved = JSON.stringify({ id, summary: summary ?? [], encrypted_content });
  return { type: "thinking", thinking, signature: Buffer.from(LEAD + preserved).toString("base64") };
}

export function isSealedReasoning(block: JsonObject): boolean {
  return text(block, "signature")?.startsWith(MARK) === true;
}

/** Returns the reasoning item in a thinking block; none if another vendor signed the block. */
export function openReasoning(block: JsonObject): JsonObject[] {
  if (!isSealedReasoning(block)) return [];
  const opened = Buffer.from(text(block, "signature") ?? "", "base64").toString("utf8");
  const item = parseJson(opened.slice(LEAD.length));
  return isObject(item) ? [{ type: "reasoning", ...item }] : [];
}
