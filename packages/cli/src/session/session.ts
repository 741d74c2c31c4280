import { createClient, type CallAnswer, type CallInput, type Client, type Endpoint, type Fetch } from "@fairway/wire";
import { readProfile, loadToken, type Profile } from "./config.ts";
import { CliError, EXIT } from "../core/exit.ts";
import { createNamingClient } from "./named-problem.ts";
import type { Answer, AnswerHead } from "./request.ts";
import type { Transport } from "./transport.ts";

/** The answer of a call while it is still being written. */
export interface LiveAnswer {
  readonly body: AsyncIterable<Uint8Array>;
  /** Epoch seconds by the clock of the server. */
  readonly at: number;
}

export interface SessionClient extends Client {
  /** Returns the data with its version tag, for the `If-Match` of a change that must not overwrite another. */
  read<E extends Endpoint>(endpoint: E, input: CallInput<E>): Promise<{ data: CallAnswer<E>["data"]; tag: string }>;
  /** Makes a call whose status and headers are available before its answer is read. */
  inspect<E extends Endpoint>(
    endpoint: E,
    input: CallInput<E>,
    onHead: (head: AnswerHead) => void,
  ): Promise<CallAnswer<E>>;
  /** Opens an answer that is read as it arrives. */
  open<E extends Endpoint>(endpoint: E, input: CallInput<E>): Promise<LiveAnswer>;
}

export interface Session {
  readonly client: SessionClient;
  readonly profile: Profile;
  readonly transport: Transport;
}

/** Returns a client for the signed-in profile; fails with exit 4 if there is none. */
export async function openSession(
  env: Readonly<Record<string, string | undefined>>,
  transport: Transport,
): Promise<Session> {
  const stored = readProfile(env);
  if (!stored) throw new CliError("you are not signed in", EXIT.notSignedIn, "sign in with `fairway login URL`");
  const profile = { ...stored, token: await loadToken(stored) };
  return { client: createSessionClient(profile, transport), profile, transport };
}

export function createSessionClient(profile: Profile, transport: Transport): SessionClient {
  const headers = {
    Authorization: `Bearer ${profile.token}`,
    ...(profile.userId > 0 ? { "New-Api-User": String(profile.userId) } : {}),
  };
  const settings = { baseUrl: profile.server, headers: () => headers };
  const inspect: SessionClient["inspect"] = (endpoint, input, onHead) => {
    const keeping: Fetch = async (url, init) => {
      const answer = await transport.json(url, init);
      onHead(answer);
      return answer;
    };
    return createNamingClient(createClient({ ...settings, fetch: keeping })).call(endpoint, input);
  };
  return {
    ...createNamingClient(createClient({ ...settings, fetch: transport.json })),
    async read(endpoint, input) {
      let tag = "";
      const { data } = await inspect(endpoint, input, ({ headers }) => void (tag = headers.get("ETag") ?? ""));
      return { data, tag };
    },
    inspect,
    async open(endpoint, input) {
      let answer: Answer | undefined;
      const opening: Fetch = async (url, init) => {
        const head = await transport.head(url, init);
        // A refusal has status 200, too, and is the only JSON among the answers that are read as they arrive.
        const isJson = head.headers.get("Content-Type")?.startsWith("application/json") === true;
        if (head.status >= 400 || isJson) return head;
        answer = head;
        return { status: head.status, headers: head.headers, text: () => Promise.resolve(OPENED) };
      };
      await createNamingClient(createClient({ ...settings, fetch: opening })).call(endpoint, input);
      const at = Date.parse(answer?.headers.get("Date") ?? "");
      return {
        body: answer?.body ?? new ReadableStream(),
        at: Math.floor((Number.isNaN(at) ? Date.now() : at) / 1000),
      };
    },
  };
}

/** Replaces the body of an answer that is not read here. */
const OPENED = JSON.stringify({ success: true });
