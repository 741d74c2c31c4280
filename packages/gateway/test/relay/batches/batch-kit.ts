import { createToken, type Session } from "@fairway/testkit";
import { expect } from "vitest";
import { NEVER } from "../../../src/batches/lost.ts";
import { startRelayApp, type RelayApp } from "../../kit/relay-app.ts";

export interface LedgerRow {
  readonly request_id: string;
  readonly kind: string;
  readonly quota: number;
}

/** A gateway with a channel that takes message batches. */
export interface BatchApp {
  readonly gateway: RelayApp;
  readonly key: string;
  headers(key?: string): Record<string, string>;
  /** One item as JSON. */
  item(customId: string, model?: string): string;
  create(body: string, key?: string, headers?: Readonly<Record<string, string>>): Promise<Response>;
  call(method: string, rest: string, key?: string): Promise<Response>;
  /** Creates a batch of these items. */
  open(customIds: readonly string[]): Promise<{ readonly id: string; readonly upstreamId: string }>;
  /** Reads a batch of the key's user, as the upstream has it now. */
  read(id: string): Promise<{
    readonly id: string;
    readonly processing_status: string;
    readonly results_url: string | null;
    readonly request_counts: Readonly<Record<string, number>>;
  }>;
  /** The jobs look at the batch at their next run. */
  makeDue(id: string): Promise<void>;
  /** Resolves when the batch is booked. */
  settle(id: string): Promise<void>;
  tokenOf(session: Session): Promise<string>;
  /** Open batches of all users. */
  countOpen(): Promise<number>;
}

const MODEL = "claude-haiku-4-5";
const SETTLE_MS = 20_000;

export async function startBatchApp(env: Readonly<Record<string, string>> = {}): Promise<BatchApp> {
  const gateway = await startRelayApp(env);
  await gateway.channel(`${MODEL},alias`, {
    type: 14,
    key: "sk-test",
    model_mapping: JSON.stringify({ alias: MODEL }),
  });
  const key = await gateway.token();
  const headers = (of: string = key) => ({
    "x-api-key": of,
    "anthropic-version": "2023-06-01",
    "content-type": "application/json",
  });
  const call: BatchApp["call"] = (method, rest, of) =>
    fetch(`${gateway.url}/v1/messages/batches${rest}`, { method, headers: headers(of) });
  const item: BatchApp["item"] = (customId, model = MODEL) =>
    `{"custom_id":"${customId}","params":{"model":"${model}","max_tokens":100,"messages":[{"role":"user","content":"one"}]}}`;
  const create: BatchApp["create"] = (body, of, more) =>
    fetch(`${gateway.url}/v1/messages/batches`, { method: "POST", headers: { ...headers(of), ...more }, body });
  const phaseOf = async (id: string) =>
    (await gateway.database.db.selectFrom("batches").select("phase").where("id", "=", id).executeTakeFirst())?.phase;
  const settle = async (id: string) => {
    // A read asks the upstream only if the last answer is not fresh.
    await gateway.database.db.updateTable("batches").set({ polled_at: 0 }).where("id", "=", id).execute();
    await call("GET", `/${id}`);
    await expect.poll(() => phaseOf(id), { timeout: SETTLE_MS, interval: 100 }).toBe("settled");
  };
  return {
    gateway,
    key,
    headers,
    item,
    create,
    call,
    settle,
    async makeDue(id) {
      // A batch that waits for a person stays so: a job may have found its deleted channel before the test came here.
      const due = gateway.database.db.updateTable("batches").set({ next_poll_at: 0 }).where("id", "=", id);
      await due.where("next_poll_at", "<", NEVER).execute();
    },
    async open(customIds) {
      const response = await create(`{"requests":[${customIds.map((id) => item(id)).join()}]}`);
      expect(response.status).toBe(200);
      const { id } = (await response.json()) as { id: string };
      const row = await gateway.database.db
        .selectFrom("batches")
        .select("upstream_id")
        .where("id", "=", id)
        .executeTakeFirstOrThrow();
      return { id, upstreamId: row.upstream_id };
    },
    read: async (id) => (await (await call("GET", `/${id}`)).json()) as Awaited<ReturnType<BatchApp["read"]>>,
    tokenOf: (session) => createToken(session),
    async countOpen() {
      const open = gateway.database.db.selectFrom("batches").select("id").where("phase", "in", ["creating", "open"]);
      return (await open.execute()).length;
    },
  };
}

export function readLedger({ database }: RelayApp, requestId: string | null): Promise<LedgerRow[]> {
  return database.db
    .selectFrom("ledger")
    .select(["request_id", "kind", "quota"])
    .where("request_id", "like", `${requestId}%`)
    .orderBy("id")
    .execute();
}
