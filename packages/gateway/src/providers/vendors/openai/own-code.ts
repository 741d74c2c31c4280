import { eachObject } from "../../../dialects/core/json-edit.ts";
import { anyText, objects } from "../../../dialects/core/read.ts";
import type { JsonObject } from "../../../dialects/core/types.ts";
import { fenced } from "../../../dialects/bridges/parts/content/code-fence.ts";
import { parseResponseId } from "../../../dialects/bridges/responses-to-chat/own-ids.ts";
import type { RequestTransform } from "../../core/types.ts";

/**
 * Turns code that another vendor ran in an earlier answer of the conversation into text: this gateway built its item,
 * which names no container that OpenAI knows.
 */
export const ownCode: RequestTransform = {
  name: "code of other vendors as text",
  on: ["openai-responses"],
  rewords: ["input"],
  apply: (body, spec) => (spec.dialect === "openai-responses" ? eachObject(body, "input", readable) : body),
};

function readable(item: JsonObject): JsonObject {
  const isOwn = item["type"] === "code_interpreter_call" && parseResponseId(anyText(item, "id")) !== undefined;
  if (!isOwn) return item;
  const logs = objects(item, "outputs").map((output) => anyText(output, "logs"));
  const text = [
    fenced("python", anyText(item, "code")),
    ...logs.filter((log) => log !== "").map((log) => fenced("", log)),
  ];
  return {
    type: "message",
    role: "assistant",
    content: [{ type: "output_text", text: text.join(""), annotations: [] }],
  };
}
