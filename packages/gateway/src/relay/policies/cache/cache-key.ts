import { isUtf8 } from "node:buffer";
import type { CachePolicy } from "../../../snapshot/cache-policy.ts";
import type { RelayRequest } from "../../request/request.ts";
import { canonicalJson } from "./canonical.ts";

/** Context that an answer depends on in addition to the request. */
export interface KeyContext {
  readonly policy: CachePolicy;
  /** How answers to this request are judged; "" if they are not. */
  readonly guardrail: string;
  /** Groups that may serve the request. */
  readonly groups: readonly string[];
}

/** Longest body that is cached: reading a longer one a second time would block other requests. */
const MAX_BODY_BYTES = 256 * 1024;
/** Members that identify the call, not its content. */
const OF_ONE_CALL = "idempotency-key";

/**
 * Returns everything that an answer depends on, beginning with the user: no two users share a key. Undefined for long
 * bodies and for those that readers may understand differently.
 */
export function buildKeyText(request: RelayRequest, { policy, guardrail, groups }: KeyContext): string | undefined {
  const { spec, body, caller, isPlayground, protocolHeaders, url } = request;
  const { bytes } = body;
  const isReadable = bytes.length <= MAX_BODY_BYTES && isUtf8(bytes);
  const canonical = isReadable ? canonicalJson(bytes.toString("utf8")) : undefined;
  if (canonical === undefined) return undefined;
  const facts = [
    "response-cache 1",
    caller.userId,
    caller.group,
    groups,
    caller.pinnedChannel ?? null,
    spec.operation,
    spec.dialect,
    spec.model,
    spec.stream,
    url,
    Object.entries(protocolHeaders)
      .filter(([name]) => name !== OF_ONE_CALL)
      .sort(([a], [b]) => (a < b ? -1 : 1)),
    isPlayground,
    policy.version,
    guardrail,
  ];
  return `${JSON.stringify(facts)}\n${canonical}`;
}
