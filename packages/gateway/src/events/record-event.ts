import type { Kysely } from "kysely";
import type { RawDatabase, RawTransaction } from "../storage/engines/raw.ts";
import { upsertSql } from "../storage/inserts.ts";
import type { Schema } from "../storage/tables/schema.ts";
import type { Severity } from "../storage/tables/schema-events.ts";
import { EVENT_TYPES, type EventTypeName } from "./catalogue.ts";

export interface NewEvent {
  readonly type: EventTypeName;
  /** Milliseconds. */
  readonly atMs: number;
  /** The account whose money it concerns. */
  readonly accountId?: number | undefined;
  readonly teamId?: number | undefined;
  /** The person who hears it; without one and without a team, only the operator does. */
  readonly userId?: number | undefined;
  /** Default: that of the type. */
  readonly severity?: Severity | undefined;
  /** Names the cause, at most 191 ASCII characters: a second event with the same key is not written. */
  readonly dedupKey: string;
  /** At most 16 KiB of JSON. No prompts, no keys, no addresses of other people. */
  readonly data: Readonly<Record<string, unknown>>;
}

const MAX_KEY_CHARACTERS = 191;
const MAX_DATA_BYTES = 16 * 1024;
const COLUMNS = ["type", "at_ms", "account_id", "team_id", "user_id", "severity", "dedup_key", "data"] as const;
const INSERT = { table: "events", columns: COLUMNS, key: ["dedup_key"] } as const;

/**
 * Writes an event in the transaction of its cause, so that both are stored or neither. Does nothing if an event with
 * the same `dedupKey` exists. Throws for an event that cannot be stored, which is a mistake of the caller.
 */
export async function recordEvent(trx: Kysely<Schema>, event: NewEvent): Promise<void> {
  const insert = trx.insertInto("events").values(toRow(event));
  // MariaDB is the one without `returning` here, and has its own words for a duplicate.
  const isMysql = !trx.getExecutor().adapter.supportsReturning;
  await (isMysql ? insert.ignore() : insert.onConflict((on) => on.column("dedup_key").doNothing())).execute();
}

/** Like `recordEvent`, in a transaction of prepared statements. */
export async function recordRawEvent(tx: RawTransaction, kind: RawDatabase["kind"], event: NewEvent): Promise<void> {
  const row = toRow(event);
  await tx.run(
    upsertSql(kind, INSERT),
    COLUMNS.map((column) => row[column]),
  );
}

function toRow({ type, atMs, accountId = 0, teamId = 0, userId = 0, severity, dedupKey, data }: NewEvent) {
  if (dedupKey === "" || dedupKey.length > MAX_KEY_CHARACTERS || !/^[ -~]+$/.test(dedupKey))
    throw new TypeError(`the dedupKey of an event has 1 to ${MAX_KEY_CHARACTERS} ASCII characters`);
  const json = JSON.stringify(data);
  if (Buffer.byteLength(json) > MAX_DATA_BYTES)
    throw new TypeError(`the data of ${type} has more than ${MAX_DATA_BYTES} bytes`);
  const known = EVENT_TYPES[type];
  const isPrivate = known.audience === "operator";
  return {
    type,
    at_ms: atMs,
    account_id: accountId,
    team_id: isPrivate ? 0 : teamId,
    user_id: isPrivate ? 0 : userId,
    severity: severity ?? known.severity,
    dedup_key: dedupKey,
    data: json,
  };
}

/** Returns a key for an observation of a replica: several replicas that see the same in one slot make one event. */
export function buildSlotKey(
  type: EventTypeName,
  subject: string | number,
  slot: { readonly atMs: number; readonly ms: number },
): string {
  return `${type}:${subject}:${Math.floor(slot.atMs / slot.ms)}`;
}
