import type * as z from "zod/mini";
import type { CallRights } from "../access/rights.ts";
import type { MessageKey } from "./message-codes.ts";

/** Who may call an endpoint. `try` personalises the response if a credential is valid, `key` requires a relay key. */
export type Access = "none" | "try" | "user" | "admin" | "root" | "key";

/** Rate class of an endpoint; every endpoint also counts against its caller's API class. */
export type RateClass = "api" | "critical";

export type Method = "GET" | "POST" | "PUT" | "DELETE" | "PATCH";

/** Limit for the body of a call that declares none. */
const BODY_BYTES = 1024 * 1024;

type Schema = z.ZodMiniType;
export type Output<S> = S extends z.ZodMiniType ? z.output<S> : undefined;
export type Input<S> = S extends z.ZodMiniType ? z.input<S> : undefined;

/**
 * One call of the management API. `path` contains path parameters in braces (`/api/channel/{id}`), whose schemas are in
 * `params`. `data` is the schema of the envelope's `data` member; `siblings` lists members next to it.
 */
export interface Endpoint<
  P extends Schema | undefined = Schema | undefined,
  Q extends Schema | undefined = Schema | undefined,
  B extends Schema | undefined = Schema | undefined,
  D extends Schema | undefined = Schema | undefined,
> {
  readonly name: string;
  readonly method: Method;
  readonly path: string;
  readonly access: Access;
  readonly rate: RateClass;
  readonly summary: string;
  readonly params: P;
  readonly query: Q;
  readonly body: B;
  readonly data: D;
  /** Maximum body size in bytes; a longer body is refused with `body_too_large`. */
  readonly bodyBytes: number;
  /** Codes of `messages.ts` that this call may return, besides those of its access and rate class. */
  readonly fails: readonly MessageKey[];
  /** The format of a successful response: the envelope, an event stream, plain text or a file. */
  readonly answer: "envelope" | "stream" | "text" | "file" | "raw";
  /** True for an additional human check (query key `turnstile`) if the operator has enabled it. */
  readonly humanCheck: boolean;
  /** True if the session call cannot send the user-id header (redirects of sign-in services, logout). */
  readonly withoutUserHeader: boolean;
  /** True for a GET that changes state: prefetchers are refused, and HEAD is unknown. */
  readonly hasEffects: boolean;
  /** True if the call is readable from any origin, without credentials. */
  readonly isCrossOrigin: boolean;
  /** The rights of a call outside the contract; `findCallRights` returns those of the others. */
  readonly rights: CallRights | undefined;
}

interface EndpointSpec<P, Q, B, D> {
  name: string;
  method: Method;
  path: string;
  access: Access;
  summary: string;
  rate?: RateClass;
  params?: P;
  query?: Q;
  body?: B;
  data?: D;
  bodyBytes?: number;
  fails?: readonly MessageKey[];
  answer?: Endpoint["answer"];
  humanCheck?: boolean;
  withoutUserHeader?: boolean;
  hasEffects?: boolean;
  isCrossOrigin?: boolean;
  /** The rights of a call outside the contract; the table contains the others. */
  rights?: CallRights | undefined;
}

/** Declares one call of the management API; the gateway implements it, the console and the CLI call it. */
export function endpoint<
  P extends Schema | undefined = undefined,
  Q extends Schema | undefined = undefined,
  B extends Schema | undefined = undefined,
  D extends Schema | undefined = undefined,
>(spec: EndpointSpec<P, Q, B, D>): Endpoint<P, Q, B, D> {
  return Object.freeze({
    name: spec.name,
    method: spec.method,
    path: spec.path,
    access: spec.access,
    summary: spec.summary,
    rate: spec.rate ?? "api",
    params: spec.params as P,
    query: spec.query as Q,
    body: spec.body as B,
    data: spec.data as D,
    bodyBytes: spec.bodyBytes ?? BODY_BYTES,
    fails: spec.fails ?? [],
    answer: spec.answer ?? "envelope",
    humanCheck: spec.humanCheck ?? false,
    withoutUserHeader: spec.withoutUserHeader ?? false,
    hasEffects: spec.hasEffects ?? false,
    isCrossOrigin: spec.isCrossOrigin ?? false,
    rights: spec.rights,
  });
}
