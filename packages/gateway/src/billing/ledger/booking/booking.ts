import { ACCOUNT_KIND, LOG_TYPE } from "@fairway/wire";
import { LOG_COLUMNS, type LogRowInput, toRowValues } from "../../../storage/log-rows.ts";
import type { RawDatabase, RawTransaction, SqlValue } from "../../../storage/engines/raw.ts";
import type { DepositClose, Hold, LedgerKind, LogDetail, Settlement } from "../ledger.ts";
import { channelChanges, tokenChanges, userChanges } from "./accounts.ts";
import { inList, InsertColumns, insertRows } from "../../../storage/statements.ts";

/** Marks consume rows written by the reaper: a later settlement books only the difference. */
export const REAPED = "reaped";
/** The reaper released the reservation because nothing was delivered. */
export const REAPED_UNUSED = "reaped, nothing delivered";

export interface LedgerEntry {
  readonly requestId: string;
  readonly kind: LedgerKind;
  readonly userId: number;
  readonly tokenId: number;
  readonly channelId: number;
  /** Signed change of the balance. */
  readonly quota: number;
  readonly detail: string;
  /** Milliseconds. */
  readonly at: number;
}

export interface OpenHold {
  readonly request_id: string;
  readonly user_id: number;
  readonly token_id: number;
  readonly amount: number;
}

/** The writes of one transaction: sums per user, token and channel, with their ledger and log rows. */
export class Booking {
  readonly #users = userChanges();
  readonly #tokens = tokenChanges();
  readonly #channels = channelChanges();
  readonly #ledger: LedgerEntry[] = [];
  readonly #logs: LogRowInput[] = [];
  readonly #replacedLogs: string[] = [];
  readonly #closed: string[] = [];

  /** Releases the reserved amount; the first step of closing any hold. */
  close(hold: OpenHold): void {
    this.#closed.push(hold.request_id);
    if (hold.amount === 0) return;
    this.#users.add(hold.user_id, "held", 0 - hold.amount);
    if (hold.token_id !== 0) this.#tokens.add(hold.token_id, "held", 0 - hold.amount);
  }

  /** @param detail distinguishes a reaped request from a settled one */
  consume(settlement: Settlement, detail = ""): void {
    const { hold, quota, channelId, at, log } = settlement;
    this.#users.add(hold.userId, "request_count", 1);
    this.#move(settlement, quota);
    this.#use(channelId, quota);
    this.#ledger.push(this.#entry(settlement, "consume", { quota: 0 - quota, detail }));
    if (log) this.#logs.push(logRow({ hold, quota, log }, at));
  }

  /** Books a part of a hold as a debit that is no usage yet. */
  deposit({ requestId, userId, tokenId }: Hold, amount: number, at: number): void {
    this.#users.add(userId, "quota", 0 - amount);
    if (tokenId !== 0) {
      this.#spendToken(tokenId, amount);
      this.#tokens.atLeast(tokenId, "accessed_time", Math.floor(at / 1000));
    }
    const moved = { channelId: 0, quota: 0 - amount, detail: "", at };
    this.#ledger.push({ requestId, kind: "deposit", userId, tokenId, ...moved });
  }

  /** Returns a deposit and charges its settlements instead. */
  closeDeposit({ requestId, userId, tokenId, at, settlements }: DepositClose, deposited: number): void {
    const row = { userId, tokenId, at };
    this.#ledger.push({ requestId, kind: "return", channelId: 0, quota: deposited, detail: "", ...row });
    let charged = 0;
    for (const [index, { quota, items, channelId, log }] of settlements.entries()) {
      const id = buildSettlementId(requestId, index);
      charged += quota;
      this.#users.add(userId, "request_count", items);
      this.#use(channelId, quota);
      if (quota !== 0)
        this.#ledger.push({ requestId: id, kind: "consume", channelId, quota: 0 - quota, detail: "", ...row });
      if (log) this.#logs.push(logRow({ hold: { requestId: id, userId, tokenId }, quota, log }, at));
    }
    this.#users.add(userId, "quota", deposited - charged);
    this.#users.add(userId, "used_quota", charged);
    if (tokenId !== 0) this.#spendToken(tokenId, charged - deposited);
  }

