import type { Bridge } from "../../../dialects/core/bridge.ts";
import type { JsonValue } from "../../../dialects/core/types.ts";
import { compact, count, isObject, list, object, objects, text } from "../../../dialects/core/read.ts";
import { unaryConversion } from "../../core/unary-bridge.ts";

export const rerankBridge: Bridge = {
  client: "rerank",
  upstream: "private:cohere-rerank",
  begin(context) {
    /** The request's documents, which the answer repeats: v2 does not return them. */
    let asked: readonly JsonValue[] = [];
    return unaryConversion(context, {
      request(body) {
        const documents = list(body, "documents");
        if (body["return_documents"] === true) asked = documents;
        for (const name of ["rank_fields", "max_chunk_per_doc", "max_chunks_per_doc", "overlap_tokens"])
          if (body[name] !== undefined) context.dropped(name);
        return compact({
          model: context.upstreamModel,
          query: body["query"],
          documents: documents.map(toText),
          top_n: body["top_n"],
          max_tokens_per_doc: body["max_tokens_per_doc"],
        });
      },
      response(body) {
        const results = objects(body, "results").map((result) => {
          const document = asked[count(result, "index") ?? -1];
          return document === undefined ? result : { ...result, document: { text: toText(document) } };
        });
        const units = count(object(object(body, "meta"), "billed_units"), "search_units");
        return {
          model: context.spec.model,
          results,
          ...(units === undefined ? {} : { usage: { prompt_tokens: units, total_tokens: units, search_units: units } }),
        };
      },
    });
  },
};

function toText(document: JsonValue): string {
  if (typeof document === "string") return document;
  return (isObject(document) ? text(document, "text") : undefined) ?? JSON.stringify(document);
}
