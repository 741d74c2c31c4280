import {
  ACCOUNT_KIND,
  LOG_TYPE,
  ROLE,
  USER_ACTIONS,
  USER_STATUS,
  userManage,
  userTopUp,
  type UserAction,
} from "@fairway/wire";
import type { Kysely } from "kysely";
import { recordEvent } from "../../events/record-event.ts";
import { implement, type Call, type Principal, type Route } from "../../http/endpoint.ts";
import { endAccessTokens } from "../../identity/keys/access-token.ts";
import { usernameKey } from "../../identity/accounts/accounts.ts";
import { findManager } from "../../identity/providers/managed.ts";
import { canChange } from "../../identity/accounts/roles.ts";
import { seconds } from "../../lib/clock.ts";
import { Refusal } from "../../lib/refusal.ts";
import { operatorInfo } from "../../storage/log-rows.ts";
import type { Schema } from "../../storage/tables/schema.ts";
import { rawOn } from "../../storage/transaction.ts";
import type { AdminRoutesDeps } from "./admin-routes.ts";
import { changeQuota, type QuotaChange } from "./change-quota.ts";
import { readQuota } from "./input.ts";
import { readIdempotencyKey } from "./once.ts";
import { lockedUser } from "./store.ts";
import type { UserRow } from "./view.ts";

type Change = Partial<Pick<UserRow, "role" | "status" | "deleted_at">>;

const LOGGED: Readonly<Record<Exclude<UserAction, "add_quota">, string>> = {
  disable: "Disabled by an administrator",
  enable: "Enabled by an administrator",
  delete: "Deleted by an administrator",
  promote: "Promoted to administrator",
  demote: "Demoted to regular user",
};

/** Creates the routes with which administrators manage users. */
export function userManageRoutes(deps: AdminRoutesDeps): Route[] {
  return [manageRoute(deps), topUpRoute(deps)];
}

/**
 * Who has left the company comes back through its directory. An administrator may disable its people at any time,
 * because access must end at once when it has to.
 */
async function refuseEnabling({ database }: AdminRoutesDeps, userId: number): Promise<void> {
  const manager = await findManager(database.db, userId);
  if (manager && !manager.isActive)
    throw new Refusal("account_managed", { field: "action", values: { provider: manager.provider } });
}

function manageRoute(deps: AdminRoutesDeps): Route {
  return implement(userManage, async (call) => {
    const { body, caller, context, request } = call;
    const found = await findUser(deps.store, call);
    if (!found) await refuseWallet(deps.database, call);
    const user = changeable(found, caller);
    const action = USER_ACTIONS.find((one) => one === body.action);
    if (action === undefined) throw new Refusal("unknown_action", { field: "action" });
    if (action === "add_quota") {
      const by = readQuotaMove(call);
      const once = readIdempotencyKey(request, caller, {
        userId: user.id,
        mode: body.mode ?? "",
        value: body.value ?? 0,
      });
      const quota = await changeQuota(deps, { userId: user.id, by, operator: caller, context, once });
      return answer({ ...user, quota });
    }
    if (action === "enable") await refuseEnabling(deps, user.id);
    return answer(await take(deps, { id: user.id, action, caller, ip: context.ip }));
  });
}

function topUpRoute(deps: AdminRoutesDeps): Route {
  return implement(userTopUp, async ({ body, caller, context, request }) => {
    const { quota = Number.NaN, remark = "" } = body;
    const user = changeable(await deps.store.find(readId(body.user_id, "user_id")), caller);
    const by = readQuota(quota);
    const once = readIdempotencyKey(request, caller, { userId: user.id, quota: by, remark });
    await changeQuota(deps, { userId: user.id, by: () => by, operator: caller, context, once, remark });
  });
}

function findUser(store: AdminRoutesDeps["store"], { body }: Call<typeof userManage>): Promise<UserRow | undefined> {
  const { id, username = "" } = body;
  const isByName = id === undefined && username.trim() !== "";
  return isByName ? store.findByName(usernameKey(username.trim())) : store.find(readId(id, "id"));
}

/** Throws `account_is_wallet` if the account is one of a team, which the calls about teams change. */
async function refuseWallet({ db }: AdminRoutesDeps["database"], { body }: Call<typeof userManage>): Promise<void> {
  const wallets = db.selectFrom("users").select("id").where("kind", "=", ACCOUNT_KIND.wallet);
  const named =
    body.id === undefined
      ? wallets.where("username_key", "=", usernameKey((body.username ?? "").trim()))
      : wallets.where("id", "=", readId(body.id, "id"));
  if (await named.executeTakeFirst()) throw new Refusal("account_is_wallet");
}

