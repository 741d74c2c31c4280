import { eachObject } from "../../../dialects/core/json-edit.ts";
import { anyText, isObject, list, objects } from "../../../dialects/core/read.ts";
import type { JsonObject } from "../../../dialects/core/types.ts";
import { fenced } from "../../../dialects/bridges/parts/content/code-fence.ts";
import { OWN_RUN } from "../../../dialects/bridges/parts/tools/hosted-runs.ts";
import type { RequestTransform } from "../../core/types.ts";

/**
 * Turns searches and code runs of another vendor, from earlier answers of the conversation, into text: this gateway
 * built their blocks, and Anthropic can open only its own. Sources that Anthropic did not name itself are not cited
 * again.
 */
export const ownRuns: RequestTransform = {
  name: "searches of other vendors as text",
  on: ["anthropic-messages", "anthropic-count-tokens"],
  rewords: ["messages"],
  apply: (body, spec) =>
    spec.dialect === "anthropic-messages" || spec.dialect === "anthropic-count-tokens"
      ? eachObject(body, "messages", (message) =>
          message["role"] === "assistant" ? eachObject(message, "content", readable) : message,
        )
      : body,
};

function readable(block: JsonObject): JsonObject {
  if (block["citations"] !== undefined) return withoutForeign(block);
  if (!OWN_RUN.test(anyText(block, "id", "tool_use_id"))) return block;
  const { name, input } = block;
  const shown = input === undefined ? { result: resultIn(block) } : { name: name ?? "", input };
  return { type: "text", text: fenced("json", JSON.stringify(shown)) };
}

function resultIn(block: JsonObject): JsonObject | JsonObject[] {
  if (isObject(block["content"])) return block["content"];
  return objects(block, "content").map(({ url, title, text }) => (text === undefined ? { url, title } : { text }));
}

function withoutForeign(block: JsonObject): JsonObject {
  const all = list(block, "citations");
  const own = all.filter((citation) => !isObject(citation) || citation["encrypted_index"] !== "");
  if (own.length === all.length) return block;
  const { citations: _all, ...rest } = block;
  return own.length === 0 ? rest : { ...rest, citations: own };
}
