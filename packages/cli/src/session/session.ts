import { createClient, type CallAnswer, type CallInput, type Client, type Endpoint, type Fetch } from "@fairway/wire";
import { readProfile, type Profile } from "./config.ts";
import { CliError, codeOf, EXIT } from "../core/exit.ts";

type Init = Parameters<Fetch>[1];

/** A whole answer of the management API. Failures of the connection name the server and the reason. */
export async function fetchJson(url: string, init: Init) {
  const limit = AbortSignal.timeout(TIMEOUT_MS);
  const answer = await reach(url, init, limit);
  const text = await answer.text().catch((cause: unknown) => {
    throw lost(url, limit, cause);
  });
  const { status } = answer;
  if ((status < 300 || status === 404) && !isEnvelope(text))
    throw new Error(`${url.split("/api/", 1)[0]} is no Fairway gateway`);
  return { status, headers: answer.headers, text: () => Promise.resolve(text) };
}

/** The head of an answer. `limit` ends it with the words of a silent server, `init.signal` as it is. */
export async function reach(
  url: string,
  { method, headers, body, signal }: Omit<Init, "credentials">,
  limit: AbortSignal,
): Promise<Response> {
  const answer = await fetch(url, {
    method,
    headers,
    redirect: "manual",
    ...(body === undefined ? {} : { body }),
    signal: signal ? AbortSignal.any([signal, limit]) : limit,
  }).catch((cause: unknown) => {
    throw lost(url, limit, cause);
  });
  if (answer.status >= 300 && answer.status < 400)
    throw new Error(`${new URL(url).origin} sends requests on to ${originOf(answer.headers.get("Location"), url)}`);
  return answer;
}

function lost(url: string, limit: AbortSignal, cause: unknown): Error {
  const { origin } = new URL(url);
  const words = limit.aborted
    ? `${origin} gave no answer within ${TIMEOUT_MS / 1000} s`
    : `${origin} cannot be reached: ${reasonOf(cause)}`;
  return new Error(words, { cause });
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

/** The system's code where there is one; those of the HTTP client say less than its words. */
function reasonOf(thrown: unknown): string {
  const root = thrown instanceof Error && thrown.cause instanceof Error ? thrown.cause : thrown;
  const code = codeOf(root);
  return code.startsWith("UND_ERR") ? (root as Error).message : code;
}

const TIMEOUT_MS = 60_000;

/** What a call answers while it is still being written. */
export interface LiveAnswer {
  readonly body: AsyncIterable<Uint8Array>;
  /** Epoch seconds by the clock of the server. */
  readonly at: number;
}

export interface SessionClient extends Client {
  /** The data with the tag of its version, for `If-Match` of a change that must not undo another's. */
  read<E extends Endpoint>(endpoint: E, input: CallInput<E>): Promise<{ data: CallAnswer<E>["data"]; tag: string }>;
  /** An answer that is read as it comes. */
  open<E extends Endpoint>(endpoint: E, input: CallInput<E>): Promise<LiveAnswer>;
}

export interface Session {
  readonly client: SessionClient;
  readonly profile: Profile;
}

/** A client for the signed-in profile; fails with exit 4 when there is none. */
export function openSession(env: Readonly<Record<string, string | undefined>>): Session {
  const profile = readProfile(env);
  if (!profile) throw new CliError("you are not signed in", EXIT.notSignedIn, "sign in with `fairway login URL`");
  return { client: clientOf(profile), profile };
}

export function clientOf(profile: Profile): SessionClient {
  const headers = {
    Authorization: `Bearer ${profile.token}`,
    ...(profile.userId > 0 ? { "New-Api-User": String(profile.userId) } : {}),
  };
  const settings = { baseUrl: profile.server, headers: () => headers };
  return {
    ...createClient({ ...settings, fetch: fetchJson }),
    async read(endpoint, input) {
      let tag = "";
      const keeping: Fetch = async (url, init) => {
        const answer = await fetchJson(url, init);
        tag = answer.headers.get("ETag") ?? "";
        return answer;
      };
      const { data } = await createClient({ ...settings, fetch: keeping }).call(endpoint, input);
      return { data, tag };
    },
    async open(endpoint, input) {
      let answer: Response | undefined;
      const opening: Fetch = async (url, init) => {
        const head = await openHead(url, init);
        if (head.status >= 400) return head;
        answer = head;
        return { status: head.status, headers: head.headers, text: () => Promise.resolve(OPENED) };
      };
      await createClient({ ...settings, fetch: opening }).call(endpoint, input);
      const at = Date.parse(answer?.headers.get("Date") ?? "");
      return {
        body: answer?.body ?? new ReadableStream(),
        at: Math.floor((Number.isNaN(at) ? Date.now() : at) / 1000),
      };
    },
  };
}

/** Stands for the body of an answer that is not read here. */
const OPENED = JSON.stringify({ success: true });

/** Only the head has to come in time. */
async function openHead(url: string, init: Init): Promise<Response> {
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(), TIMEOUT_MS);
  try {
    return await reach(url, init, limit.signal);
  } finally {
    clearTimeout(timer);
  }
}
