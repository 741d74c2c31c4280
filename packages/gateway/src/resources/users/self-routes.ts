import {
  formatQuota,
  LOG_TYPE,
  messageText,
  PREFERENCES_MAX_BYTES,
  fill,
  REASONS,
  ROLE,
  selfAccessToken,
  selfDelete,
  selfGet,
  selfGroups,
  selfInviteCode,
  selfInviteTransfer,
  selfModels,
  compatibleSelfModels,
  selfPreferences,
  selfPreferencesUpdate,
  selfSignedIn,
  selfUpdate,
  usableGroups as usableGroupsEndpoint,
  type OptionValues,
  type SignedInUser,
} from "@fairway/wire";
import type { Updateable } from "kysely";
import type { Ledger } from "../../billing/ledger/ledger.ts";
import { quota as toQuota } from "../../billing/money/quota.ts";
import { implement, type Call, type Principal, type Route } from "../../http/endpoint.ts";
import { setTag, tagCheck, type CheckTag } from "../../http/etag.ts";
import type { AccessTokens } from "../../identity/keys/access-token.ts";
import { newInviteCode, usernameKey } from "../../identity/accounts/accounts.ts";
import type { CredentialNotices } from "../../identity/mail/credential-notices.ts";
import type { LoginGuard } from "../../identity/passwords/login-guard.ts";
import type { Passwords } from "../../identity/passwords/passwords.ts";
import { requireProof, requireSession } from "../../identity/principal.ts";
import { findManager, refuseManaged } from "../../identity/providers/managed.ts";
import type { Sessions } from "../../identity/sessions/sessions.ts";
import { seconds, type Clock } from "../../lib/clock.ts";
import { Refusal } from "../../lib/refusal.ts";
import type { Snapshot } from "../../snapshot/types.ts";
import type { Database } from "../../storage/database.ts";
import { isDuplicate } from "../../storage/errors.ts";
import { upsertSql } from "../../storage/inserts.ts";
import { operatorInfo, type WriteLog } from "../../storage/log-rows.ts";
import type { UserTable } from "../../storage/tables/schema-accounts.ts";
import { rawOn } from "../../storage/transaction.ts";
import { usableGroups } from "./groups.ts";
import { provePassword } from "./confirm-route.ts";
import { dropEmpty, readDisplayName, readPassword, readUsername } from "./input.ts";
import { moneyStyle } from "./money-style.ts";
import { lockedUser, type UserStore } from "./store.ts";
import { userTag, userView, type UserRow } from "./view.ts";

export interface SelfRoutesDeps {
  readonly database: Database;
  readonly store: UserStore;
  readonly sessions: Sessions;
  readonly accessTokens: AccessTokens;
  readonly passwords: Passwords;
  readonly guard: LoginGuard;
  readonly snapshot: () => Pick<Snapshot, "index">;
  readonly options: () => OptionValues;
  readonly clock: Clock;
  readonly writeLog: WriteLog;
  readonly ledger: Ledger;
  readonly notices: CredentialNotices;
}

const PASSWORD_CHANGED = "The password was changed.";

export function selfRoutes(deps: SelfRoutesDeps): Route[] {
  const { store, options } = deps;
  return [
    implement(selfGet, async ({ caller, response }) => {
      const user = await requireAccount(store, caller);
      setTag(response, userTag(user));
      const manager = await findManager(deps.database.db, user.id);
      return { ...userView(user), ...(manager && { managed_by: manager.provider }) };
    }),
    implement(selfSignedIn, ({ caller }) => (caller?.via === "session" ? signedIn(store, caller) : null)),
    implement(selfUpdate, (call) => updateSelf(deps, call)),
    implement(selfDelete, (call) => deleteSelf(deps, call)),
    implement(selfAccessToken, async ({ caller, context: { ip } }) => {
      const { userId } = caller;
      const token = await deps.accessTokens.rotate(userId, { scopes: ["write"] }, (trx) =>
        deps.notices.record(trx, { userId, kind: "access_token_made", ip }),
      );
      deps.notices.send({ userId, what: "The system access token was made.", ip });
      return token;
    }),
    implement(selfModels, ({ caller }) => listModels(deps, caller)),
    implement(compatibleSelfModels, ({ caller }) => listModels(deps, caller)),
    implement(usableGroupsEndpoint, ({ caller }) => usableGroups(options(), caller?.group)),
    implement(selfGroups, ({ caller }) => usableGroups(options(), caller.group)),
    implement(selfInviteCode, ({ caller }) => inviteCode(deps, caller)),
    implement(selfInviteTransfer, (call) => transfer(deps, call)),
    implement(selfPreferences, ({ caller }) => store.preferences(caller.userId)),
    implement(selfPreferencesUpdate, async ({ body, caller }) => {
      await storePreferences(deps, caller.userId, JSON.stringify(body));
      return body;
    }),
  ];
}

