import type { Readable } from "node:stream";
import { Agent, request, type Dispatcher } from "undici";
import { parseObject } from "../../lib/text/json.ts";
import { podApiServer, type ApiServer } from "./api-server.ts";

/** The parts of the Kubernetes API that the controller uses. */
export interface KubeApi {
  readonly server: string;
  /** Namespace of the configuration; undefined if it has none. */
  readonly namespace: string | undefined;
  /** Returns all pages of a list. */
  list(query: ListQuery, signal: AbortSignal): Promise<List>;
  /**
   * Watches a list. Resolves when the server ends the watch. Throws a KubeError with status 410 if the version is too
   * old.
   */
  watch(query: ListQuery, resourceVersion: string, on: (event: WatchEvent) => void, signal: AbortSignal): Promise<void>;
  get(path: string, signal: AbortSignal): Promise<KubeObject>;
  /** Applies a merge patch. */
  patch(path: string, body: object, signal: AbortSignal): Promise<KubeObject>;
  create(path: string, body: object, signal: AbortSignal): Promise<KubeObject>;
  /** Replaces an object. Fails with status 409 if the version of the object differs from the one in the body. */
  replace(path: string, body: object, signal: AbortSignal): Promise<KubeObject>;
  close(): Promise<void>;
}

export interface ListQuery {
  readonly path: string;
  readonly fieldSelector?: string;
  readonly labelSelector?: string;
}

export interface List {
  readonly items: readonly KubeObject[];
  readonly resourceVersion: string;
}

export interface WatchEvent {
  readonly type: "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK";
  readonly object: KubeObject;
}

/** An object of any kind. Members outside `metadata` are checked by the code that reads them. */
export interface KubeObject {
  readonly kind?: string;
  /** The type of a Secret. */
  readonly type?: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly uid?: string;
    readonly resourceVersion?: string;
    readonly generation?: number;
    readonly deletionTimestamp?: string;
    readonly finalizers?: readonly string[];
    readonly annotations?: Readonly<Record<string, string>>;
    readonly labels?: Readonly<Record<string, string>>;
    readonly ownerReferences?: readonly { readonly uid: string }[];
  };
  readonly spec?: unknown;
  readonly status?: unknown;
  readonly data?: Readonly<Record<string, string>>;
}

/** A refusal of the API server. */
export class KubeError extends Error {
  override readonly name = "KubeError";
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** The API server did not answer: there is no connection, it broke, or the time for an answer is over. */
export class UnansweredError extends Error {
  override readonly name = "UnansweredError";

  constructor(cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
  }
}

export const GONE = 410;
const TOO_MANY = 429;
const SERVER_FAULT = 500;

/** True if the server could not judge the call, so that the same call may succeed later. */
export function isUnanswered(error: unknown): boolean {
  if (error instanceof KubeError) return error.status === TOO_MANY || error.status >= SERVER_FAULT;
  return error instanceof UnansweredError;
}

/** Who writes: the field manager of every change, and the client in the server's audit log. */
const MANAGER = "fairway";
const UNKNOWN_ACCOUNT = 401;
const ACCESS_MS = 10_000;
const PAGE = "500";
const ANSWER_MS = 15_000;
/** The server ends a watch after this time, so that a connection that died unnoticed is replaced. */
const WATCH_SECONDS = 300;
/** Bookmarks arrive about once a minute. */
const SILENCE_MS = 150_000;

/** Connects to the API server of the pod, or of a kubeconfig. */
export async function connect(configFile: string | undefined): Promise<KubeApi> {
  if (configFile === undefined) return new HttpKubeApi(podApiServer());
  const { kubeconfigServer } = await import("./kubeconfig.ts");
  return new HttpKubeApi(kubeconfigServer(configFile));
}

interface Call {
  readonly method: string;
  readonly path: string;
  readonly query?: Readonly<Record<string, string | undefined>>;
  readonly body?: { readonly type: string; readonly value: object };
}

type Answer = Dispatcher.ResponseData["body"] & Readable;

interface Access {
  readonly headers: Record<string, string>;
  readonly agent: Agent;
  /** Monotonic milliseconds. */
  readonly at: number;
}

class HttpKubeApi implements KubeApi {
  readonly server: string;
  readonly namespace: string | undefined;
  readonly #apiServer: ApiServer;
  #agent: { readonly key: string; readonly agent: Agent } | undefined;
  #access: Access | undefined;

  constructor(apiServer: ApiServer) {
    this.#apiServer = apiServer;
    this.server = apiServer.server;
    this.namespace = apiServer.namespace;
  }

  async list({ path, ...selectors }: ListQuery, signal: AbortSignal): Promise<List> {
    const items: KubeObject[] = [];
    let next: string | undefined;
    for (;;) {
      const query = { limit: PAGE, ...selectors, continue: next };
      const page = (await this.#json({ method: "GET", path, query }, signal)) as unknown as {
        readonly items: readonly KubeObject[];
        readonly metadata: { readonly resourceVersion: string; readonly continue?: string };
      };
      items.push(...page.items);
      next = page.metadata.continue === "" ? undefined : page.metadata.continue;
      if (next === undefined) return { items, resourceVersion: page.metadata.resourceVersion };
    }
  }

