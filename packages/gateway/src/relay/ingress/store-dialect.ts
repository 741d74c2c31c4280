import type { IncomingHttpHeaders } from "node:http";
import type { ErrorDialect } from "../../dialects/core/types.ts";
import type { ObjectDialect } from "../../providers/core/types.ts";

/**
 * Returns the protocol of a call about files: three vendors serve `/v1/files`, and only headers and query tell their
 * clients apart.
 * @param ofPath the protocol that the path alone names
 */
export function readStoreDialect(
  ofPath: ErrorDialect,
  headers: IncomingHttpHeaders,
  query: URLSearchParams,
): ObjectDialect {
  if (ofPath === "gemini" || headers["x-goog-api-key"] !== undefined || query.has("key")) return "gemini";
  return headers["anthropic-version"] === undefined ? "openai" : "anthropic";
}
