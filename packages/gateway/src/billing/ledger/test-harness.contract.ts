import type { Clock } from "../../lib/clock.ts";
import type { RawDatabase } from "../../storage/engines/raw.ts";
import { type Hold, isRefusal, type Ledger, type LogDetail, type Settlement } from "./ledger.ts";
import { quota } from "../money/quota.ts";

/** The balance below which the ledgers of tests write an event: so small that other tests rarely cross it. */
export const BALANCE_LIMIT = 100;

/** A clock that only a test moves. */
export interface TestClock extends Clock {
  advance(ms: number): void;
}

export function testClock(start = 1_800_000_000_000): TestClock {
  let now = start;
  return { now: () => now, advance: (ms) => (now += ms) };
}

/** A ledger over an empty, migrated database. */
export interface LedgerHarness {
  readonly ledger: Ledger;
  readonly database: RawDatabase;
  /** The database that contains `logs`. */
  readonly logDatabase: RawDatabase;
  readonly clock: TestClock;
  readonly leaseMs: number;
  /** Returns the open reservations of a user, if they are not rows of `holds`. */
  openHolds?(userId: number): Promise<number>;
  close(): Promise<void>;
}

export interface Account {
  readonly quota: number;
  readonly used_quota: number;
  readonly request_count: number;
}

export interface TokenAccount {
  readonly remain_quota: number;
  readonly used_quota: number;
  readonly accessed_time: number;
}

let lastId = 0;

/** Creates and reads the rows of a test. Balances are read after a flush, because a ledger may store them elsewhere. */
export function createTestAccounts({ ledger, database, logDatabase, openHolds }: LedgerHarness) {
  const readRow = async <Row>(sql: string, id: number | string): Promise<Row> => {
    await ledger.flush();
    const [row] = await database.rows<Row>(sql, [id]);
    if (!row) throw new Error(`no row ${id}: ${sql}`);
    return row;
  };
  return {
    /** Every second account is the wallet of a team: to the ledger, both are alike. */
    async addUser(balance: number): Promise<number> {
      const id = (lastId += 1);
      await database.run(
        `insert into users (id, username, username_key, password, display_name, role, status, quota, "group", aff_code, kind, created_at) values (?, ?, ?, '', '', 1, 1, ?, 'default', ?, ?, 0)`,
        [id, `user${id}`, `user${id}`, balance, `aff${id}`, id % 2],
      );
      return id;
    },
    async addToken(userId: number, remain: number | "unlimited"): Promise<number> {
      const id = (lastId += 1);
      const isUnlimited = remain === "unlimited";
      await database.run(
        `insert into tokens (id, user_id, key_hash, key_sealed, status, name, created_time, accessed_time, expired_time, remain_quota, unlimited_quota, model_limits_enabled, model_limits, allow_ips, "group") values (?, ?, ?, '', 1, 'key', 0, 0, -1, ?, ?, 0, '', '', '')`,
        [id, userId, `hash${id}`, isUnlimited ? 0 : remain, isUnlimited ? 1 : 0],
      );
      return id;
    },
    async addChannel(): Promise<number> {
      const id = (lastId += 1);
      await database.run(
        `insert into channels (id, type, key_sealed, key_hash, openai_organization, test_model, status, name, weight, created_time, base_url, other, models, "group", model_mapping, status_code_mapping) values (?, 1, '', '', '', '', 1, 'c', 0, 0, '', '', '', 'default', '', '')`,
        [id],
      );
      return id;
    },
    user: (id: number) => readRow<Account>("select quota, used_quota, request_count from users where id = ?", id),
    token: (id: number) =>
      readRow<TokenAccount>("select remain_quota, used_quota, accessed_time from tokens where id = ?", id),
    channelUsed: async (id: number) =>
      (await readRow<{ used_quota: number }>("select used_quota from channels where id = ?", id)).used_quota,
    async entries(userId: number): Promise<{ kind: string; quota: number; channel_id: number }[]> {
      await ledger.flush();
      return database.rows("select kind, quota, channel_id from ledger where user_id = ? order by id", [userId]);
    },
    async logs(
      userId: number,
    ): Promise<{ quota: number; content: string; other: string; request_id: string; channel_id: number }[]> {
      await ledger.flush();
      return logDatabase.rows(
        "select quota, content, other, request_id, channel_id from logs where user_id = ? and type = 2 order by id",
        [userId],
      );
    },
    async openHolds(userId: number): Promise<number> {
      if (openHolds) return openHolds(userId);
      const rows = await database.rows("select request_id from holds where user_id = ?", [userId]);
      return rows.length;
    },
  };
}

export type Accounts = ReturnType<typeof createTestAccounts>;

let lastRequest = 0;

export function requestId(): string {
  return `request-${process.pid}-${(lastRequest += 1)}`;
}

export async function granted(ledger: Ledger, userId: number, tokenId: number, amount: number): Promise<Hold> {
  const answer = await ledger.hold({ requestId: requestId(), userId, tokenId, amount: quota(amount), isCharged: true });
  if (isRefusal(answer)) throw new Error(`refused: ${answer.refused}`);
  return answer;
}

export function createLogDetail(channelId: number, part: Partial<LogDetail> = {}): LogDetail {
  return {
    username: "user",
    tokenName: "key",
    modelName: "gpt-4o",
    channelId,
    group: "default",
    promptTokens: 10,
    completionTokens: 5,
    useTimeSeconds: 1,
    isStream: false,
    content: "",
    other: '{"frt":-1000}',
    ip: "",
    ...part,
  };
}

export function createSettlement(hold: Hold, amount: number, part: Partial<Settlement> = {}): Settlement {
  const channelId = part.channelId ?? 0;
  return { hold, quota: quota(amount), channelId, at: 1_800_000_001_500, log: createLogDetail(channelId), ...part };
}