async function requireAccount(store: UserStore, caller: Principal): Promise<UserRow> {
  const user = await store.find(caller.userId);
  if (!user) throw new Refusal("account_deleted");
  return user;
}

async function signedIn(store: UserStore, caller: Principal): Promise<SignedInUser> {
  const { id, username, display_name, role, status, group } = await requireAccount(store, caller);
  return { id, username, display_name, role, status, group };
}

/** Older names may have characters that are refused today: one that stays is not checked. */
function readName(text: string, current: string): Updateable<UserTable> {
  if (text === current) return {};
  return { username: readUsername(text), username_key: usernameKey(text.trim()) };
}

/** Names of people of a directory change there; a form that sends the present ones changes nothing. */
async function refuseManagedNames(
  { database, store }: SelfRoutesDeps,
  caller: Principal,
  { username, display_name: displayName }: Updateable<UserTable>,
): Promise<void> {
  if (username !== undefined) await refuseManaged(database.db, caller.userId, "username");
  if (displayName === undefined) return;
  const current = (await store.find(caller.userId))?.display_name;
  if (displayName !== current) await refuseManaged(database.db, caller.userId, "display_name");
}

async function updateSelf(deps: SelfRoutesDeps, call: Call<typeof selfUpdate>): Promise<void> {
  const { body, caller, context } = call;
  const { store } = deps;
  const username = dropEmpty(body.username);
  const password = dropEmpty(body.password);
  const displayName = dropEmpty(body.display_name);
  const original = dropEmpty(body.original_password);
  const change: Updateable<UserTable> = {};
  if (username !== undefined) Object.assign(change, readName(username, caller.username));
  if (password !== undefined) readPassword(password);
  if (change.username_key !== undefined && (await store.isNameTaken(change.username_key, caller.userId))) {
    throw new Refusal("username_taken", { field: "username" });
  }
  if (displayName !== undefined) change.display_name = readDisplayName(displayName);
  await refuseManagedNames(deps, caller, change);
  if (original !== undefined) {
    requireSession(caller);
    await provePassword(deps, { caller, ip: context.ip }, { password: original, field: "original_password" });
  } else if (password !== undefined) requireProof(caller);
  if (password !== undefined) change.password = await deps.passwords.hash(password);
  if (Object.keys(change).length === 0) return;
  const revokesTokens = password !== undefined && body.revoke_access_tokens === true;
  await writeSelf(deps, caller, change, { ip: context.ip, check: tagCheck(call.request), revokesTokens });
  if (password !== undefined) deps.notices.send({ userId: caller.userId, what: PASSWORD_CHANGED, ip: context.ip });
  setTag(call.response, userTag(await requireAccount(store, caller)));
}

interface SelfWrite {
  readonly ip: string;
  readonly check: CheckTag | undefined;
  readonly revokesTokens: boolean;
}

