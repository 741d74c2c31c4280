import {
  readStoredFixedTags,
  readStoredTagLimits,
  readStoredTagPolicy,
  readTokenFallbacks,
  splitList,
  storedLimits,
  USER_STATUS,
} from "@fairway/wire";
import { resolveOwnTagLimits } from "./tag-limits.ts";
import { resolveOwnTags } from "./tag-policy.ts";
import { AppError } from "../lib/app-error.ts";
import { seconds, type Clock } from "../lib/clock.ts";
import { parseAllowList } from "../lib/net/ip.ts";
import { Lru } from "../lib/lru.ts";
import { ANSWER_MS, TookTooLong, withinTime } from "../lib/async/time-limit.ts";
import type { RawDatabase } from "../storage/engines/raw.ts";
import { TOKENS_REVISION } from "../storage/revisions.ts";
import { TEAM_COLUMNS, TEAM_JOINS, toTeamRecord, type TeamRow } from "./team-record.ts";
import type { TokenCache, TokenRecord } from "./types.ts";

const LIFE_MS = 60_000;
const UNKNOWN_LIFE_MS = 5_000;
/** While the database is unavailable, tokens cannot change, so cached ones remain valid. */
const STALE_LIFE_MS = 600_000;
const CAPACITY = 100_000;
/** How long a request waits for the database before it uses the cached token. */
const DATABASE_WAIT_MS = 2_000;
const HASTE_MS = 5_000;

export interface TokenCacheDeps {
  readonly raw: Pick<RawDatabase, "rows">;
  readonly clock: Clock;
  readonly capacity?: number;
  /** True while cached tokens must not be used without the database. */
  readonly isClosed?: () => boolean;
  /** Called for every lookup; for metrics. */
  readonly onFind?: (isHit: boolean) => void;
  /** Called when a replaced key is read from the database, at most once a minute while it is in use. */
  readonly onOldKey?: (keyId: number) => void;
}

export interface ClearableTokenCache extends TokenCache {
  /** Clears the cache, for changes without details. */
  clear(): void;
}

interface Entry {
  readonly record: TokenRecord | undefined;
  readonly expiresAt: number;
}

interface Known extends Entry {
  readonly record: TokenRecord;
}

/** Caches recently used tokens, with at most one query at a time for each key. */
export function createTokenCache(deps: TokenCacheDeps): ClearableTokenCache {
  const { clock, capacity = CAPACITY, isClosed = () => false, onFind } = deps;
  const entries = new Lru<string, Entry>(capacity);
  const asking = new Map<string, Promise<TokenRecord | undefined>>();
  // The answer to a query that was running during a change may be older than the change.
  let changes = 0;
  const waitBudget = createWaitBudget(clock);

  const ask = async (keyHash: string): Promise<TokenRecord | undefined> => {
    const before = changes;
    const record = await withinTime(ANSWER_MS, () => readToken(deps, keyHash));
    waitBudget.answered();
    if (before === changes) entries.set(keyHash, { record, expiresAt: calculateExpiry(record, clock.now()) });
    return record;
  };

  const askOnce = (keyHash: string): Promise<TokenRecord | undefined> => {
    const underWay = asking.get(keyHash);
    if (underWay) return underWay;
    const answer = ask(keyHash).finally(() => {
      if (asking.get(keyHash) === answer) asking.delete(keyHash);
    });
    asking.set(keyHash, answer);
    return answer;
  };

  const isStale = (entry: Entry | undefined): entry is Known =>
    entry?.record !== undefined &&
    entry.expiresAt + STALE_LIFE_MS > clock.now() &&
    calculateKeyEnd(entry.record) > clock.now();

  const drop = (isMeant: (record: TokenRecord) => boolean) => {
    changes += 1;
    asking.clear();
    for (const [keyHash, { record }] of entries.entries()) {
      if (record && isMeant(record)) entries.delete(keyHash);
    }
  };

  return {
    find(keyHash) {
      if (isClosed()) return Promise.reject(uncheckable());
      const entry = entries.get(keyHash);
      const isHit = entry !== undefined && entry.expiresAt > clock.now();
      onFind?.(isHit);
      if (isHit) return Promise.resolve(entry.record);
      const answer = isStale(entry) ? waitBudget.wait(() => askOnce(keyHash)) : askOnce(keyHash);
      return answer.catch((cause: unknown) => {
        if (isStale(entry) && entries.get(keyHash) === entry && !isClosed()) return entry.record;
        throw uncheckable(cause);
      });
    },
    dropToken: (tokenId) => drop((record) => record.id === tokenId),
    dropUser: (userId) => drop((record) => record.user.id === userId || record.memberId === userId),
    clear() {
      changes += 1;
      asking.clear();
      entries.clear();
    },
  };
}