  async watch(
    { path, ...selectors }: ListQuery,
    resourceVersion: string,
    on: (event: WatchEvent) => void,
    signal: AbortSignal,
  ): Promise<void> {
    const silence = new AbortController();
    const timer = setTimeout(() => silence.abort(new Error("the watch is silent")), SILENCE_MS);
    const query = {
      watch: "true",
      allowWatchBookmarks: "true",
      timeoutSeconds: String(WATCH_SECONDS),
      resourceVersion,
      ...selectors,
    };
    try {
      const body = await this.#send({ method: "GET", path, query }, AbortSignal.any([signal, silence.signal]));
      for await (const line of readLines(body)) {
        timer.refresh();
        on(parseEvent(line));
      }
    } finally {
      clearTimeout(timer);
    }
  }

  get(path: string, signal: AbortSignal): Promise<KubeObject> {
    return this.#json({ method: "GET", path }, signal);
  }

  patch(path: string, value: object, signal: AbortSignal): Promise<KubeObject> {
    return this.#json({ method: "PATCH", path, body: { type: "application/merge-patch+json", value } }, signal);
  }

  create(path: string, value: object, signal: AbortSignal): Promise<KubeObject> {
    return this.#json({ method: "POST", path, body: { type: "application/json", value } }, signal);
  }

  replace(path: string, value: object, signal: AbortSignal): Promise<KubeObject> {
    return this.#json({ method: "PUT", path, body: { type: "application/json", value } }, signal);
  }

  async close(): Promise<void> {
    await this.#agent?.agent.destroy();
  }

  async #json(call: Call, signal: AbortSignal): Promise<KubeObject> {
    const body = await this.#send(call, AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS)]));
    const value = await body.json().catch((error: unknown) => {
      throw new UnansweredError(error);
    });
    return value as KubeObject;
  }

  async #send(call: Call, signal: AbortSignal): Promise<Answer> {
    const { method, path, body } = call;
    // Without a name, the server writes the changes of an "unknown" manager into the object.
    const query = { ...call.query, ...(body && { fieldManager: MANAGER }) };
    const url = new URL(this.server + path);
    for (const [name, value] of Object.entries(query)) if (value !== undefined) url.searchParams.set(name, value);
    const { headers, agent } = await this.#current();
    const answer = await request(url, {
      method,
      headers: {
        ...headers,
        accept: "application/json",
        "user-agent": MANAGER,
        ...(body && { "content-type": body.type }),
      },
      dispatcher: agent,
      signal,
      ...(body && { body: JSON.stringify(body.value) }),
    }).catch((error: unknown) => {
      throw new UnansweredError(error);
    });
    if (answer.statusCode < 300) return answer.body;
    if (answer.statusCode === UNKNOWN_ACCOUNT) this.#access = undefined;
    throw await readKubeError(answer);
  }

  /**
   * Returns the access data. Creating them costs more than a call. Tokens change on disk, so they are created again
   * periodically and after a 401.
   */
  async #current(): Promise<Access> {
    const now = performance.now();
    if (this.#access && now - this.#access.at < ACCESS_MS) return this.#access;
    return (this.#access = { ...(await this.#makeAccess()), at: now });
  }

  /** Creates the access data; connections are reused while the certificates are the same. */
  async #makeAccess(): Promise<Omit<Access, "at">> {
    const { headers, tls } = await this.#apiServer.sign();
    const key = Object.values(tls).map(String).join("\n");
    if (this.#agent?.key !== key) {
      // The old agent closes when its watches end.
      void this.#agent?.agent.close();
      this.#agent = { key, agent: new Agent({ connect: tls, bodyTimeout: 0 }) };
    }
    return { headers, agent: this.#agent.agent };
  }
}

/**
 * Yields lines. Leaving the loop destroys the body; readline would retain it and throw its later error outside every
 * call.
 */
async function* readLines(body: Answer): AsyncGenerator<string, void> {
  let rest = "";
  const parts = (body.setEncoding("utf8") as AsyncIterable<string>)[Symbol.asyncIterator]();
  try {
    for (;;) {
      const next = await parts.next().catch((error: unknown) => {
        throw new UnansweredError(error);
      });
      if (next.done === true) break;
      const lines = (rest + next.value).split("\n");
      rest = lines.pop() ?? "";
      yield* lines;
    }
  } finally {
    await parts.return?.();
  }
  if (rest !== "") yield rest;
}

function parseEvent(line: string): WatchEvent {
  const event = JSON.parse(line) as { readonly type: string; readonly object: KubeObject };
  if (event.type !== "ERROR") return event as WatchEvent;
  const { code = 500, message = "the watch failed" } = event.object as { code?: number; message?: string };
  throw new KubeError(code, message);
}

async function readKubeError({ statusCode, body }: Dispatcher.ResponseData): Promise<KubeError> {
  const said = parseObject(await body.text())?.["message"];
  return new KubeError(statusCode, typeof said === "string" ? said : `the API server answered ${statusCode}`);
}
