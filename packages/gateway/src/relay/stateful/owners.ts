import { seconds, type Clock } from "../../lib/clock.ts";
import type { Logger } from "../../observability/log.ts";
import type { ChannelRecord } from "../../providers/core/types.ts";
import { findMarkedKey, markKey, type HashKey } from "../../snapshot/key-marks.ts";
import type { RawDatabase } from "../../storage/engines/raw.ts";

/** The upstream account that stores a response, and its user. */
export interface ResponseOwner {
  readonly userId: number;
  readonly channelId: number;
  /** The place of the account's key in the channel as it is now; -1 if the channel or the key was removed. */
  readonly keyIndex: number;
}

/** The account that has just answered. */
export interface AnsweringAccount {
  readonly userId: number;
  readonly channel: ChannelRecord;
  readonly keyIndex: number;
}

/** Knows which upstream account stores which response. */
export interface ResponseOwners {
  /** This process knows the owner at once, others as soon as it is written. */
  remember(id: string, account: AnsweringAccount): void;
  /** Calls the function with each id that is remembered, which must not throw. */
  watch(note: (id: string, account: AnsweringAccount) => void): void;
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
  readonly channels: () => ReadonlyMap<number, ChannelRecord>;
  readonly hashKey: HashKey;
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
  /** "" in rows of a version that stored the index alone. */
  readonly key_mark: string;
  readonly key_index: number;
}

export function createResponseOwners(deps: ResponseOwnersDeps): ResponseOwners {
  const { raw, clock, log, hashKey } = deps;
  const locate = (row: Omit<OwnerRow, "response_id">, userId: number) => locateKey(row, userId, deps);
  const waiting = new Map<string, OwnedId>();
  const watchers: ((id: string, account: AnsweringAccount) => void)[] = [];
  let writing: Promise<void> | undefined;

  const write = async () => {
    while (waiting.size > 0) {
      const batch = [...waiting.values()].slice(0, 100);
      await insertOwners(raw, batch, seconds(clock) + TTL_SECONDS);
      for (const { row, userId } of batch) waiting.delete(buildOwnerKey(row.response_id, userId));
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
    watch: (note) => void watchers.push(note),
    remember(id, account) {
      if (id.length > LONGEST_ID || waiting.size >= MAX_WAITING) return;
      const { userId, channel, keyIndex } = account;
      for (const note of watchers) note(id, account);
      const mark = markKey(channel.keys[keyIndex] ?? "", hashKey);
      const row = { response_id: id, channel_id: channel.id, key_mark: mark, key_index: keyIndex };
      waiting.set(buildOwnerKey(id, userId), { row, userId });
      void start();
    },
    async find(id, userId) {
      const known = waiting.get(buildOwnerKey(id, userId));
      if (known) return locate(known.row, userId);
      const [row] = await selectRows(raw, [id], { userId, at: seconds(clock) });
      return row && locate(row, userId);
    },
    async findAll(ids, userId) {
      const found = new Map<string, ResponseOwner>();
      const asked = ids.filter((id) => {
        const known = waiting.get(buildOwnerKey(id, userId));
        if (known) found.set(id, locate(known.row, userId));
        return !known && id.length <= LONGEST_ID;
      });
      for (let at = 0; at < asked.length; at += ASKED_AT_ONCE)
        for (const row of await selectRows(raw, asked.slice(at, at + ASKED_AT_ONCE), { userId, at: seconds(clock) }))
          found.set(row.response_id, locate(row, userId));
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
  readonly row: OwnerRow;
  readonly userId: number;
}

/** Finds the key in the channel as it is now, so that a call never goes to the account of another key. */
function locateKey(
  { channel_id: channelId, key_mark: mark, key_index: index }: Omit<OwnerRow, "response_id">,
  userId: number,
  { channels, hashKey }: Pick<ResponseOwnersDeps, "channels" | "hashKey">,
): ResponseOwner {
  const channel = channels().get(channelId);
  if (!channel) return { userId, channelId, keyIndex: -1 };
  if (mark === "") return { userId, channelId, keyIndex: index < channel.keys.length ? index : -1 };
  return { userId, channelId, keyIndex: findMarkedKey(channel, mark, hashKey) };
}

function insertOwners(raw: RawDatabase, batch: readonly OwnedId[], expiresAt: number): Promise<void> {
  return raw.transaction(async (tx) => {
    for (const { row, userId } of batch) {
      const { response_id: id, channel_id: channelId, key_index: index, key_mark: mark } = row;
      await tx.run("delete from response_owners where response_id = ? and user_id = ?", [id, userId]);
      // Replicas of an earlier version, during an update, read the index.
      await tx.run(
        "insert into response_owners (response_id, user_id, channel_id, key_index, key_mark, expires_at) values (?, ?, ?, ?, ?, ?)",
        [id, userId, channelId, index, mark, expiresAt],
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
  const sql = `select response_id, channel_id, key_mark, key_index from response_owners where user_id = ? and expires_at > ? and response_id in (${places})`;
  return raw.rows<OwnerRow>(sql, [userId, at, ...ids]);
}

function buildOwnerKey(id: string, userId: number): string {
  return `${userId} ${id}`;
}