/** Replaced keys are in a table of their own, so that the current one costs one query as without them. */
async function readToken({ raw, clock, onOldKey }: TokenCacheDeps, keyHash: string): Promise<TokenRecord | undefined> {
  const now = seconds(clock);
  const [current] = await raw.rows<TokenRow>(CURRENT_KEY, [keyHash]);
  if (current) return tokenRecord(current, keyHash, now);
  const [old] = await raw.rows<OldKeyRow>(OLD_KEY, [keyHash]);
  if (!old) return undefined;
  if (old.key_expires_at > now) onOldKey?.(old.key_id);
  return tokenRecord(old, keyHash, now);
}

/** A replaced key is never cached as a working one for longer than it works. */
function calculateExpiry(record: TokenRecord | undefined, now: number): number {
  if (!record) return now + UNKNOWN_LIFE_MS;
  const end = calculateKeyEnd(record);
  return end > now ? Math.min(now + LIFE_MS, end) : now + LIFE_MS;
}

/** Returns the milliseconds at which the key stops working. */
function calculateKeyEnd({ rotation }: TokenRecord): number {
  return rotation?.keyExpiresAt === undefined ? Infinity : rotation.keyExpiresAt * 1000;
}

interface WaitBudget {
  /** Resolves to the result, or undefined after a short wait. */
  wait<T>(ask: () => Promise<T>): Promise<T>;
  answered(): void;
}

/** Limits the waiting while the database is silent: after one request has timed out, the next ones do not wait. */
function createWaitBudget(clock: Clock): WaitBudget {
  let hastyUntil = -Infinity;
  return {
    async wait(ask) {
      const isWaitSkipped = clock.now() < hastyUntil;
      try {
        return await withinTime(isWaitSkipped ? 0 : DATABASE_WAIT_MS, ask);
      } catch (error) {
        if (!isWaitSkipped && error instanceof TookTooLong) hastyUntil = clock.now() + HASTE_MS;
        throw error;
      }
    },
    answered: () => void (hastyUntil = -Infinity),
  };
}

const RETRY_MS = 5_000;

function uncheckable(cause?: unknown): AppError {
  const message = "Keys cannot be checked now; try again in a moment.";
  return new AppError("balances_unavailable", { cause, message, retryAfterMs: RETRY_MS });
}

const COLUMNS = `t.id, t.name, t.status, t.expired_time, t.unlimited_quota, t.remain_quota, t.used_quota, t.model_limits_enabled,
  t.model_limits, t.allow_ips, t."group", t.limits, t.fallbacks, t.prompt_cache, t.fixed_tags, t.tags, t.tag_limits, t.user_id, u.username, u.role, u.status as user_status,
  u."group" as user_group, u.limits as user_limits, u.tag_limits as user_tag_limits, u.deleted_at as user_deleted_at,
  t.member_id, t.service_account_id, t.key_hint, t.old_keys_until, ${TEAM_COLUMNS}, ${TOKENS_REVISION}`;
