import {
  ACCOUNT_KIND,
  formatQuota,
  keyHint,
  LOG_TYPE,
  INITIAL_TOKEN,
  TOKEN_STATUS,
  type OptionValues,
} from "@fairway/wire";
import { recordEvent } from "../../events/record-event.ts";
import { accountRow, usernameKey, type NewAccount } from "../../identity/accounts/accounts.ts";
import { seconds, type Clock } from "../../lib/clock.ts";
import { Refusal } from "../../lib/refusal.ts";
import type { Database } from "../../storage/database.ts";
import { isDuplicate } from "../../storage/errors.ts";
import { insertRow } from "../../storage/inserts.ts";
import type { WriteLog } from "../../storage/log-rows.ts";
import { rawOn, transact } from "../../storage/transaction.ts";
import type { Vault } from "../ports.ts";
import { moneyStyle } from "./money-style.ts";
import type { Trx, UserStore } from "./store.ts";
import { tokenKey } from "../../storage/secrets/sealed-locations.ts";
import { storeKey } from "../../storage/secrets/store-key.ts";
import { createTokenKey } from "../../storage/secrets/token-key-text.ts";

export interface CreateAccountDeps {
  readonly database: Database;
  readonly store: Pick<UserStore, "isNameTaken" | "isEmailTaken">;
  readonly clock: Clock;
  readonly writeLog: WriteLog;
  readonly options: () => OptionValues;
  readonly vault: Vault;
  /** True if every account gets a token when it registers. */
  readonly givesToken: boolean;
}

export interface NewUser extends Pick<NewAccount, "username" | "passwordHash" | "displayName" | "email"> {
  /** Invitation code; an unknown code is not an error. */
  readonly affCode?: string;
  /** True if the owner created the account: the invitation counts, and a first token is created. */
  readonly isRegistration: boolean;
  /** Identity of a sign-in service. */
  readonly bindings?: Readonly<Record<string, string | number>>;
  /** Runs in the same transaction; throws to refuse. */
  readonly before?: (trx: Trx) => Promise<void>;
  /** Runs in the same transaction with the id of the account. */
  readonly after?: (trx: Trx, id: number) => Promise<void>;
}

const FIRST_TOKEN_QUOTA = 500_000;
const ATTEMPTS = 5;

interface Gift {
  readonly quota: number;
  readonly content: string;
}

/**
 * Creates an account with its gifts in one transaction; throws `username_taken` or `email_taken` if the name or address
 * is taken. The first balance is written with the row: no reservation can exist yet.
 */
export async function createAccount(deps: CreateAccountDeps, user: NewUser): Promise<number> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await transact(deps.database.db, (trx) => insertAccount(deps, user, trx));
    } catch (cause) {
      if (!isDuplicate(cause)) throw cause;
      if (await deps.store.isNameTaken(usernameKey(user.username)))
        throw new Refusal("username_taken", { field: "username" });
      if (user.email !== undefined && (await deps.store.isEmailTaken(user.email)))
        throw new Refusal("email_taken", { field: "email" });
      // The invitation code already exists, so another one is drawn.
      if (attempt === ATTEMPTS) throw cause;
    }
  }
}

async function insertAccount(deps: CreateAccountDeps, user: NewUser, trx: Trx): Promise<number> {
  await user.before?.(trx);
  const inviter = user.isRegistration ? await findInviter(trx, user.affCode) : undefined;
  const gifts = listGifts(deps.options(), inviter !== undefined);
  const quota = gifts.reduce((sum, gift) => sum + gift.quota, 0);
  const createdAt = seconds(deps.clock);
  const row = { ...accountRow({ ...user, createdAt, quota, inviterId: inviter?.id ?? 0 }), ...user.bindings };
  const id = await insertRow(trx, "users", row);
  await writeGifts(deps, trx, { id, username: user.username }, gifts);
  if (inviter) await rewardInviter(deps, trx, inviter);
  if (user.isRegistration) await recordRegistration(deps, trx, { id, username: user.username });
  if (user.isRegistration && deps.givesToken) await insertFirstToken(deps, trx, id, user.username);
  await user.after?.(trx, id);
  return id;
}

