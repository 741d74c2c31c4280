import type { IncomingMessage, ServerResponse } from "node:http";
import type { Endpoint } from "@fairway/wire";
import type { AppError } from "../lib/app-error.ts";

/** A call from its head until it is answered and its work is done. */
export interface OpenCall {
  /** Answers a call that is still being read. */
  giveUp(error: AppError): void;
}

/** Calls that a draining process waits for. */
export interface OpenCalls {
  arrived(call: OpenCall): void;
  left(call: OpenCall): void;
}

/** The end of a process, as calls of the management API see it. */
export interface Draining {
  readonly isDraining: () => boolean;
  readonly calls: OpenCalls;
}

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly endpoint: Endpoint | undefined;
  readonly giveUp: (error: AppError) => void;
}

/** Does the work of a call; a draining process waits for it, even if its client has left meanwhile. */
export function waitedFor(
  draining: Draining | undefined,
  exchange: Exchange,
  work: () => Promise<void>,
): Promise<void> {
  if (!draining || follows(exchange)) return work();
  const { request, response, giveUp } = exchange;
  const { calls, isDraining } = draining;
  if (isDraining()) response.setHeader("Connection", "close");
  const call: OpenCall = {
    giveUp(error) {
      if (!request.complete && !response.headersSent) giveUp(error);
    },
  };
  calls.arrived(call);
  const closed = new Promise<void>((resolve) => response.once("close", resolve));
  const done = work();
  void Promise.allSettled([done, closed]).then(() => calls.left(call));
  return done;
}

/** True for event streams, which end with the process: waiting for them would never end. */
function follows({ request, endpoint }: Exchange): boolean {
  return endpoint?.answer === "stream" || String(request.headers.accept ?? "").includes("text/event-stream");
}
