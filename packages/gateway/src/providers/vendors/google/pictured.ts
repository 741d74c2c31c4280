import { isSet, object, objects, text } from "../../../dialects/core/read.ts";
import type { JsonObject } from "../../../dialects/core/types.ts";
import { parseObject } from "../../../lib/text/json.ts";
import { jsonAnswer, readWhole } from "../../core/exchange.ts";
import type { Exchange } from "../../core/types.ts";

const REFUSED = /SAFETY|PROHIBITED_CONTENT|RECITATION|BLOCKLIST|SPII/;

/**
 * Turns an answer of status 200 without a picture into a failure, as clients read the first picture without a check.
 */
export function pictured(inner: Exchange): Exchange {
  return async (call, context) => {
    const first = await inner(call, context);
    if (first.status !== 200) return first;
    const { answer, bytes } = await readWhole(first);
    const json = parseObject(bytes.toString("utf8"));
    if (!json || isSet(json["error"]) || isPictured(json)) return answer;
    return jsonAnswer({ error: buildRefusal(json) });
  };
}

/** True if the answer holds a picture, or predictions that say themselves that they were held back. */
function isPictured(json: JsonObject): boolean {
  return (
    listParts(json).some((part) => text(object(part, "inlineData"), "data") !== undefined) ||
    objects(json, "predictions").some(
      (entry) => text(entry, "bytesBase64Encoded") !== undefined || text(entry, "raiFilteredReason") !== undefined,
    )
  );
}

function buildRefusal(json: JsonObject): JsonObject {
  const [candidate] = objects(json, "candidates");
  const feedback = object(json, "promptFeedback");
  const reason = text(feedback, "blockReason") ?? text(candidate, "finishReason");
  const said = text(feedback, "blockReasonMessage") ?? text(candidate, "finishMessage") ?? readWords(json);
  const message = said === "" ? `The upstream drew no picture${reason === undefined ? "" : ` (${reason})`}.` : said;
  // If the prompt was refused, Imagen answers with an empty object, and Gemini without candidates.
  const isRefused = candidate === undefined || REFUSED.test(reason ?? "");
  return isRefused ? { message, code: "content_filter" } : { message, type: "server_error" };
}

function readWords(json: JsonObject): string {
  return listParts(json)
    .map((part) => (part["thought"] === true ? "" : (text(part, "text") ?? "")))
    .join("");
}

function listParts(json: JsonObject): readonly JsonObject[] {
  return objects(json, "candidates").flatMap((candidate) => [...objects(object(candidate, "content"), "parts")]);
}
