import { MESSAGE_CODES, type Fetch } from "@fairway/wire";
import { setTimeout as pause } from "node:timers/promises";
import { CliError, EXIT, MissingCall } from "../core/exit.ts";
import { objectIn } from "../core/json.ts";
import { asOurs, asTheirs, hasOtherPages } from "./compatible.ts";
import { lost } from "./lost.ts";
import { redactedBody, redactedUrl } from "./redacted.ts";
import { request, type Answer, type AnswerHeaders, type Request, type RequestStream } from "./request.ts";

type Init = Parameters<Fetch>[1];
type Sent = Omit<Init, "credentials"> & { readonly stream?: RequestStream };

/** How calls are sent. */
export interface TransportSettings {
  readonly timeoutMs: number;
  /** Retries after an answer that says to try again later. */
  readonly retries: number;
  /** Says why a call waits. */
  note(text: string): void;
  /** Prints a line of `--debug`; secrets are already removed. */
  debug?(text: string): void;
  /** Gets the id of each answered request. */
  answered?(request: string): void;
  /** Throws if a call must not be sent: `--dry-run`, or a read-only context. */
  inspect?(method: string, url: string, body: string | undefined): void;
}

/** A whole answer of the management API. */
interface WholeAnswer {
  readonly status: number;
  readonly headers: AnswerHeaders;
  text(): Promise<string>;
}

export interface Transport {
  /** Returns a whole answer; connection errors name the server and the reason. */
  json(url: string, init: Init): Promise<WholeAnswer>;
  /** Returns the head of an answer; only the head has a time limit. */
  head(url: string, init: Sent): Promise<Answer>;
  /** Does the same for a model, which may think as long as it needs and is called once. */
  ask(url: string, init: Sent): Promise<Answer>;
}

/** Waits if an answer names none. */
const PAUSES_SECONDS = [2, 4, 8];
/** If the wait is longer, the command fails and says when to run it again. */
const LONGEST_WAIT_SECONDS = 60;

export function createTransport(settings: TransportSettings): Transport {
  const { timeoutMs, inspect } = settings;
  const envelopeAt = createReader(settings);

  const json = async (url: string, init: Init): Promise<WholeAnswer> => {
    const { status, headers, text: read, envelope } = await envelopeAt(url, init);
    const missing = status === 404 && !url.endsWith("/api/status") ? missingCall(read, init.method, url) : undefined;
    if (missing) throw missing;
    if ((status < 300 || status === 404) && !envelope)
      throw new CliError(
        `${url.split("/api/", 1)[0]} is not a Fairway gateway`,
        EXIT.unreachable,
        "check the address; behind a proxy it may need a path, such as https://ai.example.com/fairway",
      );
    const ours = envelope && asOurs(url, envelope);
    const text = ours === envelope ? read : JSON.stringify(ours);
    return { status, headers, text: () => Promise.resolve(text) };
  };

  const head = async (url: string, init: Sent): Promise<Answer> => {
    const limit = new AbortController();
    const timer = setTimeout(() => limit.abort(), timeoutMs);
    try {
      return await existing(await reach(settings, url, init, limit.signal), url, init.method);
    } finally {
      clearTimeout(timer);
    }
  };

  return {
    json: (url, init) => patiently(settings, url, init, () => json(url, init)),
    head: (url, init) => patiently(settings, url, init, () => head(url, init)),
    ask(url, init) {
      inspect?.(init.method, url, init.body);
      return reach(settings, url, init, new AbortController().signal);
    },
  };
}

/**
 * Reads whole answers. If the first page has another shape, it is requested again with the parameters of that server,
 * as are later pages.
 */
function createReader(settings: TransportSettings) {
  let areOtherPages = false;
  return async (url: string, init: Init) => {
    const read = () =>
      fetchText(settings, areOtherPages ? asTheirs(url) : url, init, AbortSignal.timeout(settings.timeoutMs));
    const first = await read();
    const envelope = parseEnvelope(first.text);
    if (areOtherPages || init.method !== "GET" || !envelope || !hasOtherPages(envelope)) return { ...first, envelope };
    areOtherPages = true;
    const again = await read();
    return { ...again, envelope: parseEnvelope(again.text) };
  };
}

