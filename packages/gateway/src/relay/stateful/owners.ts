import { seconds, type Clock } from "../../lib/clock.ts";
import type { Logger } from "../../observability/log.ts";
import type { RawDatabase } from "../../storage/engines/raw.ts";

/** The upstream account that stores a response, and its user. */
export interface ResponseOwner {
  readonly userId: number;
  readonly channelId: number;
  readonly keyIndex: number;
}

/** Knows which upstream account stores which response. */
export interface ResponseOwners {
  /** This process knows the owner at once, others as soon as it is written. */
  remember(id: string, owner: ResponseOwner): void;
  /** Finds only the user's own responses; undefined = unknown or another user's. */
  find(id: string, userId: number): Promise<ResponseOwner | undefined>;
  /** The same for many ids at once; ids that are not the user's are missing. */
  findAll(ids: readonly string[], userId: number): Promise<ReadonlyMap<string, ResponseOwner>>;
  forget(id: string, userId: number): Promise<void>;
  /** Drops entries that upstreams no longer store. */
  prune(): Promise<void>;
  /** Resolves when everything remembered is written. */
  flush(): Promise<void>;
}

export interface ResponseOwnersDeps {
  readonly raw: RawDatabase;
  readonly clock: Clock;
  readonly log: Logger;
}

const TTL_SECONDS = 30 * 86_400;
const LONGEST_ID = 191;
const MAX_WAITING = 10_000;
const ASKED_AT_ONCE = 200;

interface OwnerRow {
  readonly response_id: string;
  readonly channel_id: number;
  readonly key_index: number;
}

export function createResponseOwners({ raw, clock, log }: ResponseOwnersDeps): ResponseOwners {
  const waiting = new Map<string, OwnedId>();
  let writing: Promise<void> | undefined;

  const write = async () => {
    while (waiting.size > 0) {
      const batch = [...waiting.values()].slice(0, 100);
      await insertOwners(raw, batch, seconds(clock) + TTL_SECONDS);
      for (const { id, owner } of batch) waiting.delete(buildOwnerKey(id, owner.userId));
    }
  };

  const start = () => {
    writing ??= write()
      .catch((error: unknown) => log.error("the owners of responses could not be written", { error }))
      .finally(() => {
        writing = undefined;
      });
    return writing;
  };

  return {
    remember(id, owner) {
      if (id.length > LONGEST_ID || waiting.size >= MAX_WAITING) return;
      waiting.set(buildOwnerKey(id, owner.userId), { id, owner });
      void start();
    },
    async find(id, userId) {
      const known = waiting.get(buildOwnerKey(id, userId));
      if (known) return known.owner;
      const [row] = await raw.rows<{ channel_id: number; key_index: number }>(
        "select channel_id, key_index from response_owners where response_id = ? and user_id = ? and expires_at > ?",
        [id, userId, seconds(clock)],
      );
      return row && { userId, channelId: row.channel_id, keyIndex: row.key_index };
    },
    async findAll(ids, userId) {
      const found = new Map<string, ResponseOwner>();
      const asked = ids.filter((id) => {
        const known = waiting.get(buildOwnerKey(id, userId));
        if (known) found.set(id, known.owner);
        return !known && id.length <= LONGEST_ID;
      });
      for (let at = 0; at < asked.length; at += ASKED_AT_ONCE)
        for (const row of await selectRows(raw, asked.slice(at, at + ASKED_AT_ONCE), { userId, at: seconds(clock) }))
          found.set(row.response_id, { userId, channelId: row.channel_id, keyIndex: row.key_index });
      return found;
    },
    async forget(id, userId) {
      waiting.delete(buildOwnerKey(id, userId));
      await raw.run("delete from response_owners where response_id = ? and user_id = ?", [id, userId]);
    },
    async prune() {
      await raw.run("delete from response_owners where expires_at <= ?", [seconds(clock)]);
    },
    flush: () => start(),
  };
}

interface OwnedId {
  readonly id: string;
  readonly owner: ResponseOwner;
}

function insertOwners(raw: RawDatabase, batch: readonly OwnedId[], expiresAt: number): Promise<void> {
  return raw.transaction(async (tx) => {
    for (const { id, owner } of batch) {
      await tx.run("delete from response_owners where response_id = ? and user_id = ?", [id, owner.userId]);
      await tx.run(
        "insert into response_owners (response_id, user_id, channel_id, key_index, expires_at) values (?, ?, ?, ?, ?)",
        [id, owner.userId, owner.channelId, owner.keyIndex, expiresAt],
      );
    }
  });
}

function selectRows(
  raw: RawDatabase,
  ids: readonly string[],
  { userId, at }: { readonly userId: number; readonly at: number },
): Promise<OwnerRow[]> {
  const places = ids.map(() => "?").join(", ");
  const sql = `select response_id, channel_id, key_index from response_owners where user_id = ? and expires_at > ? and response_id in (${places})`;
  return raw.rows<OwnerRow>(sql, [userId, at, ...ids]);
}

function buildOwnerKey(id: string, userId: number): string {
  return `${userId} ${id}`;
}
