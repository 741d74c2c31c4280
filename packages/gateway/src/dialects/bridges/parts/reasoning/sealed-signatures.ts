// Gemini signs its calls and wants the signature again. One that is too long for an id of a call has another place: chat clients get it
// where Google's own chat endpoint has it, next to the call; clients of other protocols as the signature of a thinking
// block, which they send back untouched. It is base64, as clients in Python decode signatures.
import { anyText, isObject, object, objects, text } from "../../../core/read.ts";
import type { JsonObject } from "../../../core/types.ts";
import { parseJson } from "../../../../lib/text/json.ts";

const LEAD = "fw:signed:call:"; // 15 bytes: what follows does not change its base64
const MARK = Buffer.from(LEAD).toString("base64");

/** The members of a call that say its signature in the words of Google's chat endpoint. */
export function signatureMembers(signature: string): JsonObject {
  return { extra_content: { google: { thought_signature: signature } } };
}

export function signatureIn(call: JsonObject): string | undefined {
  return text(object(object(call, "extra_content"), "google"), "thought_signature");
}

/** One thinking block with the signatures of these calls; nothing where none is signed. */
export function sealSignatures(calls: readonly JsonObject[], thinking = ""): JsonObject[] {
  const signatures = Object.fromEntries(calls.map((call) => [anyText(call, "id"), signatureIn(call)]));
  if (Object.values(signatures).every((signature) => signature === undefined)) return [];
  const signature = Buffer.from(LEAD + JSON.stringify(signatures)).toString("base64");
  return [{ type: "thinking", thinking, signature }];
}

export function isSealedSignature(block: JsonObject): boolean {
  return text(block, "signature")?.startsWith(MARK) === true;
}

/** The signatures by the ids of their calls that the thinking of a turn holds. */
export function openSignatures(message: JsonObject): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const block of objects(message, "fw_thinking").filter(isSealedSignature)) {
    const opened = Buffer.from(text(block, "signature") ?? "", "base64").toString("utf8");
    const signatures = parseJson(opened.slice(LEAD.length));
    if (!isObject(signatures)) continue;
    for (const [id, signature] of Object.entries(signatures))
      if (typeof signature === "string") found.set(id, signature);
  }
  return found;
}
