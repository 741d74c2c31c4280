import { findMessageKey, type Endpoint, type Input, type Output } from "@fairway/wire";
import { noteOutcome } from "./server/health.ts";
import { noteServerTime } from "./now.ts";
import { ApiProblem, HttpProblem, OfflineProblem, SilentProblem } from "./problems.ts";
import { serverMessage } from "./server/server-messages.ts";
import { stored } from "./storage.ts";
import { parseObject, type JsonObject } from "./text/json.ts";

type Scalar = string | number | boolean | undefined;

/** The input of a call; only members that the endpoint declares exist. */
export type CallInput<E extends Endpoint> = {
  [K in "params" as E["params"] extends undefined ? never : K]: Record<keyof Input<E["params"]>, string | number>;
} & {
  [K in "query" as E["query"] extends undefined ? never : K]?: { [Q in keyof Input<E["query"]>]?: Scalar };
} & {
  [K in "body" as E["body"] extends undefined ? never : K]: Input<E["body"]>;
} & {
  signal?: AbortSignal | undefined;
  /** Tag of the version that an edit starts from: the server refuses it if there is a newer one. */
  ifMatch?: string | undefined;
  /** Identifies the change: the server makes it once, however often it is sent. */
  idempotencyKey?: string | undefined;
  /** Members of the query outside the endpoint's schema, such as the proof of the human check. */
  extraQuery?: Readonly<Record<string, string>>;
  /** Sent as it is, for a call whose body is a file. */
  file?: Blob | undefined;
};

export interface Answer<E extends Endpoint> {
  readonly data: Output<E["data"]>;
  readonly message: string;
  /** Rows that match before paging, if the server counted them. */
  readonly total: number | undefined;
  /** Identifies the version that was read or saved, if the server sends it. */
  readonly tag: string | undefined;
  /** Members next to the envelope, such as `time` of a channel test. */
  readonly siblings: Readonly<Record<string, unknown>>;
}

let onSignedOut: () => void = () => {};

/** Sets what to do when the server no longer knows the session. */
export function whenSignedOut(action: () => void): void {
  onSignedOut = action;
}

let confirmCaller: () => Promise<boolean> = () => Promise.resolve(false);

/** Sets how to prompt for the password or second factor when the server wants it before a change of credentials. */
export function whenProofNeeded(action: () => Promise<boolean>): void {
  confirmCaller = action;
}

/** The error code of a change that needs a confirmation first. */
const PROOF_WANTED = "confirmation_required";

let rememberedUser: () => number | undefined = () => undefined;

/** Sets who is signed in on this page, for a browser whose storage was emptied or is denied. */
export function rememberUser(read: () => number | undefined): void {
  rememberedUser = read;
}

/**
 * Returns the user that calls are sent for. The storage comes first: another tab may have signed in another user, with
 * the same cookie.
 */
function callerId(): number | undefined {
  return stored.user.read()?.id ?? rememberedUser();
}

/** Settles when no call that ends the session is running. */
let farewell: Promise<unknown> = Promise.resolve();

/**
 * Sends the call that ends the session and forgets the user. Calls that need a session wait meanwhile, because they
 * would be refused.
 */
export async function callLast<E extends Endpoint>(
  endpoint: E,
  input: CallInput<E>,
  forget: () => void,
): Promise<Output<E["data"]>> {
  const parting = call(endpoint, input).then((answer) => {
    forget();
    return answer;
  });
  farewell = parting.catch(() => undefined);
  return parting;
}

/** Refuses a call that the server would refuse anyway, because no user is signed in. */
async function requireCaller({ access, method }: Endpoint, signal: AbortSignal | undefined): Promise<void> {
  if (access === "none" || access === "try") return;
  await farewell;
  signal?.throwIfAborted();
  if (callerId() !== undefined) return;
  // Background reads do not prompt to sign in.
  if (method !== "GET") onSignedOut();
  throw new HttpProblem(401, "");
}

interface LooseInput {
  readonly params?: Record<string, string | number>;
  readonly query?: Record<string, Scalar>;
  readonly body?: unknown;
  readonly file?: Blob | undefined;
  readonly extraQuery?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
  readonly ifMatch?: string | undefined;
  readonly idempotencyKey?: string | undefined;
}

