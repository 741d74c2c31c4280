/** Number of parts of the key space; every script uses keys of one part, so that Redis Cluster can distribute them. */
export const SHARDS = 64;

/**
 * Names of all Redis keys. Keys of one user, including those of its tokens, have the tag of the user's shard; keys of
 * budgets have `{budgets}`, keys of the installation `{all}`.
 */
export interface Keys {
  /** Present while balances of the shard are valid; the value changes when they must be reloaded. */
  epoch(shard: number): string;
  /** Hash of open and recently closed reservations by request id. */
  holds(shard: number): string;
  /** Hash of the last reported usage of long requests. */
  seen(shard: number): string;
  /** Sorted set of request ids by the end of their lease. */
  leases(shard: number): string;
  /** Stream of charges to book in the database. */
  charges(shard: number): string;
  /** Stream of charges that the database has booked, by option. */
  retained(shard: number): string;
  /** Keys of budgets, which users of all shards share. */
  readonly budgets: BudgetKeys;
  /** The epochs of all shards, and that of the budgets. */
  readonly epochs: readonly string[];
  user(userId: number): string;
  token(userId: number, tokenId: number): string;
  /** A window or a set of leases in which a claim is counted; `name` contains no braces. */
  claim(tag: string, name: string): string;
  /** Cached answers for identical requests. */
  answers(name: string): string;
  /** Stored responses that later requests continue. */
  responses(name: string): string;
  /** Identifies the database that this prefix belongs to. */
  readonly installation: string;
  /** Sorted set of running processes by their last heartbeat. */
  readonly replicas: string;
  /** Hash: process -> epoch whose replay it has finished. */
  readonly caughtUp: string;
  /** The latest epoch that a process has begun, for an hour; missing if Redis was emptied since. */
  readonly recovering: string;
  /** Pub/sub channel. */
  channel(name: string): string;
  /** Scratch key of the writability check. */
  readonly probe: string;
}

export interface BudgetKeys {
  /** Like `epoch` of a shard. */
  readonly epoch: string;
  /** Hash of the used and the reserved amount of each budget. */
  readonly state: string;
  /** Hash of the requests that count in budgets and are not booked yet, by request id. */
  readonly holds: string;
  /** Sorted set of their request ids by the time of their next check. */
  readonly leases: string;
}

const SHARD_TAGS: readonly string[] = Array.from(
  { length: SHARDS },
  (_, shard) => `{s${String(shard).padStart(2, "0")}}`,
);

/** Returns the shard of a user, which contains all keys of that user. */
export function selectShard(userId: number): number {
  return userId % SHARDS;
}

/** Returns the tag that determines the slot of a user's keys. */
export function userTag(userId: number): string {
  return SHARD_TAGS[selectShard(userId)] as string;
}

/** Creates the keys. Throws a RangeError for prefixes that would hide the tags. */
export function createKeys(prefix: string): Keys {
  if (/[{}\s]/.test(prefix)) throw new RangeError("must not contain braces or spaces");
  const tagged = SHARD_TAGS.map((tag) => `${prefix}${tag}`);
  const of = (shard: number, rest: string) => `${tagged[shard] as string}${rest}`;
  const ofShards = (rest: string) => {
    const names = tagged.map((tag) => `${tag}${rest}`);
    return (shard: number) => names[shard] as string;
  };
  const all = `${prefix}{all}`;
  const budgets = `${prefix}{budgets}`;
  const epoch = ofShards("epoch");
  const epochs = [...SHARD_TAGS.keys()].map(epoch).concat(`${budgets}epoch`);
  return {
    epoch,
    epochs,
    budgets: {
      epoch: `${budgets}epoch`,
      state: `${budgets}state`,
      holds: `${budgets}holds`,
      leases: `${budgets}leases`,
    },
    holds: ofShards("holds"),
    seen: ofShards("seen"),
    leases: ofShards("leases"),
    charges: ofShards("charges"),
    retained: ofShards("retained"),
    user: (userId) => of(selectShard(userId), `u${userId}`),
    token: (userId, tokenId) => of(selectShard(userId), `t${tokenId}`),
    claim: (tag, name) => `${prefix}${tag}${name}`,
    answers: (name) => `${prefix}{cache}${name}`,
    responses: (name) => `${prefix}{responses}${name}`,
    installation: `${all}installation`,
    replicas: `${all}replicas`,
    caughtUp: `${all}caught-up`,
    recovering: `${all}recovering`,
    channel: (name) => `${prefix}${name}`,
    probe: `${all}probe`,
  };
}

/** Returns the part of a key that Redis Cluster hashes. */
export function findHashTag(key: string): string | undefined {
  return /\{([^}]+)\}/.exec(key)?.[1];
}
