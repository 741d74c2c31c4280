import type { JsonObject } from "../../../dialects/core/types.ts";
import { count, object, objects, text } from "../../../dialects/core/read.ts";

/**
 * Returns annotations for the sources that have an address. Citations of plans and thinking are left out, because they
 * do not refer to the text.
 */
export function listAnnotations(citations: readonly JsonObject[]): JsonObject[] {
  return citations
    .filter((citation) => (text(citation, "type") ?? "TEXT_CONTENT") === "TEXT_CONTENT")
    .flatMap((citation) => objects(citation, "sources").flatMap((source) => toAnnotations(citation, source)));
}

function toAnnotations(citation: JsonObject, source: JsonObject): JsonObject[] {
  const cited = object(source, "document") ?? object(source, "tool_output");
  const url = text(cited, "url");
  if (url === undefined) return [];
  return [
    {
      type: "url_citation",
      url_citation: {
        start_index: count(citation, "start") ?? 0,
        end_index: count(citation, "end") ?? 0,
        title: text(cited, "title") ?? "",
        url,
      },
    },
  ];
}