export function buildUrl(endpoint: Endpoint, input: Pick<LooseInput, "params" | "query" | "extraQuery">): string {
  const path = endpoint.path.replace(/\{(\w+)\}/g, (_place, name: string) =>
    encodeURIComponent(String(input.params?.[name] ?? "")),
  );
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries({ ...input.query, ...input.extraQuery })) {
    if (value !== undefined && value !== "") query.set(name, String(value));
  }
  return query.size > 0 ? `${path}?${query}` : path;
}

interface EarlyAnswers {
  /** Requests that `boot.js` sent while the scripts were loading, by address. */
  readonly fairwayAnswers?: Record<string, Promise<Response> | undefined>;
}

/** Returns an early answer once, because it is as old as the page. */
function takeEarly(address: string): Promise<Response> | undefined {
  const answers = (globalThis as EarlyAnswers).fairwayAnswers;
  const answer = answers?.[address];
  if (answers) answers[address] = undefined;
  return answer;
}

/** Time for an answer to begin; a slower server counts as unreachable. Writes may test upstreams. */
const READ_MS = 30_000;
const WRITE_MS = 180_000;
/** A file may be large, and the line slow. */
const UPLOAD_MS = 3_600_000;

function buildHeaders({ body, file, ifMatch, idempotencyKey }: LooseInput): Headers {
  const headers = new Headers({ "New-Api-User": String(callerId() ?? -1) });
  if (body !== undefined) headers.set("content-type", "application/json");
  if (file !== undefined) headers.set("content-type", "application/octet-stream");
  if (ifMatch !== undefined) headers.set("if-match", ifMatch);
  if (idempotencyKey !== undefined) headers.set("idempotency-key", idempotencyKey);
  return headers;
}

async function send(endpoint: Endpoint, input: LooseInput): Promise<Response> {
  const isRead = endpoint.method === "GET" && !endpoint.hasEffects;
  const late = AbortSignal.timeout(input.file ? UPLOAD_MS : isRead ? READ_MS : WRITE_MS);
  const init: RequestInit = {
    method: endpoint.method,
    headers: buildHeaders(input),
    credentials: "same-origin",
    signal: input.signal ? AbortSignal.any([input.signal, late]) : late,
  };
  if (input.body !== undefined) init.body = JSON.stringify(input.body);
  if (input.file !== undefined) init.body = input.file;
  const address = buildUrl(endpoint, input);
  try {
    const response = await (takeEarly(address) ?? fetch(address, init));
    noteServerTime(response.headers.get("date"));
    return response;
  } catch (cause) {
    if (input.signal?.aborted) throw cause;
    noteOutcome("away");
    throw new OfflineProblem(cause);
  }
}

async function readJson(response: Response): Promise<JsonObject> {
  // A proxy's error page and an empty body are not answers of the server.
  return parseObject(await response.text()) ?? {};
}

/**
 * Time for a model's answer to begin: longer than a gateway with the usual settings waits for an upstream, so that the
 * gateway reports the error.
 */
const ANSWER_MS = 300_000;

/**
 * Sends a model call. Its answers have no envelope and may be streams, so the caller handles them, including failures.
 */
async function fetchAnswer(path: string, init: RequestInit & { readonly signal: AbortSignal }): Promise<Response> {
  const { signal } = init;
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), ANSWER_MS);
  try {
    return await fetch(path, { ...init, method: "POST", signal: AbortSignal.any([signal, late.signal]) });
  } catch (cause) {
    if (signal.aborted) throw cause;
    if (late.signal.aborted) throw new SilentProblem(ANSWER_MS);
    noteOutcome("away");
    throw new OfflineProblem(cause);
  } finally {
    clearTimeout(timer);
  }
}

/** Sends a model call as the signed-in user. */
export async function sendToRelay(path: string, body: unknown, signal: AbortSignal): Promise<Response> {
  const headers = { "New-Api-User": String(callerId() ?? -1), "content-type": "application/json" };
  const response = await fetchAnswer(path, {
    headers,
    credentials: "same-origin",
    signal,
    body: JSON.stringify(body),
  });
  if (response.status === 401) onSignedOut();
  return response;
}

/** Sends a model call with a token's key, as an application does. */
export function sendWithKey(path: string, key: string, body: unknown, signal: AbortSignal): Promise<Response> {
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  return fetchAnswer(path, { headers, credentials: "omit", signal, body: JSON.stringify(body) });
}