async function recordRegistration(
  { clock }: CreateAccountDeps,
  trx: Trx,
  data: { readonly id: number; readonly username: string },
): Promise<void> {
  await recordEvent(trx, { type: "user.registered", atMs: clock.now(), dedupKey: `user.registered:${data.id}`, data });
}

function findInviter(trx: Trx, code: string | undefined): Promise<{ id: number; username: string } | undefined> {
  if (code === undefined || code === "") return Promise.resolve(undefined);
  return trx
    .selectFrom("users")
    .select(["id", "username"])
    .where("aff_code", "=", code)
    .where("kind", "=", ACCOUNT_KIND.person)
    .where("deleted_at", "is", null)
    .executeTakeFirst();
}

function listGifts(options: OptionValues, isInvited: boolean): Gift[] {
  const { QuotaForNewUser, QuotaForInvitee } = options;
  const show = (quota: number) => formatQuota(quota, moneyStyle(options));
  const gifts: Gift[] = [];
  if (QuotaForNewUser > 0)
    gifts.push({ quota: QuotaForNewUser, content: `New user registration gift ${show(QuotaForNewUser)}` });
  if (isInvited && QuotaForInvitee > 0) {
    gifts.push({ quota: QuotaForInvitee, content: `Gift for using an invitation code ${show(QuotaForInvitee)}` });
  }
  return gifts;
}

async function writeGifts(
  { database, writeLog, clock }: CreateAccountDeps,
  trx: Trx,
  user: { readonly id: number; readonly username: string },
  gifts: readonly Gift[],
): Promise<void> {
  const tx = rawOn(trx, database.kind);
  for (const [at, { quota, content }] of gifts.entries()) {
    const entry = { token_id: 0, channel_id: 0, quota, detail: content, created_at: clock.now() };
    await trx
      .insertInto("ledger")
      .values({ request_id: `account-${user.id}-${at}`, kind: "gift", user_id: user.id, ...entry })
      .execute();
    const log = { user_id: user.id, username: user.username, created_at: seconds(clock) };
    await writeLog(tx, { ...log, type: LOG_TYPE.system, content });
  }
}

/**
 * Rewards the inviter. The invitation always counts; the reward is separate from the balance until it is transferred.
 */
async function rewardInviter(
  { database, writeLog, clock, options }: CreateAccountDeps,
  trx: Trx,
  inviter: { readonly id: number; readonly username: string },
): Promise<void> {
  const reward = options().QuotaForInviter;
  await trx
    .updateTable("users")
    .set((eb) => ({
      aff_count: eb("aff_count", "+", 1),
      aff_quota: eb("aff_quota", "+", reward),
      aff_history: eb("aff_history", "+", reward),
    }))
    .where("id", "=", inviter.id)
    .execute();
  if (reward === 0) return;
  await writeLog(rawOn(trx, database.kind), {
    user_id: inviter.id,
    username: inviter.username,
    created_at: seconds(clock),
    type: LOG_TYPE.system,
    content: `Invitation reward ${formatQuota(reward, moneyStyle(options()))}`,
  });
}

async function insertFirstToken(
  { vault, clock }: CreateAccountDeps,
  trx: Trx,
  userId: number,
  username: string,
): Promise<void> {
  const key = createTokenKey();
  const now = seconds(clock);
  const token = {
    ...INITIAL_TOKEN,
    user_id: userId,
    key_hash: vault.hashKey(key),
    key_sealed: "",
    key_hint: keyHint(key),
    status: TOKEN_STATUS.enabled,
    name: `${username}'s initial token`,
    created_time: now,
    accessed_time: now,
    remain_quota: FIRST_TOKEN_QUOTA,
    unlimited_quota: 1,
    deleted_at: null,
  };
  const id = await insertRow(trx, "tokens", token);
  await storeKey(trx, "tokens", id, vault.seal(key, tokenKey(id)));
}
