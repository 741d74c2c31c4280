import type { RedisClient } from "../../../redis/client.ts";
import { selectShard } from "../../../redis/keys.ts";
import type { RawDatabase } from "../../../storage/engines/raw.ts";
import { TOKENS_REVISION } from "../../../storage/revisions.ts";
import { LIMIT } from "./scripts.ts";

export interface TokenLimitsDeps {
  readonly redis: RedisClient;
  readonly database: RawDatabase;
}

/**
 * Copies limits of tokens that users changed in the database to the live balances. The next call of the token would
 * bring its limit too, but a running stream and the audit must not wait for a call.
 */
export interface TokenLimits {
  /** Applies all committed changes. Rejects when Redis or the database fails; the next call applies them again. */
  follow(): Promise<void>;
}

const AT_ONCE = 500;
const TIMEOUT_MS = 2_000;
/** A dead process may have committed changes without applying them; they are among the last ones. */
const REPEATED_AT_START = 1_000;

/** Returns the limit of a token as live balances store it. */
export function grantText({ unlimited_quota, remain_quota, used_quota }: LimitColumns): string {
  return unlimited_quota === 1 ? "u" : String(remain_quota + used_quota);
}

export interface LimitColumns {
  readonly remain_quota: number;
  readonly used_quota: number;
  readonly unlimited_quota: number;
}

interface LimitRow extends LimitColumns {
  readonly id: number;
  readonly user_id: number;
  readonly limit_revision: number;
  /** The tokens revision at which the row was read. */
  readonly revision: number;
}

export function createTokenLimits({ redis, database }: TokenLimitsDeps): TokenLimits {
  let known: number | undefined;

  const followSome = async (after: number): Promise<number | undefined> => {
    const sql = `select id, user_id, remain_quota, used_quota, unlimited_quota, limit_revision, ${TOKENS_REVISION}
      from tokens where limit_revision > ? order by limit_revision limit ${AT_ONCE}`;
    const rows = await database.rows<LimitRow>(sql, [after]);
    const last = rows.at(-1);
    if (!last) return undefined;
    const answers = await redis.send(
      rows.map((row) => limitCall(redis, row)),
      TIMEOUT_MS,
    );
    for (const answer of answers) if (answer instanceof Error) throw answer;
    return last.limit_revision;
  };

  return {
    async follow() {
      const newest = await tokensRevision(database);
      let after: number | undefined = known ?? newest - REPEATED_AT_START;
      if (after >= newest) return;
      // Each change has its own revision, and revisions commit in that order, so no page ends within a revision.
      while (after !== undefined) {
        known = Math.max(known ?? 0, after);
        after = await followSome(after);
      }
      known = Math.max(known ?? 0, newest);
    },
  };
}

function limitCall({ keys }: RedisClient, row: LimitRow) {
  const { id, user_id: userId, revision, limit_revision: changed } = row;
  return {
    script: LIMIT,
    keys: [keys.epoch(selectShard(userId)), keys.token(userId, id)],
    args: [grantText(row), revision, changed],
  };
}

async function tokensRevision(database: RawDatabase): Promise<number> {
  const [row] = await database.rows<{ revision: number }>("select revision from revisions where topic = 'tokens'", []);
  return row?.revision ?? 0;
}
