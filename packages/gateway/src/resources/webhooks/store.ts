import { deliveryState, type Webhook, type WebhookDelivery, type WebhookFormat } from "@fairway/wire";
import type { Kysely, Selectable } from "kysely";
import { findEventType } from "../../events/catalogue.ts";
import type { Clock } from "../../lib/clock.ts";
import { seconds } from "../../lib/clock.ts";
import type { Database } from "../../storage/database.ts";
import { insertRow, upsertSql } from "../../storage/inserts.ts";
import type { Vault } from "../../storage/secrets/secrets.ts";
import type { Schema } from "../../storage/tables/schema.ts";
import type { DeliveryState, Severity, WebhookEndpointTable } from "../../storage/tables/schema-events.ts";
import { transact } from "../../storage/transaction.ts";
import { ENDPOINT_COLUMNS, openTarget, readEndpoint, sealTarget } from "../../webhooks/endpoint-row.ts";
import { DELIVERIES } from "../../webhooks/fan-out.ts";
import type { Endpoint, Target } from "../../webhooks/types.ts";

export interface WebhookStoreDeps {
  readonly database: Database;
  readonly vault: Pick<Vault, "seal" | "open">;
  readonly clock: Clock;
}

/** Columns that their owner sets. */
export type EndpointValues = Partial<
  Pick<
    Selectable<WebhookEndpointTable>,
    | "name"
    | "format"
    | "host"
    | "types"
    | "min_severity"
    | "language"
    | "quiet"
    | "group_seconds"
    | "ordered"
    | "status"
  >
>;

export interface DeliveryQuery {
  readonly state: string;
  readonly type: string;
  readonly offset: number;
  readonly limit: number;
}

const MAIL = "mail";

/** An endpoint that a person added; mails follow from preferences and are in no list. */
export type PostedEndpoint = Endpoint & { readonly format: WebhookFormat };

function isPosted(endpoint: Endpoint): endpoint is PostedEndpoint {
  return endpoint.format !== MAIL;
}

export type WebhookStore = ReturnType<typeof createWebhookStore>;

/** Creates the SQL of endpoints. Each call names the owner, so that no one reaches the endpoint of another. */
export function createWebhookStore(deps: WebhookStoreDeps) {
  const { database, vault, clock } = deps;
  const { db } = database;
  const rows = () => db.selectFrom("webhook_endpoints").select([...ENDPOINT_COLUMNS]);
  const find = async (owner: string, id: number): Promise<PostedEndpoint | undefined> => {
    const row = await rows().where("id", "=", id).where("owner", "=", owner).executeTakeFirst();
    const endpoint = row && readEndpoint(row);
    return endpoint && isPosted(endpoint) ? endpoint : undefined;
  };
  return {
    find,

    async list(owner: string): Promise<PostedEndpoint[]> {
      return (await rows().where("owner", "=", owner).orderBy("id").execute()).map(readEndpoint).filter(isPosted);
    },

    /** Returns undefined if the owner has `max` endpoints already. */
    create: (owner: string, values: Required<EndpointValues>, { target, max }: { target: Target; max: number }) =>
      transact(db, async (trx) => {
        const id = await insertRow(trx, "webhook_endpoints", { ...values, ...buildNew(owner, seconds(clock)) });
        const { n } = await trx
          .selectFrom("webhook_endpoints")
          .select((eb) => eb.fn.countAll<number>().as("n"))
          .where("owner", "=", owner)
          .where("format", "!=", MAIL)
          .executeTakeFirstOrThrow();
        if (Number(n) > max) {
          await trx.deleteFrom("webhook_endpoints").where("id", "=", id).execute();
          return undefined;
        }
        const sealed = { target_sealed: sealTarget(vault, id, target) };
        await trx.updateTable("webhook_endpoints").set(sealed).where("id", "=", id).execute();
        return id;
      }),

    /** With a change of the target, reads and writes it in one transaction. */
    change: (owner: string, id: number, values: EndpointValues, changeTarget?: (target: Target) => Target) =>
      transact(db, async (trx) => {
        const own = trx.updateTable("webhook_endpoints").set({ ...values, updated_at: seconds(clock) });
        await own.where("id", "=", id).where("owner", "=", owner).execute();
        if (!changeTarget) return;
        const row = trx.selectFrom("webhook_endpoints").select("target_sealed").where("id", "=", id);
        const sealed = (await row.where("owner", "=", owner).executeTakeFirst())?.target_sealed;
        if (!sealed) return;
        const target_sealed = sealTarget(vault, id, changeTarget(openTarget(vault, id, sealed)));
        await trx.updateTable("webhook_endpoints").set({ target_sealed }).where("id", "=", id).execute();
      }),

    async readTarget(id: number): Promise<Target | undefined> {
      const row = db.selectFrom("webhook_endpoints").select("target_sealed").where("id", "=", id);
      const sealed = (await row.executeTakeFirst())?.target_sealed;
      return sealed ? openTarget(vault, id, sealed) : undefined;
    },

    passTest: (id: number) => passTest(deps, id),

    remove: (owner: string, id: number) =>
      transact(db, async (trx) => {
        const own = trx.deleteFrom("webhook_endpoints").where("id", "=", id).where("owner", "=", owner);
        if ((await own.where("format", "!=", MAIL).executeTakeFirst()).numDeletedRows === 0n) return false;
        await trx.deleteFrom("webhook_deliveries").where("endpoint_id", "=", id).execute();
        return true;
      }),

    deliveries: (id: number, query: DeliveryQuery) => listDeliveries(deps, id, query),
    redeliver: (id: number, deliveryId: number) => redeliver(deps, id, deliveryId),
    recover: (endpoint: Endpoint, eventIds: readonly number[]) => recover(deps, endpoint, eventIds),
  };
}

