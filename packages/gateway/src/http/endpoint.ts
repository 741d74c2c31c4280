import type { Endpoint, Output } from "@fairway/wire";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Principal } from "../identity/principal.ts";
import type { RequestContext } from "./context.ts";

export type { Principal } from "../identity/principal.ts";

/** A handler's input: parsed values and the caller, without Express types and without the envelope. */
export interface Call<E extends Endpoint> {
  readonly params: Output<E["params"]>;
  readonly query: Output<E["query"]>;
  readonly body: Output<E["body"]>;
  /** Always set for `user`, `admin` and `root`; for `none` and `try` if the call had a valid credential. */
  readonly caller: E["access"] extends "none" | "try" | "key" ? Principal | undefined : Principal;
  readonly context: RequestContext;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Returns the body as it was received, for an endpoint that declares no shape for it. */
  text(): Promise<string>;
  /** Sets the total of a list before paging, sent as `X-Total-Count`. */
  setTotal(total: number): void;
  /** Adds a member next to `data` in the envelope (`time`, `balance`, `group_ratio`, ...). */
  sibling(name: string, value: unknown): void;
  /** Sets the success text, if the contract names one. */
  message(text: string): void;
}

/** A handler's result: the `data` of its endpoint, or nothing if the contract declares none. */
type Answer<E extends Endpoint> = E["data"] extends undefined ? unknown : Output<E["data"]>;

export type Handler<E extends Endpoint> = (call: Call<E>) => Promise<Answer<E>> | Answer<E>;

/** An endpoint with its handler, ready to be mounted. */
export interface Route {
  readonly endpoint: Endpoint;
  readonly handler: (call: Call<Endpoint>) => unknown;
}

/** Binds a handler to its endpoint; the types of input and answer come from `wire`. */
export function implement<E extends Endpoint>(definition: E, handler: Handler<E>): Route {
  return { endpoint: definition, handler: handler as unknown as Route["handler"] };
}
