import { randomBytes } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import type { RedisClient } from "../../../redis/client.ts";
import { selectShard } from "../../../redis/keys.ts";
import type { RawDatabase, RawTransaction } from "../../../storage/engines/raw.ts";
import { LOAD_ACCOUNT, BEGIN_LOAD } from "./scripts.ts";
import { TOKENS_REVISION } from "../../../storage/revisions.ts";
import { lockUsers } from "../booking/accounts.ts";
import { grantText, type LimitColumns } from "./token-limits.ts";

export interface AccountLoaderDeps {
  readonly redis: RedisClient;
  readonly database: RawDatabase;
  /** Called to book charges sooner, when charges of an account are not in the database yet. */
  readonly settleNow: () => void;
}

/** `absent`: the database has no such account. `closed`: balances of the shard must not be loaded now. */
export type LoadResult = "read" | "absent" | "closed" | "late";

export interface Account {
  readonly userId: number;
  /** 0 = the balance of the user. */
  readonly tokenId: number;
}

/**
 * Loads balances from the database into Redis. A balance is correct when every charge of the account is either included
 * or deducted later. It is therefore read while the account has no unbooked charge, and discarded if one arrives.
 */
export interface AccountLoader {
  /** Loads an account once at a time in this process. Rejects when Redis or the database fails. */
  load(account: Account, deadline: number): Promise<LoadResult>;
}

const TIMEOUT_MS = 2_000;
const FIRST_PAUSE_MS = 4;
const LONGEST_PAUSE_MS = 50;
/** A shard with more unbooked charges is not scanned. */
const LONGEST_SCAN = 2_000;
const ANSWERS = { closed: 0, before: 1, busy: 2 } as const;

export function createAccountLoader(deps: AccountLoaderDeps): AccountLoader {
  const running = new Map<string, Promise<LoadResult>>();
  return {
    load(account, deadline) {
      const key = `${account.userId}:${account.tokenId}`;
      const known = running.get(key);
      if (known) return known;
      const work = loadAccount(account, deadline, deps).finally(() => running.delete(key));
      running.set(key, work);
      return work;
    },
  };
}

async function loadAccount(account: Account, deadline: number, deps: AccountLoaderDeps): Promise<LoadResult> {
  for (let ms = FIRST_PAUSE_MS; performance.now() < deadline; ms = Math.min(2 * ms, LONGEST_PAUSE_MS)) {
    const [code, epoch, changes] = await begin(account, deps);
    if (code === ANSWERS.closed) return "closed";
    if (code === ANSWERS.before) return "read";
    if (code === ANSWERS.busy) {
      deps.settleNow();
      await pause(ms);
      continue;
    }
    const balance = await deps.database.transaction((tx) => readBalance(tx, account, deps.database.kind));
    if (!balance) return "absent";
    const { redis } = deps;
    const args = [
      String(epoch),
      String(changes),
      balance.balance,
      balance.version,
      balance.grant,
      randomBytes(6).toString("base64url"),
      balance.revision,
    ];
    if ((await redis.sendOne({ script: LOAD_ACCOUNT, keys: accountKeys(account, deps), args }, TIMEOUT_MS)) === 1)
      return "read";
  }
  return "late";
}

function accountKeys({ userId, tokenId }: Account, { redis: { keys } }: AccountLoaderDeps): [string, string] {
  return [keys.epoch(selectShard(userId)), tokenId === 0 ? keys.user(userId) : keys.token(userId, tokenId)];
}

async function begin(account: Account, deps: AccountLoaderDeps): Promise<readonly [number, unknown?, unknown?]> {
  const { userId, tokenId } = account;
  const keys = [...accountKeys(account, deps), deps.redis.keys.charges(selectShard(userId))];
  const args = tokenId === 0 ? ["user", userId, LONGEST_SCAN] : ["token", tokenId, LONGEST_SCAN];
  return (await deps.redis.sendOne({ script: BEGIN_LOAD, keys, args }, TIMEOUT_MS)) as readonly [
    number,
    unknown?,
    unknown?,
  ];
}

interface Balance {
  readonly balance: number;
  readonly grant: string;
  /** The tokens revision of `grant`. */
  readonly revision: number;
  /** The last ledger row that the balance can include. */
  readonly version: number;
}

/** Reads the balance while the user row is locked, so no other transaction has uncommitted movements of the account. */
async function readBalance(
  tx: RawTransaction,
  { userId, tokenId }: Account,
  kind: RawDatabase["kind"],
): Promise<Balance | undefined> {
  const user = (await lockUsers(tx, kind, [userId])).get(userId);
  if (!user) return undefined;
  const [last] = await tx.rows<{ id: number | null }>("select max(id) as id from ledger", []);
  const version = last?.id ?? 0;
  if (tokenId === 0) return { balance: user.quota, grant: "u", revision: 0, version };
  const sql = `select remain_quota, used_quota, unlimited_quota, ${TOKENS_REVISION} from tokens where id = ? and user_id = ?`;
  const [token] = await tx.rows<TokenRow>(sql, [tokenId, userId]);
  if (!token) return undefined;
  return { balance: 0 - token.used_quota, grant: grantText(token), revision: token.revision, version };
}

interface TokenRow extends LimitColumns {
  readonly revision: number;
}