  #spendToken(tokenId: number, amount: number): void {
    this.#tokens.add(tokenId, "remain_quota", 0 - amount);
    this.#tokens.add(tokenId, "used_quota", amount);
  }

  /** Records that the reservation expired before anything was delivered, for a late settlement. */
  lapse(hold: OpenHold, at: number): void {
    this.#ledger.push({
      requestId: hold.request_id,
      kind: "consume",
      userId: hold.user_id,
      tokenId: hold.token_id,
      channelId: 0,
      quota: 0,
      detail: REAPED_UNUSED,
      at,
    });
  }

  /** Charges or refunds the difference to the reaped amount, for a settlement after its hold was reaped. */
  correct(
    settlement: Settlement,
    reaped: { readonly quota: number; readonly channel_id: number; readonly detail: string },
  ): void {
    const { hold, quota, channelId, at, log } = settlement;
    const taken = -reaped.quota;
    if (reaped.detail === REAPED_UNUSED) this.#users.add(hold.userId, "request_count", 1);
    this.#move(settlement, quota - taken);
    this.#use(reaped.channel_id, -taken);
    this.#use(channelId, quota);
    this.#ledger.push(this.#entry(settlement, "correct", { quota: taken - quota, detail: "" }));
    if (!log) return;
    this.#replacedLogs.push(hold.requestId);
    this.#logs.push(logRow({ hold, quota, log }, at));
  }

  #move({ hold: { userId, tokenId }, at }: Settlement, amount: number): void {
    this.#users.add(userId, "quota", 0 - amount);
    this.#users.add(userId, "used_quota", amount);
    if (tokenId === 0) return;
    this.#spendToken(tokenId, amount);
    this.#tokens.atLeast(tokenId, "accessed_time", Math.floor(at / 1000));
  }

  #use(channelId: number, amount: number): void {
    if (amount !== 0 && channelId !== 0) this.#channels.add(channelId, "used_quota", amount);
  }

  /** Returns the amount that this transaction deducts from a user's balance. */
  calculateUserCharge(userId: number): number {
    return 0 - this.#users.of(userId, "quota");
  }

  #entry(
    { hold, channelId, at }: Settlement,
    kind: LedgerKind,
    moved: Pick<LedgerEntry, "quota" | "detail">,
  ): LedgerEntry {
    return { requestId: hold.requestId, kind, userId: hold.userId, tokenId: hold.tokenId, channelId, at, ...moved };
  }

  /** @param isLogSeparate true if log rows go through the outbox to a separate log database */
  async write(tx: RawTransaction, kind: RawDatabase["kind"], isLogSeparate: boolean): Promise<void> {
    await this.#users.write(tx, kind);
    await this.#tokens.write(tx, kind);
    await this.#channels.write(tx, kind);
    if (this.#closed.length > 0) {
      const { marks, values } = inList(this.#closed);
      await tx.run(`delete from holds where request_id in ${marks}`, values);
    }
    await insertRows(tx, kind, LEDGER, this.#ledger.map(ledgerValues));
    await (isLogSeparate ? this.#writeOutbox(tx, kind) : this.#writeLogs(tx, kind));
  }

  async #writeLogs(tx: RawTransaction, kind: RawDatabase["kind"]): Promise<void> {
    for (const requestId of this.#replacedLogs) {
      await tx.run("delete from logs where request_id = ? and type = ?", [requestId, LOG_TYPE.consume]);
    }
    await insertRows(tx, kind, LOGS, this.#logs.map(toRowValues));
  }

  async #writeOutbox(tx: RawTransaction, kind: RawDatabase["kind"]): Promise<void> {
    const replaced = new Set(this.#replacedLogs);
    const rows = this.#logs.map((row): SqlValue[] => [
      row.request_id,
      JSON.stringify(replaced.has(row.request_id) ? { ...row, replaces: true } : row),
    ]);
    await insertRows(tx, kind, LOG_OUTBOX, rows);
  }
}

const LOGS = new InsertColumns("logs", LOG_COLUMNS);
const LOG_OUTBOX = new InsertColumns("log_outbox", ["request_id", "row"]);
const LEDGER = new InsertColumns("ledger", [
  "request_id",
  "kind",
  "user_id",
  "token_id",
  "channel_id",
  "quota",
  "detail",
  "created_at",
]);

/** Writes one row of the ledger. Fails when the request already has a row of this kind. */
export async function insertLedger(tx: RawTransaction, entry: LedgerEntry): Promise<void> {
  await insertRows(tx, "sqlite", LEDGER, [ledgerValues(entry)]);
}

function ledgerValues(entry: LedgerEntry): SqlValue[] {
  const { requestId, kind, userId, tokenId, channelId, quota, detail, at } = entry;
  return [requestId, kind, userId, tokenId, channelId, quota, detail, at];
}

/** Returns the request id of a settlement of a deposit, by its position. */
export function buildSettlementId(requestId: string, index: number): string {
  return index === 0 ? requestId : `${requestId}.${index + 1}`;
}

interface Logged {
  readonly hold: Pick<Hold, "requestId" | "userId" | "tokenId">;
  readonly quota: number;
  readonly log: LogDetail;
}

function logRow({ hold, quota, log }: Logged, at: number): LogRowInput {
  return {
    user_id: hold.userId,
    created_at: Math.floor(at / 1000),
    type: LOG_TYPE.consume,
    content: log.content,
    username: log.username.slice(0, 64),
    token_name: log.tokenName.slice(0, 191),
    model_name: log.modelName.slice(0, 255),
    quota,
    prompt_tokens: log.promptTokens,
    completion_tokens: log.completionTokens,
    use_time: log.useTimeSeconds,
    is_stream: log.isStream ? 1 : 0,
    channel_id: log.channelId,
    token_id: hold.tokenId,
    group: log.group.slice(0, 64),
    ip: log.ip.slice(0, 64),
    request_id: hold.requestId,
    other: log.other,
    tags: log.tags?.slice(0, 255) ?? "",
    end_user: log.endUser?.slice(0, 64) ?? "",
    ...(log.actor !== undefined && { actor: log.actor.slice(0, 32), account_kind: ACCOUNT_KIND.wallet }),
  };
}
