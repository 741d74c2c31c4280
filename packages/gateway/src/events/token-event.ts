import type { Kysely } from "kysely";
import type { RawDatabase, RawTransaction } from "../storage/engines/raw.ts";
import type { Schema } from "../storage/tables/schema.ts";
import type { EventTypeName } from "./catalogue.ts";
import { recordEvent, recordRawEvent, type NewEvent } from "./record-event.ts";

/** The columns of a token that its events need. */
export interface EventToken {
  readonly id: number;
  readonly name: string;
  readonly user_id: number;
  readonly member_id: number;
}

export interface TokenEvent {
  readonly type: EventTypeName;
  readonly atMs: number;
  /** What the event is about, such as the hash of a key or a time: one event of a type for each. */
  readonly about: string | number;
  readonly data: Readonly<Record<string, unknown>>;
}

/** Enough of a hash to tell the keys of one token apart. */
const ABOUT_CHARS = 32;

/** Writes an event about a token, for its owner or the team and the member who made it. */
export async function recordTokenEvent(trx: Kysely<Schema>, token: EventToken, event: TokenEvent): Promise<void> {
  const teams = trx.selectFrom("teams").select("id").where("account_id", "=", token.user_id);
  await recordEvent(trx, buildTokenEvent(token, (await teams.executeTakeFirst())?.id, event));
}

/** Like `recordTokenEvent`, in a transaction of prepared statements. */
export async function recordRawTokenEvent(
  tx: RawTransaction,
  kind: RawDatabase["kind"],
  token: EventToken,
  event: TokenEvent,
): Promise<void> {
  const [team] = await tx.rows<{ id: number }>("select id from teams where account_id = ?", [token.user_id]);
  await recordRawEvent(tx, kind, buildTokenEvent(token, team && Number(team.id), event));
}

function buildTokenEvent(
  { id, name, user_id: accountId, member_id: memberId }: EventToken,
  teamId: number | undefined,
  { type, atMs, about, data }: TokenEvent,
): NewEvent {
  return {
    type,
    atMs,
    accountId,
    ...(teamId === undefined ? { userId: accountId } : { teamId, userId: memberId }),
    dedupKey: `${type}:${id}:${String(about).slice(0, ABOUT_CHARS)}`,
    data: { id, name, ...data },
  };
}
