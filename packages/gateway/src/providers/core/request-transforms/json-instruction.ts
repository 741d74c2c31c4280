import { list, object, text } from "../../../dialects/core/read.ts";
import type { RequestTransform } from "../types.ts";

/** For vendors that know `json_object` but no schemas: the schema becomes a system message. */
export const jsonInstruction: RequestTransform = {
  name: "schema as an instruction",
  rewords: ["response_format"],
  apply(body) {
    const format = object(body, "response_format");
    if (text(format, "type") !== "json_schema") return body;
    const schema = JSON.stringify(object(format, "json_schema")?.["schema"] ?? {});
    const content = `Reply with a JSON object only. It must follow this JSON schema: ${schema}`;
    const messages = [{ role: "system", content }, ...list(body, "messages")];
    return { ...body, messages, response_format: { type: "json_object" } };
  },
};
