import type { Transaction } from "kysely";
import type { EventTypeName } from "../../events/catalogue.ts";
import { recordEvent } from "../../events/record-event.ts";
import type { Schema } from "../../storage/tables/schema.ts";

interface EventToken {
  readonly id: number;
  readonly name: string;
  readonly user_id: number;
  readonly member_id: number;
}

interface TokenEvent {
  readonly type: EventTypeName;
  readonly atMs: number;
  /** The key that it is about: one event of a type for each key. */
  readonly keyHash: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** Enough of a hash to tell the keys of one token apart. */
const HASH_CHARS = 32;

/** Writes an event about a key of a token, for its owner or the team and the member who made it. */
export async function recordTokenEvent(
  trx: Transaction<Schema>,
  { id, name, user_id: accountId, member_id: memberId }: EventToken,
  { type, atMs, keyHash, data }: TokenEvent,
): Promise<void> {
  const team = await trx.selectFrom("teams").select("id").where("account_id", "=", accountId).executeTakeFirst();
  await recordEvent(trx, {
    type,
    atMs,
    accountId,
    ...(team ? { teamId: team.id, userId: memberId } : { userId: accountId }),
    dedupKey: `${type}:${id}:${keyHash.slice(0, HASH_CHARS)}`,
    data: { id, name, ...data },
  });
}