async function writeSelf(
  deps: SelfRoutesDeps,
  caller: Principal,
  change: Updateable<UserTable>,
  { ip, check, revokesTokens }: SelfWrite,
): Promise<void> {
  const { store, sessions, accessTokens, writeLog, database, clock, notices } = deps;
  const write = store.write(caller.userId, async (trx) => {
    const row = check && (await lockedUser(rawOn(trx, database.kind), caller.userId));
    if (row) check?.(userTag(row));
    await store.update(trx, caller.userId, change);
    if (change.password === undefined) return;
    await sessions.endAll(caller.userId, caller.sessionHash, trx);
    if (revokesTokens) await accessTokens.removeAll(caller.userId, trx);
    await notices.record(trx, { userId: caller.userId, kind: "password_changed", ip });
    await writeLog(rawOn(trx, database.kind), {
      user_id: caller.userId,
      username: caller.username,
      created_at: seconds(clock),
      type: LOG_TYPE.manage,
      content: "Password changed",
      ip,
      other: operatorInfo(caller, ip),
    });
  });
  try {
    await write;
  } catch (cause) {
    if (isDuplicate(cause)) throw new Refusal("username_taken", { field: "username", cause });
    throw cause;
  }
}

/** Deletes the account. The name stays taken; its sessions, access tokens and keys are refused from now on. */
async function deleteSelf({ store, clock }: SelfRoutesDeps, { caller }: Call<typeof selfDelete>): Promise<void> {
  if (caller.role === ROLE.root) throw new Refusal("root_cannot_be_deleted");
  await store.write(caller.userId, (trx) => store.update(trx, caller.userId, { deleted_at: seconds(clock) }));
}

function listModels({ snapshot, options }: SelfRoutesDeps, caller: Principal): string[] {
  const { index } = snapshot();
  const models = new Set<string>();
  for (const group of Object.keys(usableGroups(options(), caller.group))) {
    for (const model of index.get(group)?.keys() ?? []) models.add(model);
  }
  return [...models].sort();
}

async function inviteCode({ store }: SelfRoutesDeps, caller: Principal): Promise<string> {
  const user = await requireAccount(store, caller);
  if (user.aff_code !== "") return user.aff_code;
  const code = newInviteCode();
  await store.write(user.id, (trx) => store.update(trx, user.id, { aff_code: code }));
  return code;
}

async function transfer(deps: SelfRoutesDeps, call: Call<typeof selfInviteTransfer>): Promise<void> {
  const { body, caller, context } = call;
  const options = deps.options();
  const { quota: amount } = body;
  if (amount === undefined) throw new Refusal("invalid_parameter", { field: "quota" });
  const show = (quota: number) => formatQuota(quota, moneyStyle(options));
  const least = Math.ceil(options.QuotaPerUnit);
  if (amount < least) throw new Refusal("transfer_below_minimum", { field: "quota", values: { min: show(least) } });
  const content = `Transferred ${show(amount)} of invitation rewards to the balance`;
  await deps.ledger.changeWith(async (tx) => {
    const take = "update users set aff_quota = aff_quota - ? where id = ? and aff_quota >= ?";
    if ((await tx.run(take, [amount, caller.userId, amount])) === 0)
      throw new Refusal("invitation_quota_insufficient", { field: "quota" });
    const who = { user_id: caller.userId, username: caller.username, created_at: seconds(deps.clock), ip: context.ip };
    await deps.writeLog(tx, { ...who, type: LOG_TYPE.system, content });
    return {
      requestId: context.requestId,
      kind: "transfer",
      userId: caller.userId,
      quota: toQuota(amount),
      detail: content,
    };
  });
  call.message(messageText("transfer_succeeded"));
}

async function storePreferences({ database, clock }: SelfRoutesDeps, userId: number, text: string): Promise<void> {
  if (Buffer.byteLength(text) > PREFERENCES_MAX_BYTES) {
    throw new Refusal("invalid_field", {
      values: { field: "preferences", reason: fill(REASONS.tooLong, { n: PREFERENCES_MAX_BYTES }) },
    });
  }
  const columns = ["user_id", "value", "updated_at"];
  const upsert = { table: "preferences", columns, key: ["user_id"], replace: ["value", "updated_at"] } as const;
  await database.raw.run(upsertSql(database.raw.kind, upsert), [userId, text, seconds(clock)]);
}
