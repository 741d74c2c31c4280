import type { IncomingMessage } from "node:http";

/** Per-request state of the edge; nothing else is hung on the request object. */
export interface RequestContext {
  readonly requestId: string;
  /** Address of the client behind trusted proxies. */
  readonly ip: string;
  readonly isSecure: boolean;
  /** Milliseconds of the monotonic clock. */
  readonly startedAt: number;
}

const contexts = new WeakMap<IncomingMessage, RequestContext>();

export function setContext(request: IncomingMessage, context: RequestContext): void {
  contexts.set(request, context);
}

export function contextOf(request: IncomingMessage): RequestContext {
  const context = contexts.get(request);
  if (!context) throw new Error("the request has no context: the edge did not run");
  return context;
}
