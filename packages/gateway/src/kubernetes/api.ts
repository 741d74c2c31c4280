import { readFileSync } from "node:fs";
import type { KubeConfig } from "@kubernetes/client-node";
import { createInterface } from "node:readline";
import { Readable } from "node:stream";
import { Agent, fetch, type Response } from "undici";
import { parseObject } from "../lib/text/json.ts";

/** The parts of the Kubernetes API that the controller uses. */
export interface KubeApi {
  readonly server: string;
  /** Namespace of the configuration; undefined where it names none. */
  readonly namespace: string | undefined;
  /** All pages of a list. */
  list(query: ListQuery, signal: AbortSignal): Promise<List>;
  /** Resolves when the server ends the watch. Throws a KubeError with status 410 when the version is too old. */
  watch(query: ListQuery, resourceVersion: string, on: (event: WatchEvent) => void, signal: AbortSignal): Promise<void>;
  get(path: string, signal: AbortSignal): Promise<KubeObject>;
  /** A merge patch. */
  patch(path: string, body: object, signal: AbortSignal): Promise<KubeObject>;
  create(path: string, body: object, signal: AbortSignal): Promise<KubeObject>;
  /** Status 409 when the object has another version than the one in the body. */
  replace(path: string, body: object, signal: AbortSignal): Promise<KubeObject>;
  close(): Promise<void>;
}

export interface ListQuery {
  readonly path: string;
  readonly fieldSelector?: string;
}

export interface List {
  readonly items: readonly KubeObject[];
  readonly resourceVersion: string;
}

export interface WatchEvent {
  readonly type: "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK";
  readonly object: KubeObject;
}

/** An object of any kind. What is not in `metadata` is checked where it is read. */
export interface KubeObject {
  readonly kind?: string;
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

export const NAMESPACE_FILE = "/var/run/secrets/kubernetes.io/serviceaccount/namespace";
export const GONE = 410;
const PAGE = "500";
const ANSWER_MS = 15_000;
/** The server ends a watch after this time, so that a connection that died unnoticed is replaced. */
const WATCH_SECONDS = 300;
/** Bookmarks arrive about once a minute. */
const SILENCE_MS = 150_000;

/** The API server of the pod, or of `configFile`. Loads the Kubernetes client, which takes 0.3 s and 80 MB. */
export async function connect(configFile: string | undefined): Promise<KubeApi> {
  const { KubeConfig: Config } = await import("@kubernetes/client-node");
  const config = new Config();
  if (configFile === undefined) config.loadFromCluster();
  else config.loadFromFile(configFile);
  return new HttpKubeApi(config);
}

/** Undefined outside of a pod, and in a pod without the token of its service account. */
export function podNamespace(): string | undefined {
  try {
    return readFileSync(NAMESPACE_FILE, "utf8").trim();
  } catch {
    return undefined;
  }
}

interface Call {
  readonly method: string;
  readonly path: string;
  readonly query?: Readonly<Record<string, string | undefined>>;
  readonly body?: { readonly type: string; readonly value: object };
}

class HttpKubeApi implements KubeApi {
  readonly server: string;
  readonly namespace: string | undefined;
  readonly #config: KubeConfig;
  #agent: { readonly key: string; readonly agent: Agent } | undefined;

  constructor(config: KubeConfig) {
    const cluster = config.getCurrentCluster();
    if (!cluster) throw new Error("the Kubernetes configuration names no current cluster");
    this.#config = config;
    this.server = cluster.server.replace(/\/$/, "");
    this.namespace = config.getContextObject(config.getCurrentContext())?.namespace;
  }

  async list({ path, fieldSelector }: ListQuery, signal: AbortSignal): Promise<List> {
    const items: KubeObject[] = [];
    let next: string | undefined;
    for (;;) {
      const query = { limit: PAGE, fieldSelector, continue: next };
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
    { path, fieldSelector }: ListQuery,
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
      fieldSelector,
    };
    try {
      const response = await this.#send({ method: "GET", path, query }, AbortSignal.any([signal, silence.signal]));
      if (!response.body) return;
      for await (const line of createInterface(Readable.fromWeb(response.body))) {
        timer.refresh();
        on(eventOf(line));
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
    const response = await this.#send(call, AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS)]));
    return (await response.json()) as KubeObject;
  }

  async #send({ method, path, query = {}, body }: Call, signal: AbortSignal): Promise<Response> {
    const url = new URL(this.server + path);
    for (const [name, value] of Object.entries(query)) if (value !== undefined) url.searchParams.set(name, value);
    const { headers, agent } = await this.#access();
    const response = await fetch(url, {
      method,
      headers: { ...headers, accept: "application/json", ...(body && { "content-type": body.type }) },
      dispatcher: agent,
      signal,
      ...(body && { body: JSON.stringify(body.value) }),
    });
    if (response.ok) return response;
    throw await refusalOf(response);
  }

  /** Tokens change on disk, so the headers are made for each call; connections last while the certificates do. */
  async #access(): Promise<{ headers: Record<string, string>; agent: Agent }> {
    const options: Parameters<KubeConfig["applyToHTTPSOptions"]>[0] & { servername?: string } = {};
    await this.#config.applyToHTTPSOptions(options);
    const { ca, cert, key, rejectUnauthorized, servername } = options;
    const tls = Object.fromEntries(
      Object.entries({ ca, cert, key, rejectUnauthorized, servername }).filter(([, value]) => value !== undefined),
    );
    const fingerprint = [ca, cert, key, servername].map(String).join("\n");
    if (this.#agent?.key !== fingerprint) {
      // The old one ends when its watches do.
      void this.#agent?.agent.close();
      this.#agent = { key: fingerprint, agent: new Agent({ connect: tls, bodyTimeout: 0 }) };
    }
    return { headers: options.headers as Record<string, string>, agent: this.#agent.agent };
  }
}

function eventOf(line: string): WatchEvent {
  const event = JSON.parse(line) as { readonly type: string; readonly object: KubeObject };
  if (event.type !== "ERROR") return event as WatchEvent;
  const { code = 500, message = "the watch failed" } = event.object as { code?: number; message?: string };
  throw new KubeError(code, message);
}

async function refusalOf(response: Response): Promise<KubeError> {
  const text = await response.text();
  const said = parseObject(text)?.["message"];
  return new KubeError(response.status, typeof said === "string" ? said : `the API server answered ${response.status}`);
}