/** Removes every endpoint of an owner whose account is deleted, in the transaction that deletes it. */
export async function removeUserEndpoints(trx: Kysely<Schema>, owner: string): Promise<void> {
  const own = await trx.selectFrom("webhook_endpoints").select("id").where("owner", "=", owner).execute();
  if (own.length === 0) return;
  const ids = own.map(({ id }) => id);
  await trx.deleteFrom("webhook_endpoints").where("id", "in", ids).execute();
  await trx.deleteFrom("webhook_deliveries").where("endpoint_id", "in", ids).execute();
}

/** Switches an endpoint on after a test, with a clean record. */
async function passTest({ database: { db }, clock }: WebhookStoreDeps, id: number): Promise<void> {
  const clean = { failures: 0, timeouts: 0, failing_since: 0, next_at_ms: 0, disabled_reason: "" };
  const on = { ...clean, status: "on", succeeded_at: seconds(clock) } as const;
  await db.updateTable("webhook_endpoints").set(on).where("id", "=", id).execute();
}

function buildNew(owner: string, now: number) {
  return { owner, disabled_reason: "", created_at: now, updated_at: now };
}

async function listDeliveries({ database: { db } }: WebhookStoreDeps, id: number, query: DeliveryQuery) {
  let rows = db
    .selectFrom("webhook_deliveries as d")
    .leftJoin("events as e", "e.id", "d.event_id")
    .where("d.endpoint_id", "=", id);
  if (query.state !== "") rows = rows.where("d.state", "=", findState(query.state));
  if (query.type !== "") rows = rows.where("e.type", "=", findEventType(query.type) ? query.type : UNKNOWN);
  const { n } = await rows.select((eb) => eb.fn.countAll<number>().as("n")).executeTakeFirstOrThrow();
  const page = await rows
    .select(["d.id", "d.event_id", "d.state", "d.attempts", "d.redelivery", "d.created_ms", "d.next_at_ms"])
    .select(["d.last_status", "d.last_error", "d.last_ms", "e.type", "e.severity"])
    .orderBy("d.id", "desc")
    .limit(query.limit)
    .offset(query.offset)
    .execute();
  const shown = page.map((row): WebhookDelivery => ({
    ...row,
    type: row.type ?? "",
    severity: row.severity ?? "info",
  }));
  return { rows: shown, total: Number(n) };
}

/** Matches no row: the columns take ASCII letters only, and a query may have any. */
const UNKNOWN = "-";

function findState(text: string): DeliveryState {
  const state = deliveryState.safeParse(text);
  return state.success ? state.data : (UNKNOWN as DeliveryState);
}

/** Returns the number of the new delivery; undefined if there is no such delivery, or its event no longer exists. */
function redeliver({ database: { raw }, clock }: WebhookStoreDeps, id: number, deliveryId: number) {
  return raw.transaction(async (tx) => {
    const found = await tx.rows<{ event_id: number }>(
      "select d.event_id from webhook_deliveries d join events e on e.id = d.event_id where d.id = ? and d.endpoint_id = ?",
      [deliveryId, id],
    );
    const eventId = found[0]?.event_id;
    if (eventId === undefined) return undefined;
    const [last] = await tx.rows<{ n: number }>(
      "select max(redelivery) as n from webhook_deliveries where event_id = ? and endpoint_id = ?",
      [eventId, id],
    );
    const redelivery = Number(last?.n ?? 0) + 1;
    const now = clock.now();
    await tx.run(upsertSql(raw.kind, DELIVERIES), [eventId, id, redelivery, "waiting", now, now, "", ""]);
    return redelivery;
  });
}

/** Gives the events deliveries unless one is accepted or waits; returns how many. */
function recover({ database: { raw }, clock }: WebhookStoreDeps, { id }: Endpoint, eventIds: readonly number[]) {
  return raw.transaction(async (tx) => {
    const now = clock.now();
    let made = 0;
    for (const eventId of eventIds) {
      const found = await tx.rows<{ state: DeliveryState; redelivery: number }>(
        "select state, redelivery from webhook_deliveries where event_id = ? and endpoint_id = ?",
        [eventId, id],
      );
      if (found.some(({ state }) => state === "done" || state === "waiting")) continue;
      const redelivery = found.length === 0 ? 0 : Math.max(...found.map((row) => row.redelivery)) + 1;
      await tx.run(upsertSql(raw.kind, DELIVERIES), [eventId, id, redelivery, "waiting", now, now, "", ""]);
      made += 1;
    }
    return made;
  });
}

export function showEndpoint(endpoint: PostedEndpoint): Webhook {
  return {
    id: endpoint.id,
    name: endpoint.name,
    format: endpoint.format,
    host: endpoint.host,
    types: [...endpoint.types],
    min_severity: endpoint.minSeverity satisfies Severity,
    language: endpoint.language,
    quiet: endpoint.quiet ?? null,
    group_seconds: endpoint.groupSeconds,
    ordered: endpoint.isOrdered,
    status: endpoint.status,
    disabled_reason: endpoint.disabledReason,
    failures: endpoint.failures,
    succeeded_at: endpoint.succeededAt,
    created_at: endpoint.createdAt,
    updated_at: endpoint.updatedAt,
  };
}
