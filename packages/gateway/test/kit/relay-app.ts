import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  createChannel,
  createToken,
  signIn,
  startUpstream,
  type ChannelInput,
  type Session,
  type TokenInput,
  type Upstream,
} from "@fairway/testkit";
import { afterAll, afterEach, beforeAll, beforeEach, expect } from "vitest";
import { createApp } from "../../src/composition/app.ts";
import type { App, StartedApp } from "../../src/composition/lifecycle.ts";
import { loadEnv } from "../../src/config/env.ts";
import { openDatabase, type Database } from "../../src/storage/database.ts";
import { quietLog, recordingLog } from "./support.ts";

export const ROOT_PASSWORD = "test-root-password";
/** 256 bits: a passphrase would cost each start the quarter of a second that its derivation takes. */
const ENCRYPTION_KEY = "7e57".repeat(16);

/** A whole gateway in this process, with a fake upstream and a signed-in super administrator. */
export interface RelayApp {
  readonly url: string;
  readonly adminUrl: string;
  readonly upstream: Upstream;
  readonly root: Session;
  readonly app: App;
  /** A connection of its own to the gateway's database, for looking. */
  readonly database: Database;
  logLines(): string;
  /** A channel to the fake upstream for the given models; answers its id. */
  channel(models: string, more?: Partial<ChannelInput>): Promise<number>;
  token(more?: TokenInput): Promise<string>;
  option(key: string, value: string | number | boolean): Promise<void>;
  post(path: string, body: unknown, key: string, more?: RequestInit): Promise<Response>;
  /** Resolves when no request is under way and every charge is in the database. */
  settled(): Promise<void>;
  close(): Promise<void>;
}

