import type { Dialect, EventKind } from "../../dialects/core/types.ts";
import type { StreamEvent } from "../../lib/text/sse.ts";

/** Text that is not JSON is not part of the answer, unless it was meant as JSON. */
export function classifyStreamEvent({ data, raw }: StreamEvent, classifyEvent: Dialect["classifyEvent"]): EventKind {
  if (data === undefined) return raw.startsWith("{") ? "unreadable" : "metadata";
  return classifyEvent?.(data) ?? "part";
}
