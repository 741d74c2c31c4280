// Gemini signs its calls and requires the signature again. A signature that is too long for the id of a call is put
// elsewhere: chat clients get it next to the call, as from Google's own chat endpoint; clients of other protocols get
// it as the signature of a thinking block, which they send back unchanged. It is base64, because Python clients decode
// signatures.
import { anyText, isObject, object, objects, text } from "../../../core/read.ts";
import type { JsonObject } from "../../../core/types.ts";
import { parseJson } from "../../../../lib/text/json.ts";

const LEAD = "fw:signed:call:"; // 15 bytes, so that the text after it does not change its base64
const MARK = Buffer.from(LEAD).toString("base64");

/** Returns the members that hold a call's signature in the form of Google's chat endpoint. */
export function signatureMembers(signature: string): JsonObject {
  return { extra_content: { google: { thought_signature: signature } } };
}

export function signatureIn(call: JsonObject): string | undefined {
  return text(object(object(call, "extra_content"), "google"), "thought_signature");
}

/** Returns one thinking block with the signatures of these calls; none if no call is signed. */
export function sealSignatures(calls: readonly JsonObject[], thinking = ""): JsonObject[] {
  const signatures = Object.fromEntries(calls.map((call) => [anyText(call, "id"), signatureIn(call)]));
  if (Object.values(signatures).every((signature) => signature === undefined)) return [];
  const signature = Buffer.from(LEAD + JSON.stringify(signatures)).toString("base64");
  return [{ type: "thinking", thinking, signature }];
}

export function isSealedSignature(block: JsonObject): boolean {
  return text(block, "signature")?.startsWith(MARK) === true;
}

/** Returns the signatures in a turn's thinking, by the ids of their calls. */
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
