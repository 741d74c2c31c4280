import {
  SECURITY_EVENTS,
  selfNotifications,
  selfNotificationsUpdate,
  USUAL_LIMIT,
  USUAL_MAILS,
  type Notifications,
  type WebhookLanguage,
} from "@fairway/wire";
import type { Kysely } from "kysely";
import { findEventType, type EventTypeName } from "../../events/catalogue.ts";
import { implement, type Call, type Route } from "../../http/endpoint.ts";
import { seconds } from "../../lib/clock.ts";
import { Refusal } from "../../lib/refusal.ts";
import { insertRow } from "../../storage/inserts.ts";
import type { Schema } from "../../storage/tables/schema.ts";
import { transact } from "../../storage/transaction.ts";
import { ENDPOINT_COLUMNS, readEndpoint, sealTarget } from "../../webhooks/endpoint-row.ts";
import { writeOwner } from "../../webhooks/owners.ts";
import type { Endpoint, WebhookDeps } from "../../webhooks/types.ts";
import { checkRest, writeQuiet } from "./check-input.ts";

type Deps = Pick<WebhookDeps, "database" | "vault" | "clock" | "mailer" | "options">;

/** Seconds in which events of one type become one mail. */
const GROUP_SECONDS = 60;
const NO_TARGET = { url: "", keys: [], secret: "", chatId: "" } as const;

/** Creates the calls about mails: a person's choice is an endpoint of its own format, which no list shows. */
export function notificationRoutes(deps: Deps): Route[] {
  return [
    implement(selfNotifications, ({ caller }) => show(deps, caller.userId)),
    implement(selfNotificationsUpdate, async (call) => {
      checkTypes(call.body.types ?? []);
      checkRest(call.body);
      await save(deps, call);
      return show(deps, call.caller.userId);
    }),
  ];
}

function checkTypes(types: readonly string[]): void {
  const wrong = types.find((type) => findEventType(type)?.audience === "operator");
  if (wrong !== undefined) throw new Refusal("event_type_not_mailed", { field: "types", values: { type: wrong } });
}

async function find({ database: { db } }: Deps, userId: number): Promise<Endpoint | undefined> {
  const rows = db.selectFrom("webhook_endpoints").select([...ENDPOINT_COLUMNS]);
  const own = rows.where("owner", "=", writeOwner({ scope: "user", id: userId })).where("format", "=", "mail");
  const row = await own.orderBy("id").executeTakeFirst();
  return row && readEndpoint(row);
}

async function show(deps: Deps, userId: number): Promise<Notifications> {
  const { database, mailer, options } = deps;
  const chosen = await find(deps, userId);
  const people = database.db.selectFrom("users").select(["email", "balance_limit"]).where("id", "=", userId);
  const person = await people.executeTakeFirst();
  return {
    types: [...(chosen?.types ?? USUAL_MAILS)],
    locked: [...SECURITY_EVENTS],
    language: chosen?.language ?? "en",
    quiet: chosen?.quiet ?? null,
    is_chosen: chosen !== undefined,
    email: person?.email ?? "",
    can_mail: mailer.isConfigured(),
    balance_limit: person?.balance_limit ?? null,
    usual_balance_limit: options().QuotaRemindThreshold,
  };
}

interface Adding {
  readonly vault: Deps["vault"];
  /** Epoch seconds. */
  readonly now: number;
}

/** Adds a type to what is mailed to a person, in the transaction of its cause, which has locked the person's row. */
export async function addMailedType(
  trx: Kysely<Schema>,
  { vault, now }: Adding,
  userId: number,
  type: EventTypeName,
): Promise<void> {
  const owner = writeOwner({ scope: "user", id: userId });
  const rows = trx.selectFrom("webhook_endpoints").select([...ENDPOINT_COLUMNS]);
  const row = await rows.where("owner", "=", owner).where("format", "=", "mail").orderBy("id").executeTakeFirst();
  const known = row ? readEndpoint(row).types : [...USUAL_MAILS, ...SECURITY_EVENTS];
  if (row && known.includes(type)) return;
  const types = JSON.stringify([...known, type]);
  if (!row) return insertMail(trx, { vault, values: { ...buildUsual(owner, now), types } });
  await trx.updateTable("webhook_endpoints").set({ types, updated_at: now }).where("id", "=", row.id).execute();
}

type Usual = ReturnType<typeof buildUsual>;

interface NewMail {
  readonly vault: Deps["vault"];
  readonly values: Omit<Usual, "language" | "quiet"> & {
    readonly language: WebhookLanguage;
    readonly quiet: string | null;
  };
}

async function insertMail(trx: Kysely<Schema>, { vault, values }: NewMail): Promise<void> {
  const id = await insertRow(trx, "webhook_endpoints", values);
  const sealed = { target_sealed: sealTarget(vault, id, NO_TARGET) };
  await trx.updateTable("webhook_endpoints").set(sealed).where("id", "=", id).execute();
}

/** The row of the person is locked meanwhile, so that two calls at once make one choice. */
async function save(deps: Deps, { body, caller }: Call<typeof selfNotificationsUpdate>): Promise<void> {
  const { database, vault, clock } = deps;
  const owner = writeOwner({ scope: "user", id: caller.userId });
  const now = seconds(clock);
  const values = {
    ...(body.types && { types: JSON.stringify([...new Set([...body.types, ...SECURITY_EVENTS])]) }),
    ...(body.language && { language: body.language }),
    ...(body.quiet !== undefined && { quiet: writeQuiet(body.quiet) }),
    updated_at: now,
  };
  const { balance_limit: wanted } = body;
  const limit = wanted === undefined ? {} : { balance_limit: wanted === USUAL_LIMIT ? null : wanted };
  await transact(database.db, async (trx) => {
    await trx
      .updateTable("users")
      .set((eb) => ({ status: eb.ref("status"), ...limit }))
      .where("id", "=", caller.userId)
      .execute();
    const own = trx.updateTable("webhook_endpoints").set(values).where("owner", "=", owner);
    const { numUpdatedRows: changed } = await own.where("format", "=", "mail").executeTakeFirst();
    if (changed > 0n) return;
    await insertMail(trx, { vault, values: { ...buildUsual(owner, now), ...values } });
  });
}

function buildUsual(owner: string, now: number) {
  return {
    owner,
    name: "mail",
    format: "mail",
    host: "",
    types: JSON.stringify([...USUAL_MAILS, ...SECURITY_EVENTS]),
    min_severity: "info",
    language: "en",
    quiet: null,
    group_seconds: GROUP_SECONDS,
    ordered: 0,
    status: "on",
    disabled_reason: "",
    created_at: now,
    updated_at: now,
  } as const;
}
