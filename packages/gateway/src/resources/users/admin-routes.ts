import {
  formatStoredTags,
  LOG_TYPE,
  resolvePage,
  ROLE,
  SEARCH_CAP,
  userCreate,
  userDelete,
  userGet,
  userList,
  userSearch,
  userUpdate,
  type OptionValues,
  type User,
} from "@fairway/wire";
import type { Updateable } from "kysely";
import { implement, type Call, type Principal, type Route } from "../../http/endpoint.ts";
import { setTag, tagCheck, type CheckTag } from "../../http/etag.ts";
import { endAccessTokens } from "../../identity/keys/access-token.ts";
import { usernameKey } from "../../identity/accounts/accounts.ts";
import { findManager, refuseManaged } from "../../identity/providers/managed.ts";
import { endPasskeys } from "../../identity/second-factor/passkeys.ts";
import type { CredentialNotices } from "../../identity/mail/credential-notices.ts";
import type { Passwords } from "../../identity/passwords/passwords.ts";
import { requireProof } from "../../identity/principal.ts";
import { canChange, canDelete, canView } from "../../identity/accounts/roles.ts";
import { endSessions, type Sessions } from "../../identity/sessions/sessions.ts";
import { seconds, type Clock } from "../../lib/clock.ts";
import { Refusal } from "../../lib/refusal.ts";
import type { Database } from "../../storage/database.ts";
import { isDuplicate } from "../../storage/errors.ts";
import { operatorInfo, type WriteLog } from "../../storage/log-rows.ts";
import type { RawTransaction } from "../../storage/engines/raw.ts";
import type { UserTable } from "../../storage/tables/schema-accounts.ts";
import { readLimitsField } from "../limits-field.ts";
import { changeQuota, type ChangeQuotaDeps } from "./change-quota.ts";
import { createAccount, type CreateAccountDeps } from "./create.ts";
import { dropEmpty, readDisplayName, readPassword, readQuota, readUsername } from "./input.ts";
import { lockedUser, updateUser, type UserStore } from "./store.ts";
import { blankedView, userTag, userView, type UserRow } from "./view.ts";

export interface AdminRoutesDeps extends ChangeQuotaDeps, CreateAccountDeps {
  readonly database: Database;
  readonly store: UserStore;
  readonly passwords: Passwords;
  readonly sessions: Sessions;
  readonly options: () => OptionValues;
  readonly clock: Clock;
  readonly writeLog: WriteLog;
  readonly notices: CredentialNotices;
}

export function userAdminRoutes(deps: AdminRoutesDeps): Route[] {
  const { store, passwords } = deps;
  return [
    implement(userList, (call) => answerPage(store, call, resolvePage(call.query))),
    implement(userSearch, (call) => {
      const isPaged = call.query.page_size > 0 || call.query.p > 0;
      return answerPage(store, call, isPaged ? resolvePage(call.query) : { offset: 0, limit: SEARCH_CAP });
    }),
    implement(userGet, async ({ params, caller, response }) => {
      const user = requireUser(await store.find(params.id));
      if (!canView(caller, user)) throw new Refusal("user_view_not_permitted");
      setTag(response, userTag(user));
      const manager = await findManager(deps.database.db, user.id);
      return { ...userView(user), ...(manager && { managed_by: manager.provider }) };
    }),
    implement(userCreate, async ({ body, caller }) => {
      if ((body.username ?? "").trim() === "" || (body.password ?? "") === "") throw new Refusal("credentials_missing");
      const username = readUsername(body.username ?? "");
      const password = readPassword(body.password ?? "");
      const displayName = readDisplayName(body.display_name ?? "");
      if (body.role !== undefined && body.role >= caller.role)
        throw new Refusal("user_create_role_too_high", { field: "role" });
      if (await store.isNameTaken(usernameKey(username))) throw new Refusal("username_taken", { field: "username" });
      await createAccount(deps, {
        username,
        displayName,
        passwordHash: await passwords.hash(password),
        isRegistration: false,
      });
    }),
    implement(userUpdate, (call) => editUser(deps, call)),
    implement(userDelete, ({ params, caller }) =>
      store.remove(params.id, (user) => {
        if (!user) throw new Refusal("user_not_found");
        if (!canDelete(caller, user)) throw new Refusal("user_delete_not_permitted");
      }),
    ),
  ];
}

async function answerPage(
  store: UserStore,
  call: Call<typeof userList>,
  page: { readonly offset: number; readonly limit: number },
): Promise<User[]> {
  const { query, caller } = call;
  const { rows, total } = await store.list({
    viewer: caller,
    keyword: query.keyword,
    // Compatible consoles send this word if no group is selected.
    group: query.group === "undefined" ? "" : query.group,
    roles: query.role,
    statuses: query.status,
    sort: query.sort,
    order: query.order,
    ...page,
  });
  call.setTotal(total);
  return rows.map((row) => (canView(caller, row) ? userView(row) : blankedView(row)));
}