export async function startRelayApp(env: Readonly<Record<string, string>> = {}): Promise<RelayApp> {
  const folder = mkdtempSync(join(tmpdir(), "fairway-relay-"));
  const databaseUrl = env["FAIRWAY_DATABASE_URL"] ?? `sqlite:${join(folder, "fairway.db")}`;
  const upstream = await startUpstream();
  const { log, lines } = recordingLog();
  const app = await createApp(loadEnv({ ...defaults(folder, databaseUrl), ...env }), log);
  const started: StartedApp = await app.start();
  const root = await signIn(started.url, "root", ROOT_PASSWORD);
  await root.must("PUT", "/api/option/", { key: "SelfUseModeEnabled", value: "true" });
  const database = openDatabase({ url: databaseUrl, log: quietLog });
  return {
    url: started.url,
    adminUrl: started.adminUrl ?? "",
    upstream,
    root,
    app,
    database,
    logLines: lines,
    channel: (models, more = {}) => createChannel(root, { base_url: upstream.url, models, ...more }),
    token: (more) => createToken(root, more),
    option: async (key, value) => {
      await root.must("PUT", "/api/option/", { key, value: String(value) });
    },
    post: (path, body, key, more) =>
      fetch(started.url + path, {
        method: "POST",
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
        body: typeof body === "string" ? body : JSON.stringify(body),
        ...more,
      }),
    async settled() {
      const deadline = performance.now() + 15_000;
      while (performance.now() < deadline) {
        const metrics = await (await fetch(`${started.adminUrl}/metrics`)).text();
        const isIdle =
          /^fairway_inflight_requests 0$/m.test(metrics) && /^fairway_settlement_queue_depth 0$/m.test(metrics);
        if (isIdle) return;
        await new Promise((resolve) => setTimeout(resolve, 25));
      }
      throw new Error("requests are still under way");
    },
    async close() {
      await database.close();
      await app.stop();
      await upstream.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function defaults(folder: string, databaseUrl: string): Record<string, string> {
  return {
    FAIRWAY_HOST: "127.0.0.1",
    FAIRWAY_PORT: "0",
    FAIRWAY_ADMIN_PORT: "0",
    FAIRWAY_DATA_DIR: folder,
    FAIRWAY_DATABASE_URL: databaseUrl,
    FAIRWAY_ENCRYPTION_KEY: ENCRYPTION_KEY,
    FAIRWAY_ROOT_PASSWORD: ROOT_PASSWORD,
    FAIRWAY_DEMO: "off",
    FAIRWAY_FIRST_RETRIES: "0",
    FAIRWAY_LIMIT_API: "off",
    FAIRWAY_LIMIT_WEB: "off",
    FAIRWAY_LIMIT_CRITICAL: "off",
    FAIRWAY_DRAIN_SECONDS: "5",
    FAIRWAY_BATCH_INTERVAL_MS: "250",
  };
}

/** Everything that tests of the relay share: a gateway with short time limits, and the books after each test. */
export interface RelayBench {
  readonly gateway: RelayApp;
  /** An unlimited key. */
  readonly key: string;
  /** A chat of one message. */
  ask(model: string, more?: object): Promise<Response>;
}

/** Registers the hooks of a test file; the fields can be read inside of tests. */
export function useRelay(): RelayBench {
  let gateway: RelayApp | undefined;
  let key = "";
  const running = () => {
    if (!gateway) throw new Error("the gateway is not started yet");
    return gateway;
  };
  beforeAll(async () => {
    gateway = await startRelayApp({
      FAIRWAY_STREAM_IDLE_TIMEOUT_MS: "1000",
      FAIRWAY_STREAM_HEADER_TIMEOUT_MS: "1500",
      FAIRWAY_HEADER_TIMEOUT_MS: "1500",
      FAIRWAY_CONTENT_TIMEOUT_MS: "2000",
    });
    key = await gateway.token();
  });
  afterAll(() => gateway?.close());
  beforeEach(() => running().upstream.reset());
  afterEach(() => booksBalance(running()));
  return {
    get gateway() {
      return running();
    },
    get key() {
      return key;
    },
    ask: (model, more) => running().post("/v1/chat/completions", chat(model, more), key),
  };
}

/** No hold is left, and ledger and logs equal the change of the balance. */
async function booksBalance(gateway: RelayApp): Promise<void> {
  await gateway.settled();
  const { quota, held, ledger, logs, holds } = await books(gateway);
  expect({ held, holds, ledger, logs }).toEqual({ held: 0, holds: 0, ledger: quota, logs: quota === 0 ? 0 : -quota });
}

export function chat(model: string, more: object = {}): object {
  return { model, messages: [{ role: "user", content: "hi" }], ...more };
}

/** The event blocks of a stream. */
export function splitEvents(text: string): string[] {
  return text.split("\n\n").filter((block) => block !== "");
}

export interface ClientError {
  readonly message: string;
  readonly type: string;
  readonly param: string | null;
  readonly code: string | null;
}

/** The error of an answer in the OpenAI envelope. */
export async function readError(response: Response): Promise<ClientError> {
  return ((await response.json()) as { error: ClientError }).error;
}

export interface ConsumeRow {
  readonly quota: number;
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly channel_id: number;
  readonly is_stream: number;
  readonly request_id: string;
  readonly model_name: string;
  readonly other: Readonly<Record<string, unknown>> & {
    readonly admin_info: { readonly use_channel: readonly string[] };
  };
}

/** The consumption rows of a request id, or all of them. */
export async function consumeRows({ database }: RelayApp, requestId?: string): Promise<ConsumeRow[]> {
  let query = database.db.selectFrom("logs").selectAll().where("type", "=", 2).orderBy("id");
  if (requestId !== undefined) query = query.where("request_id", "=", requestId);
  const rows = await query.execute();
  return rows.map((row) => ({ ...row, other: JSON.parse(row.other) as ConsumeRow["other"] }));
}

export interface Books {
  readonly quota: number;
  readonly held: number;
  readonly ledger: number;
  readonly logs: number;
  readonly holds: number;
}

/** The super administrator's money from every side; `quota` counts from the gift of the first start. */
export async function books({ database }: RelayApp): Promise<Books> {
  const [user] = await database.raw.rows<{ quota: number; held: number }>(
    "select quota, held from users where username = ?",
    ["root"],
  );
  const sum = async (sql: string) => Number((await database.raw.rows<{ sum: number | null }>(sql, []))[0]?.sum ?? 0);
  return {
    quota: (user?.quota ?? 0) - 100_000_000,
    held: user?.held ?? 0,
    ledger: await sum("select sum(quota) as sum from ledger where request_id <> 'first-balance-1'"),
    logs: await sum("select sum(quota) as sum from logs where type = 2 and user_id = 1"),
    holds: await sum("select count(*) as sum from holds"),
  };
}