const OWNER = `left join users u on u.id = t.user_id ${TEAM_JOINS}`;
const CURRENT_KEY = `select ${COLUMNS} from tokens t ${OWNER} where t.key_hash = ? and t.deleted_at is null`;
const OLD_KEY = `select ${COLUMNS}, k.id as key_id, k.hint as old_hint, k.expires_at as key_expires_at
  from token_keys k join tokens t on t.id = k.token_id ${OWNER}
  where k.key_hash = ? and t.deleted_at is null`;

interface TokenRow extends TeamRow {
  readonly id: number;
  readonly name: string;
  readonly status: number;
  readonly expired_time: number;
  readonly unlimited_quota: number;
  readonly remain_quota: number;
  readonly used_quota: number;
  readonly revision: number;
  readonly model_limits_enabled: number;
  readonly model_limits: string;
  readonly allow_ips: string;
  readonly group: string;
  readonly limits: string | null;
  readonly fallbacks: string | null;
  readonly prompt_cache: string;
  readonly fixed_tags: string | null;
  readonly tags: string | null;
  readonly tag_limits: string | null;
  readonly user_id: number;
  readonly username: string | null;
  readonly role: number | null;
  readonly user_status: number | null;
  readonly user_group: string | null;
  readonly user_limits: string | null;
  readonly user_tag_limits: string | null;
  readonly user_deleted_at: number | null;
  readonly key_hint: string;
  readonly old_keys_until: number;
}

interface OldKeyRow extends TokenRow {
  readonly key_id: number;
  readonly old_hint: string;
  readonly key_expires_at: number;
}

function readRotation(row: TokenRow | OldKeyRow, now: number): TokenRecord["rotation"] {
  const { old_keys_until: until } = row;
  if ("key_id" in row) return { hint: row.old_hint, until, keyExpiresAt: row.key_expires_at };
  return until > now ? { hint: row.key_hint, until } : undefined;
}

/** A text that cannot be read switches fallbacks off: the token would get models that its owner did not choose. */
function readStoredFallbacks(text: string | null | undefined): TokenRecord["fallbacks"] {
  if (!text) return undefined;
  const read = readTokenFallbacks(text);
  if ("fault" in read) return "off";
  return read.value === "inherit" ? undefined : read.value;
}

function isCacheMode(text: string): text is NonNullable<TokenRecord["promptCache"]> {
  return text === "off" || text === "auto" || text === "always";
}

function tokenRecord(row: TokenRow | OldKeyRow, keyHash: string, now: number): TokenRecord {
  const team = toTeamRecord(row);
  return Object.freeze({
    id: row.id,
    keyHash,
    name: row.name,
    status: row.status,
    expiredTime: row.expired_time,
    isUnlimited: row.unlimited_quota === 1,
    remainQuota: row.remain_quota,
    usedQuota: row.used_quota,
    revision: row.revision,
    modelLimits: row.model_limits_enabled === 1 ? new Set(splitList(row.model_limits)) : undefined,
    allowedNetworks: parseAllowList(row.allow_ips).networks,
    group: row.group,
    limits: storedLimits(row.limits),
    fallbacks: readStoredFallbacks(row.fallbacks),
    ...(isCacheMode(row.prompt_cache) && { promptCache: row.prompt_cache }),
    memberId: row.member_id,
    serviceAccountId: row.service_account_id,
    team,
    rotation: readRotation(row, now),
    tags: resolveOwnTags(readStoredFixedTags(row.fixed_tags), readStoredTagPolicy(row.tags), team?.settings.tags),
    tagLimits: resolveOwnTagLimits(
      { id: row.id, limits: readStoredTagLimits(row.tag_limits) },
      { id: row.user_id, limits: team ? team.settings.tag_limits : readStoredTagLimits(row.user_tag_limits) },
    ),
    user: Object.freeze({
      id: row.user_id,
      username: row.username ?? "",
      role: row.role ?? 0,
      status: row.user_status ?? USER_STATUS.disabled,
      group: row.user_group ?? "",
      limits: storedLimits(row.user_limits),
      isDeleted: row.username === null || row.user_deleted_at !== null,
    }),
  });
}
