import type { IncomingMessage, ServerResponse } from "node:http";
import type { ObjectDialect } from "../../providers/core/types.ts";
import type { Arrival } from "./read-request.ts";

/** A call of a route that is not one of models, as the edge passes it on. */
export interface RouteArrival extends Arrival {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly method: string;
  /** Without the query. */
  readonly path: string;
}

/** Returns the query of a call. */
export function readQuery({ url = "" }: Pick<IncomingMessage, "url">): URLSearchParams {
  return new URLSearchParams(url.split("?")[1] ?? "");
}

/** A call of a route of files, in the protocol that its client speaks. */
export interface ObjectArrival extends RouteArrival {
  readonly query: URLSearchParams;
  readonly dialect: ObjectDialect;
}