/** Fails if the gateway does not have the call. */
async function existing(answer: Answer, url: string, method: string): Promise<Answer> {
  if (answer.status !== 404) return answer;
  const text = await answer.text();
  const missing = missingCall(text, method, url);
  if (missing) throw missing;
  return { ...answer, text: () => Promise.resolve(text) };
}

async function fetchText(settings: TransportSettings, url: string, init: Sent, limit: AbortSignal) {
  const answer = await reach(settings, url, init, limit);
  const text = await answer.text().catch((cause: unknown) => {
    throw lost(url, limit.aborted ? settings.timeoutMs : undefined, cause);
  });
  return { status: answer.status, headers: answer.headers, text };
}

async function reach(settings: TransportSettings, url: string, init: Sent, limit: AbortSignal): Promise<Answer> {
  const { method, body } = init;
  const { debug, answered, timeoutMs } = settings;
  const began = performance.now();
  debug?.(`> ${method} ${redactedUrl(url)}${body === undefined ? "" : ` ${redactedBody(body)}`}`);
  const answer = await request(url, buildRequest(init, limit)).catch((cause: unknown) => {
    const error = lost(url, limit.aborted ? timeoutMs : undefined, cause);
    debug?.(`< ${error.message}`);
    throw error;
  });
  const id = answer.headers.get("x-request-id") ?? answer.headers.get("x-oneapi-request-id");
  debug?.(`< ${answer.status} in ${Math.round(performance.now() - began)} ms${id === null ? "" : `, request ${id}`}`);
  if (id !== null) answered?.(id);
  if (answer.status >= 300 && answer.status < 400)
    throw new Error(`${new URL(url).origin} sends requests on to ${parseOrigin(answer.headers.get("Location"), url)}`);
  return answer;
}

function buildRequest({ method, headers, body, stream, signal }: Sent, limit: AbortSignal): Request {
  return {
    method,
    headers,
    ...(body === undefined ? {} : { body }),
    ...(stream ? { stream } : {}),
    signal: signal ? AbortSignal.any([signal, limit]) : limit,
  };
}

/** Repeats calls that a busy gateway refused, as often as the settings allow. */
async function patiently<A extends { readonly status: number; readonly headers: AnswerHeaders }>(
  { retries, note, inspect }: TransportSettings,
  url: string,
  init: Sent,
  send: () => Promise<A>,
): Promise<A> {
  inspect?.(init.method, url, init.body);
  for (let tries = 0; ; tries++) {
    const answer = await send();
    const wait = answer.status === 429 || answer.status === 503 ? calculateRetryWait(answer.headers, tries) : undefined;
    if (wait === undefined || tries >= retries || wait > LONGEST_WAIT_SECONDS) return answer;
    note(`${new URL(url).origin} is busy (${answer.status}); trying again in ${wait} s`);
    await pause(wait * 1000, undefined, init.signal ? { signal: init.signal } : {});
  }
}

/**
 * Returns seconds: the wait that the answer names, or one that grows with each try. Several clients do not come back at
 * once.
 */
function calculateRetryWait(headers: AnswerHeaders, tries: number): number {
  const named = Number(headers.get("Retry-After") ?? Number.NaN);
  if (Number.isFinite(named) && named >= 0) return Math.max(1, Math.ceil(named));
  const base = PAUSES_SECONDS[Math.min(tries, PAUSES_SECONDS.length - 1)] ?? 8;
  return Math.round(base * (0.75 + Math.random() * 0.5) * 10) / 10;
}

function parseOrigin(location: string | null, base: string): string {
  return URL.parse(location ?? "", base)?.origin ?? "nowhere";
}

/** Every JSON answer under `/api` reports its success; a proxy's page does not. */
function parseEnvelope(text: string): Readonly<Record<string, unknown>> | undefined {
  const members = objectIn(text);
  return members && "success" in members ? members : undefined;
}

/** For a missing call, compatible gateways return an error, Fairway an envelope with a code. */
function missingCall(text: string, method: string, url: string): MissingCall | undefined {
  if (parseEnvelope(text)?.["code"] === MESSAGE_CODES.unknown_url)
    return new MissingCall(method, url, "an older Fairway");
  const isTheirs = /^\s*\{\s*"error"\s*:\s*\{[^}]*"message"\s*:\s*"Invalid URL/.test(text);
  return isTheirs ? new MissingCall(method, url, "a compatible gateway") : undefined;
}
