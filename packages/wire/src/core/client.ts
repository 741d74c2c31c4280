import { MESSAGE_CODES, findMessageKey, type MessageKey } from "./message-codes.ts";
import type { Endpoint, Input, Output } from "./endpoint.ts";
import type { QueryValue } from "./envelope.ts";

/** The part of `fetch` that the client uses. */
export type Fetch = (
  url: string,
  init: {
    method: string;
    headers: Record<string, string>;
    body?: string;
    signal?: AbortSignal;
    credentials: "same-origin";
  },
) => Promise<Reply>;

interface Reply {
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  text(): Promise<string>;
}

export interface ClientSettings {
  /** "" for calls to the page's own origin. */
  readonly baseUrl: string;
  readonly fetch: Fetch;
  /** Called for each call: returns the user-id header or an access token. */
  readonly headers?: () => Readonly<Record<string, string>>;
}

type Optional<Name extends string, T> = { readonly [K in Name]?: T };
type Needs<Name extends string, T> = undefined extends T
  ? Optional<Name, T>
  : Record<never, never> extends T
    ? Optional<Name, T>
    : { readonly [K in Name]: T };

/** The input of a call: only the parts that its endpoint declares. */
export type CallInput<E extends Endpoint> = Needs<"params", Input<E["params"]>> &
  Needs<"query", Input<E["query"]>> &
  Needs<"body", Input<E["body"]>> & {
    readonly signal?: AbortSignal;
    readonly headers?: Readonly<Record<string, string>>;
    /** Query members outside the endpoint's schema, such as `turnstile`. */
    readonly extraQuery?: Readonly<Record<string, string>>;
  };

export interface CallAnswer<E extends Endpoint> {
  readonly data: Output<E["data"]>;
  readonly message: string;
  /** Number of matching rows before paging; undefined if the call returns no total. */
  readonly total: number | undefined;
  /** Members next to `data`. */
  readonly siblings: Readonly<Record<string, unknown>>;
}

/** A failed call. `status` 0 = there was no response at all. */
export class ApiProblem extends Error {
  override readonly name = "ApiProblem";
  readonly status: number;
  /** The code of the response, as it was sent. */
  readonly code: string | undefined;
  /** The message for the code; undefined without a code, or for a code of another program. */
  readonly key: MessageKey | undefined;
  /** Input field that the refusal concerns. */
  readonly field: string | undefined;
  readonly retryAfterSeconds: number | undefined;
  readonly siblings: Readonly<Record<string, unknown>>;

  constructor(
    message: string,
    details: {
      status: number;
      code?: unknown;
      field?: unknown;
      retryAfter?: string | null;
      siblings?: Readonly<Record<string, unknown>>;
      cause?: unknown;
    },
  ) {
    super(message, { cause: details.cause });
    this.status = details.status;
    this.key = findMessageKey(details.code);
    this.code = this.key === undefined ? undefined : MESSAGE_CODES[this.key];
    this.field = typeof details.field === "string" ? details.field : undefined;
    const seconds = Number(details.retryAfter ?? Number.NaN);
    this.retryAfterSeconds = Number.isFinite(seconds) ? seconds : undefined;
    this.siblings = details.siblings ?? {};
  }
}

export interface Client {
  /** Throws ApiProblem for refusals, error statuses and lost connections; an abort is passed through unchanged. */
  call<E extends Endpoint>(endpoint: E, input: CallInput<E>): Promise<CallAnswer<E>>;
}

/** Creates a client that calls the management API by its endpoint definitions. */
export function createClient(settings: ClientSettings): Client {
  return {
    async call<E extends Endpoint>(endpoint: E, input: CallInput<E>): Promise<CallAnswer<E>> {
      const reply = await send(settings, endpoint, input);
      const text = await reply.text();
      if (endpoint.answer === "text" && reply.status < 400) return buildAnswer<E>(reply, text, "", {});
      return readEnvelope<E>(endpoint, reply, text);
    },
  };
}

/** Returns the path with its parameters filled in, followed by the query. */
export function buildUrl(endpoint: Endpoint, params: unknown = {}, query: unknown = {}): string {
  const values = params as Readonly<Record<string, string | number>>;
  const path = endpoint.path.replace(/\{(\w+)\}/g, (_place, name: string) => encodeURIComponent(String(values[name])));
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query as Record<string, QueryValue>)) {
    // A list becomes its items, separated by commas.
    if (value !== undefined) search.set(name, String(value));
  }
  const text = search.toString();
  return text === "" ? path : `${path}?${text}`;
}

interface LooseInput {
  readonly params?: unknown;
  readonly query?: unknown;
  readonly body?: unknown;
  readonly signal?: AbortSignal;
  readonly headers?: Readonly<Record<string, string>>;
  readonly extraQuery?: Readonly<Record<string, string>>;
}

async function send(settings: ClientSettings, endpoint: Endpoint, input: LooseInput): Promise<Reply> {
  const url =
    settings.baseUrl +
    buildUrl(endpoint, input.params, { ...(input.query as object | undefined), ...input.extraQuery });
  const headers: Record<string, string> = { Accept: "application/json", ...settings.headers?.(), ...input.headers };
  if (input.body !== undefined) headers["Content-Type"] = "application/json";
  const init = {
    method: endpoint.method,
    headers,
    credentials: "same-origin" as const,
    ...(input.body === undefined ? {} : { body: JSON.stringify(input.body) }),
    ...(input.signal ? { signal: input.signal } : {}),
  };
  try {
    return await settings.fetch(url, init);
  } catch (cause) {
    if (input.signal?.aborted) throw cause;
    throw new ApiProblem("The server cannot be reached.", { status: 0, cause });
  }
}

function readEnvelope<E extends Endpoint>(endpoint: E, reply: Reply, text: string): CallAnswer<E> {
  const body = parse(text);
  if (!body)
    throw new ApiProblem(`The server answered with status ${reply.status}.`, {
      status: reply.status,
      retryAfter: reply.headers.get("Retry-After"),
    });
  const isOwnShape = endpoint.answer === "raw" && (endpoint.data !== undefined || typeof body["success"] !== "boolean");
  if (isOwnShape && reply.status < 400) return buildAnswer<E>(reply, body, "", {});
  const { success, message, data, code, field, ...siblings } = body;
  if (success !== true) {
    const words =
      typeof message === "string" && message !== "" ? message : `The server answered with status ${reply.status}.`;
    throw new ApiProblem(words, {
      status: reply.status,
      code,
      field,
      retryAfter: reply.headers.get("Retry-After"),
      siblings,
    });
  }
  return buildAnswer<E>(reply, data, typeof message === "string" ? message : "", siblings);
}

function buildAnswer<E extends Endpoint>(
  reply: Reply,
  data: unknown,
  message: string,
  siblings: Record<string, unknown>,
): CallAnswer<E> {
  const header = reply.headers.get("X-Total-Count");
  const total = Number(header ?? siblings["total"] ?? Number.NaN);
  return { data: data as Output<E["data"]>, message, total: Number.isFinite(total) ? total : undefined, siblings };
}

function parse(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
