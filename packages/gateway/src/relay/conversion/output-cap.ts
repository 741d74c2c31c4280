// The cap of a request before it is built for an upstream: set where the client named none, lowered where it is more
// than the model can write.
import type { BridgeContext } from "../../dialects/core/types.ts";
import { exactJson, withMembers } from "../../dialects/core/request-spec.ts";
import { jsonBody } from "../body/read-body.ts";
import type { RelayRequest } from "../request/request.ts";

/** The same request with a cap of its answers, as if the client had named it. */
export function withCap(request: RelayRequest, tokens: number): RelayRequest {
  const { body, dialect, spec } = request;
  const edits = dialect.capEdits?.(exactJson(body), tokens);
  if (!edits) return request;
  const outputCap = tokens * (spec.answers ?? 1);
  return { ...request, body: jsonBody(withMembers(body, edits)), spec: { ...spec, outputCap } };
}

/**
 * Vendors refuse a cap above what their model can write, and clients of another protocol cannot know it: coding agents
 * send one cap to every model. Lowers it for such a request and names it.
 */
export function withinKnownLimit(
  request: RelayRequest,
  limit: number | undefined,
  dropped: BridgeContext["dropped"],
): RelayRequest {
  const { body, dialect } = request;
  const cap = dialect.requestedOutput?.(body.json(), request.spec.model).cap;
  if (limit === undefined || cap === undefined || cap <= limit) return request;
  dropped(dialect.capName?.(body.json()) ?? "max_tokens");
  return withCap(request, limit);
}