function readId(id: unknown, field: string): number {
  if (typeof id !== "number" || !Number.isSafeInteger(id) || id < 1) throw new Refusal("invalid_parameter", { field });
  return id;
}

/**
 * Returns the change of the quota. `value` is a signed difference unless the call names the operation, as later
 * compatible consoles do.
 */
function readQuotaMove({ body: { value = Number.NaN, mode = "" } }: Call<typeof userManage>): QuotaChange["by"] {
  if (!Number.isSafeInteger(value) || (mode !== "" && value < 0))
    throw new Refusal("quota_invalid", { field: "value" });
  switch (mode) {
    case "":
    case "add":
      return () => value;
    case "subtract":
      return () => -value;
    case "override":
      return (balance) => value - balance;
    default:
      throw new Refusal("invalid_parameter", { field: "mode" });
  }
}

function changeable(user: UserRow | undefined, caller: Principal): UserRow {
  if (!user) throw new Refusal("user_not_found");
  if (user.deleted_at !== null) throw new Refusal("user_deleted");
  if (!canChange(caller, user)) throw new Refusal("user_change_not_permitted");
  return user;
}

function changeFor(action: keyof typeof LOGGED, user: UserRow, caller: Principal, now: number): Change {
  const isRoot = user.role === ROLE.root;
  switch (action) {
    case "disable":
      if (isRoot) throw new Refusal("root_cannot_be_disabled");
      return { status: USER_STATUS.disabled };
    case "enable":
      return { status: USER_STATUS.enabled };
    case "delete":
      if (isRoot) throw new Refusal("root_cannot_be_deleted");
      return { deleted_at: now };
    case "promote":
      if (caller.role !== ROLE.root) throw new Refusal("promotion_needs_root");
      if (user.role >= ROLE.admin) throw new Refusal("user_already_admin");
      return { role: ROLE.admin };
    case "demote":
      if (isRoot) throw new Refusal("root_cannot_be_demoted");
      if (user.role === ROLE.user) throw new Refusal("user_already_regular");
      return { role: ROLE.user };
  }
}

function isEffective(user: UserRow, change: Change): boolean {
  return Object.entries(change).some(([name, value]) => user[name as keyof Change] !== value);
}

interface Step {
  readonly id: number;
  readonly action: keyof typeof LOGGED;
  readonly caller: Principal;
  readonly ip: string;
}

/**
 * Checks the locked row and returns it after the change. A disabled or deleted account is refused with the reason; its
 * sessions are removed when they are next used. Sessions that were not used in the meantime are removed here before the
 * account is enabled again, and so are its access tokens: a user who was disabled has to sign in again.
 */
function take(deps: AdminRoutesDeps, { id, action, caller, ip }: Step): Promise<UserRow> {
  return deps.store.write(id, async (trx) => {
    const tx = rawOn(trx, deps.database.kind);
    const user = changeable(await lockedUser(tx, id), caller);
    const change = changeFor(action, user, caller, seconds(deps.clock));
    if (!isEffective(user, change)) return user;
    await deps.store.update(trx, id, change);
    if (action === "enable") {
      await deps.sessions.endAll(id, undefined, trx);
      await endAccessTokens(tx, id);
    }
    if (action === "disable") await recordDisabled(deps, trx, { user, caller });
    await deps.writeLog(tx, {
      user_id: id,
      username: user.username,
      created_at: seconds(deps.clock),
      type: LOG_TYPE.manage,
      content: LOGGED[action],
      ip,
      other: operatorInfo(caller, ip),
    });
    return { ...user, ...change };
  });
}

function recordDisabled(
  { clock }: AdminRoutesDeps,
  trx: Kysely<Schema>,
  { user, caller }: { readonly user: UserRow; readonly caller: Principal },
): Promise<void> {
  const atMs = clock.now();
  return recordEvent(trx, {
    type: "account.disabled",
    atMs,
    accountId: user.id,
    userId: user.id,
    dedupKey: `account.disabled:${user.id}:${atMs}`,
    data: { username: user.username, by: caller.username },
  });
}

function answer({ id, username, role, status, quota }: UserRow) {
  return { id, username, role, status, quota };
}