/** Names of people of a directory change there; a form that sends the present ones changes nothing. */
async function refuseManagedNames({ database: { db } }: AdminRoutesDeps, user: UserRow, change: Updateable<UserTable>) {
  if (change.username !== undefined) await refuseManaged(db, user.id, "username");
  const { display_name: name } = change;
  if (name !== undefined && name !== user.display_name) await refuseManaged(db, user.id, "display_name");
}

async function editUser(deps: AdminRoutesDeps, call: Call<typeof userUpdate>): Promise<void> {
  const { body, caller, context } = call;
  if (!body.id || body.id < 1) throw new Refusal("invalid_parameter", { field: "id" });
  const user = requireUser(await deps.store.find(body.id));
  if (!canChange(caller, user)) throw new Refusal("user_change_not_permitted");
  if (body.role !== undefined && body.role >= caller.role && caller.role !== ROLE.root)
    throw new Refusal("user_role_too_high");
  const { change, password } = await readChange(deps, call, user);
  await refuseManagedNames(deps, user, change);
  if (password !== undefined) change.password = await deps.passwords.hash(password);
  const write = (tx: RawTransaction) =>
    writeChange(deps, tx, { user, change, caller, ip: context.ip, check: tagCheck(call.request) });
  try {
    if (body.quota === undefined) await deps.database.raw.transaction(write);
    else
      await changeQuota(deps, {
        userId: user.id,
        by: createQuotaDifference(body),
        operator: caller,
        context,
        also: write,
      });
  } catch (cause) {
    if (isDuplicate(cause)) throw new Refusal("username_taken", { field: "username", cause });
    throw cause;
  }
  if (password !== undefined) {
    deps.notices.send({ userId: user.id, what: "The password was changed by an administrator.", ip: context.ip });
  }
  await deps.store.forget(user.id);
  setTag(call.response, userTag(requireUser(await deps.store.find(user.id))));
}

/**
 * Returns the change of the balance. If the form sends the balance that it started with, only the difference is
 * applied.
 */
function createQuotaDifference({ quota = 0, original_quota: original }: Call<typeof userUpdate>["body"]) {
  return (balance: number) => (original === undefined ? quota - balance : quota - original);
}

async function readChange(
  { store, options }: AdminRoutesDeps,
  { body, caller }: Call<typeof userUpdate>,
  user: UserRow,
): Promise<{ change: Updateable<UserTable>; password: string | undefined }> {
  const change = await readName(store, body.username, user);
  const password = dropEmpty(body.password);
  if (password !== undefined) {
    readPassword(password);
    requireProof(caller);
  }
  if (body.display_name !== undefined) {
    change.display_name = readDisplayName(body.display_name) || (change.username ?? user.username);
  }
  if (body.group !== undefined && body.group !== user.group) {
    if (!Object.hasOwn(options().GroupRatio, body.group))
      throw new Refusal("group_not_found", { field: "group", values: { g: body.group } });
    change.group = body.group;
  }
  if (body.limits !== undefined) change.limits = readLimitsField(body.limits);
  if (body.tag_limits !== undefined) change.tag_limits = formatStoredTags(body.tag_limits);
  checkQuotas(body);
  return { change, password };
}

function checkQuotas({ quota, original_quota: original }: Call<typeof userUpdate>["body"]): void {
  if (quota !== undefined) readQuota(quota);
  if (original !== undefined && !Number.isSafeInteger(original)) throw new Refusal("quota_invalid");
}

async function readName(store: UserStore, text: string | undefined, user: UserRow): Promise<Updateable<UserTable>> {
  if (text === undefined || text === user.username) return {};
  const username = readUsername(text);
  const key = usernameKey(username);
  if (await store.isNameTaken(key, user.id)) throw new Refusal("username_taken", { field: "username" });
  return { username, username_key: key };
}

interface Change {
  readonly user: UserRow;
  readonly change: Updateable<UserTable>;
  readonly caller: Principal;
  readonly ip: string;
  readonly check: CheckTag | undefined;
}

async function writeChange(
  { database, writeLog, clock, notices }: AdminRoutesDeps,
  tx: RawTransaction,
  { user, change, caller, ip, check }: Change,
): Promise<void> {
  const row = requireUser(await lockedUser(tx, user.id));
  if (!canChange(caller, row)) throw new Refusal("user_change_not_permitted");
  check?.(userTag(row));
  if (Object.keys(change).length === 0) return;
  await updateUser(tx, database.kind, { id: user.id, change });
  if (change.password === undefined) return;
  const isOwn = user.id === caller.userId;
  await endSessions(tx, user.id, isOwn ? caller.sessionHash : undefined);
  if (!isOwn) {
    await endAccessTokens(tx, user.id);
    await endPasskeys(tx, user.id);
  }
  const by = isOwn ? undefined : caller.username;
  await notices.recordRaw(tx, { userId: user.id, kind: "password_changed", ip, by });
  await writeLog(tx, {
    user_id: user.id,
    username: user.username,
    created_at: seconds(clock),
    type: LOG_TYPE.manage,
    content: "Password changed by an administrator",
    ip,
    other: operatorInfo(caller, ip),
  });
}

function requireUser(user: UserRow | undefined): UserRow {
  if (!user || user.deleted_at !== null) throw new Refusal("user_not_found");
  return user;
}
