// The cap of a request before it is built for an upstream: set if the client named none, lowered if it exceeds what the
// model can write.
import type { BridgeContext } from "../../dialects/core/bridge.ts";
import { exactJson, withMembers } from "../../dialects/core/request-spec.ts";
import { jsonBody } from "../body/read-body.ts";
import type { RelayRequest } from "../request/request.ts";

/** Returns the same request with a cap on its answers, as if the client had set it. */
export function withCap(request: RelayRequest, tokens: number): RelayRequest {
  const { body, dialect, spec } = request;
  const edits = dialect.capEdits?.(exactJson(body), tokens);
  if (!edits) return request;
  const outputCap = tokens * (spec.answers ?? 1);
  return { ...request, body: jsonBody(withMembers(body, edits)), spec: { ...spec, outputCap } };
}

/**
 * Lowers the cap of a converted request to what the model can write, and reports the change. Vendors refuse a higher
 * cap, and clients of another protocol cannot know it: coding agents send one cap to every model.
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
