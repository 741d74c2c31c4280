import type { Fetch } from "@fairway/wire";
import { setTimeout as pause } from "node:timers/promises";
import { CliError, EXIT } from "../core/exit.ts";
import { lost } from "./lost.ts";
import { redactedBody, redactedUrl } from "./redacted.ts";

type Init = Parameters<Fetch>[1];
type Sent = Omit<Init, "credentials">;

/** How calls are sent. */
export interface TransportSettings {
  readonly timeoutMs: number;
  /** Further tries after an answer that says to come back later. */
  readonly retries: number;
  /** Says why a call waits. */
  note(text: string): void;
  /** What `--debug` prints; secrets are taken out before. */
  debug?(text: string): void;
  /** Throws where a call must not be sent: `--dry-run`, or a context that is read-only. */
  inspect?(method: string, url: string, body: string | undefined): void;
}

/** A whole answer of the management API. */
interface WholeAnswer {
  readonly status: number;
  readonly headers: Headers;
  text(): Promise<string>;
}

export interface Transport {
  /** Failures of the connection name the server and the reason. */
  json(url: string, init: Init): Promise<WholeAnswer>;
  /** The head of an answer; only that has to come in time. */
  head(url: string, init: Sent): Promise<Response>;
  /** The same for a model, which may think as long as it needs and is asked once. */
  ask(url: string, init: Sent): Promise<Response>;
}

/** Waits where an answer names none. */
const PAUSES_SECONDS = [2, 4, 8];
/** With a longer wait the command fails, and says when to run it again. */
const LONGEST_WAIT_SECONDS = 60;

export function createTransport(settings: TransportSettings): Transport {
  const { timeoutMs, inspect } = settings;

  const json = async (url: string, init: Init): Promise<WholeAnswer> => {
    const limit = AbortSignal.timeout(timeoutMs);
    const { status, headers, text: read } = await textOf(settings, url, init, limit);
    if ((status < 300 || status === 404) && !isEnvelope(read))
      throw new CliError(
        `${url.split("/api/", 1)[0]} is no Fairway gateway`,
        EXIT.unreachable,
        "check the address; behind a proxy it may need a path, such as https://ai.example.com/fairway",
      );
    return { status, headers, text: () => Promise.resolve(read) };
  };

  const head = async (url: string, init: Sent): Promise<Response> => {
    const limit = new AbortController();
    const timer = setTimeout(() => limit.abort(), timeoutMs);
    try {
      return await reach(settings, url, init, limit.signal);
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

async function textOf(settings: TransportSettings, url: string, init: Sent, limit: AbortSignal) {
  const answer = await reach(settings, url, init, limit);
  const text = await answer.text().catch((cause: unknown) => {
    throw lost(url, limit.aborted ? settings.timeoutMs : undefined, cause);
  });
  return { status: answer.status, headers: answer.headers, text };
}

async function reach(settings: TransportSettings, url: string, init: Sent, limit: AbortSignal): Promise<Response> {
  const { method, headers, body, signal } = init;
  const { debug, timeoutMs } = settings;
  const began = performance.now();
  debug?.(`> ${method} ${redactedUrl(url)}${body === undefined ? "" : ` ${redactedBody(body)}`}`);
  const answer = await fetch(url, {
    method,
    headers,
    redirect: "manual",
    ...(body === undefined ? {} : { body }),
    signal: signal ? AbortSignal.any([signal, limit]) : limit,
  }).catch((cause: unknown) => {
    const error = lost(url, limit.aborted ? timeoutMs : undefined, cause);
    debug?.(`< ${error.message}`);
    throw error;
  });
  debug?.(`< ${answer.status} in ${Math.round(performance.now() - began)} ms${requestOf(answer.headers)}`);
  if (answer.status >= 300 && answer.status < 400)
    throw new Error(`${new URL(url).origin} sends requests on to ${originOf(answer.headers.get("Location"), url)}`);
  return answer;
}

function requestOf(headers: Headers): string {
  const request = headers.get("x-request-id") ?? headers.get("x-oneapi-request-id");
  return request === null ? "" : `, request ${request}`;
}

/** Sends again what the gateway has no time for, as often as the settings allow. */
async function patiently<A extends { readonly status: number; readonly headers: Headers }>(
  { retries, note, inspect }: TransportSettings,
  url: string,
  init: Sent,
  send: () => Promise<A>,
): Promise<A> {
  inspect?.(init.method, url, init.body);
  for (let tries = 0; ; tries++) {
    const answer = await send();
    const wait = answer.status === 429 || answer.status === 503 ? waitOf(answer.headers, tries) : undefined;
    if (wait === undefined || tries >= retries || wait > LONGEST_WAIT_SECONDS) return answer;
    note(`${new URL(url).origin} is busy (${answer.status}); trying again in ${wait} s`);
    await pause(wait * 1000, undefined, init.signal ? { signal: init.signal } : {});
  }
}

/** Seconds; what the answer names, or longer from try to try. Several clients do not come back at once. */
function waitOf(headers: Headers, tries: number): number {
  const named = Number(headers.get("Retry-After") ?? Number.NaN);
  if (Number.isFinite(named) && named >= 0) return Math.max(1, Math.ceil(named));
  const base = PAUSES_SECONDS[Math.min(tries, PAUSES_SECONDS.length - 1)] ?? 8;
  return Math.round(base * (0.75 + Math.random() * 0.5) * 10) / 10;
}

function originOf(location: string | null, base: string): string {
  return URL.parse(location ?? "", base)?.origin ?? "nowhere";
}

/** Every JSON answer under `/api` tells its success; a proxy's page does not. */
function isEnvelope(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && "success" in value;
  } catch {
    return false;
  }
}
