import type { IncomingMessage } from "node:http";

/** Per-request state of the edge; nothing else is attached to the request object. */
export interface RequestContext {
  readonly requestId: string;
  /** Address of the client behind trusted proxies. */
  readonly ip: string;
  readonly isSecure: boolean;
  /** Milliseconds of the monotonic clock. */
  readonly startedAt: number;
  /** Values for the audit row in addition to the input. */
  audit?: Readonly<Record<string, string>>;
}

/** A member of the request: with a `WeakMap`, the garbage collector would visit every request once more. */
const CONTEXT = Symbol("context");

type WithContext = IncomingMessage & { [CONTEXT]?: RequestContext };

/** Called once per request, by the edge. */
export function setContext(request: IncomingMessage, context: RequestContext): void {
  (request as WithContext)[CONTEXT] = context;
}

/** Throws if the edge did not set the context. */
export function requireContext(request: IncomingMessage): RequestContext {
  const context = (request as WithContext)[CONTEXT];
  if (!context) throw new Error("the request has no context: the edge did not run");
  return context;
}