/** Opens a stream of the contract, such as server-sent events; it ends when the signal aborts. */
export async function openStream<E extends Endpoint>(
  endpoint: E,
  input: CallInput<E> & { signal: AbortSignal },
): Promise<ReadableStream<Uint8Array>> {
  const loose = input as LooseInput;
  await requireCaller(endpoint, loose.signal);
  const headers = { "New-Api-User": String(callerId() ?? -1), accept: "text/event-stream" };
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), READ_MS);
  const signal = AbortSignal.any([input.signal, late.signal]);
  let response: Response;
  try {
    response = await fetch(buildUrl(endpoint, loose), { headers, credentials: "same-origin", signal });
  } catch (cause) {
    if (input.signal.aborted) throw cause;
    noteOutcome("away");
    throw new OfflineProblem(cause);
  } finally {
    clearTimeout(timer);
  }
  const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") ?? false;
  if (response.ok && isStream && response.body) return response.body;
  if (response.status === 401) onSignedOut();
  throw createProblem(response, await readJson(response));
}

function createProblem(response: Response, body: JsonObject): HttpProblem {
  const key = findMessageKey(body.code);
  const said = typeof body.message === "string" ? serverMessage(key, body.message) : "";
  const message = said === "" ? response.statusText : said;
  const wait = Number(response.headers.get("retry-after"));
  return new HttpProblem(response.status, message, {
    retryAfter: wait > 0 ? wait : undefined,
    requestId: response.headers.get("x-oneapi-request-id") ?? undefined,
    key,
  });
}

/**
 * Parses the answer with the schema of the contract: completely during development, afterwards only enough to notice a
 * server of another version (an object, or the first row of a list).
 */
function checkData(endpoint: Endpoint, data: unknown): void {
  const isRow = !import.meta.env.DEV && Array.isArray(data) && data.length > 1;
  const result = endpoint.data?.safeParse(isRow ? data.slice(0, 1) : data);
  if (!result || result.success) return;
  const where = result.error.issues.map((issue) => issue.path.join(".")).join(", ");
  // A mismatch with the contract is a bug of the release; the page still shows what it can.
  console.warn(`The answer of ${endpoint.name} differs from the contract at: ${where}`);
}

/**
 * Sends one call of the contract and reads its envelope. Throws ApiProblem, HttpProblem or OfflineProblem. If the
 * server wants a confirmation, the call is sent once more after that.
 */
export async function request<E extends Endpoint>(endpoint: E, input: CallInput<E>): Promise<Answer<E>> {
  try {
    return await requestOnce(endpoint, input);
  } catch (problem) {
    const isWanted = problem instanceof ApiProblem && problem.key === PROOF_WANTED;
    if (!isWanted) throw problem;
    return confirmAndSend(endpoint, input, problem);
  }
}

/** A final call that wants a confirmation must not make the confirmation, or itself, wait for its own end. */
async function confirmAndSend<E extends Endpoint>(
  endpoint: E,
  input: CallInput<E>,
  problem: ApiProblem,
): Promise<Answer<E>> {
  const parting = farewell;
  farewell = Promise.resolve();
  let again: Promise<Answer<E>>;
  try {
    if (!(await confirmCaller())) throw problem;
    again = requestOnce(endpoint, input);
  } finally {
    farewell = parting;
  }
  return again;
}

async function requestOnce<E extends Endpoint>(endpoint: E, input: CallInput<E>): Promise<Answer<E>> {
  const loose = input as LooseInput;
  await requireCaller(endpoint, loose.signal);
  const response = await send(endpoint, loose);
  const body = await readJson(response);
  if (!response.ok || typeof body.success !== "boolean") {
    noteOutcome(response.status >= 500 ? "failed" : "good");
    const problem = createProblem(response, body);
    // Background reads do not prompt to sign in a second time.
    if (response.status === 401 && (callerId() !== undefined || endpoint.method !== "GET")) onSignedOut();
    throw problem;
  }
  noteOutcome("good");
  const { success, message, data, code, field, ...siblings } = body;
  const text = typeof message === "string" ? message : "";
  if (!success) {
    const key = findMessageKey(code);
    throw new ApiProblem(serverMessage(key, text), key, asText(field), data);
  }
  checkData(endpoint, data);
  const total = response.headers.get("x-total-count");
  return {
    data: data as Output<E["data"]>,
    message: text,
    total: total === null ? undefined : Number(total),
    tag: response.headers.get("etag") ?? undefined,
    siblings,
  };
}

/** Works like `request`, for callers that need only the data. */
export async function call<E extends Endpoint>(endpoint: E, input: CallInput<E>): Promise<Output<E["data"]>> {
  return (await request(endpoint, input)).data;
}

function asText(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
