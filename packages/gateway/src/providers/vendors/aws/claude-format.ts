import { claudeModel, refusesBudgets } from "../../../dialects/bridges/parts/models/claude-models.ts";
import { jsonInstructions } from "../../../dialects/bridges/parts/schemas/json-instruction.ts";
import type { JsonObject, JsonValue } from "../../../dialects/core/types.ts";
import { object } from "../../../dialects/core/read.ts";
import { eachObject, omitMembers } from "../../../dialects/core/json-edit.ts";
import type { RequestTransform } from "../../core/types.ts";

/**
 * The newest models enforce schemas at Anthropic's own API, but not here: a format that a conversion wrote is replaced
 * by an instruction in words. Clients of this protocol get the upstream's error.
 */
export const withoutFormat: RequestTransform = {
  name: "schemas that Bedrock does not enforce",
  on: ["anthropic-messages"],
  rewords: ["output_config"],
  apply(body, spec, upstreamModel) {
    if (spec.dialect === "anthropic-messages" || !refusesBudgets(claudeModel(upstreamModel))) return body;
    const loose = eachObject(body, "tools", (tool) => omitMembers(tool, ["strict"]));
    const config = object(loose, "output_config");
    const schema = object(object(config, "format"), "schema");
    if (config === undefined || schema === undefined) return loose;
    const { format: _format, ...rest } = config;
    const asked = jsonInstructions({ response_format: { type: "json_schema", json_schema: { schema } } });
    const { output_config: _config, ...others } = loose;
    return {
      ...others,
      ...(Object.keys(rest).length === 0 ? {} : { output_config: rest }),
      system: withText(body["system"], asked.join("\n\n")),
    };
  },
};

function withText(system: JsonValue | undefined, added: string): JsonValue {
  if (Array.isArray(system)) return [...system, { type: "text", text: added } satisfies JsonObject];
  return typeof system === "string" && system !== "" ? `${system}\n\n${added}` : added;
}
