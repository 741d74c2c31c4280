import { randomUUID } from "node:crypto";
import { ROLE, USER_STATUS } from "@fairway/wire";
import { recordEvent } from "../../events/record-event.ts";
import { checkUsername, usernameKey } from "../../identity/accounts/accounts.ts";
import { parseEmail } from "../../identity/mail/email-address.ts";
import { ownsAddress } from "../../identity/providers/enforcement.ts";
import type { Provider } from "../../identity/providers/provider.ts";
import { badRequest, ScimError } from "../../identity/scim/scim-error.ts";
import { buildVersion, findDisplayName, type ScimUser, type UserFacts } from "../../identity/scim/user.ts";
import { endSessions } from "../../identity/sessions/sessions.ts";
import { seconds } from "../../lib/clock.ts";
import { Refusal } from "../../lib/refusal.ts";
import { isDuplicate } from "../../storage/errors.ts";
import { bump } from "../../storage/revisions.ts";
import { rawOn } from "../../storage/transaction.ts";
import { cutName, freeEmail, underFreeName, type BindingDeps } from "../auth/bindings.ts";
import { createAccount } from "../users/create.ts";
import { lockedUser } from "../users/store.ts";
import { findUser, isUserNameTaken, toUserColumns, type Trx, toId } from "../../identity/scim/store.ts";

/** Creates the account of a person of a directory, or takes over the one that is already theirs. */
export async function createUser(deps: BindingDeps, provider: Provider, facts: UserFacts): Promise<ScimUser> {
  const { db } = deps.database;
  if (await isUserNameTaken(db, provider.id, facts.userName)) throw nameTaken(facts);
  const id = randomUUID();
  const existing = await findExisting(deps, provider, facts);
  try {
    if (existing === undefined) await createWithAccount(deps, provider, { id, facts });
    else await deps.users.write(existing, (trx) => insertUser(deps, trx, { id, provider, userId: existing, facts }));
  } catch (cause) {
    throw isDuplicate(cause) ? nameTaken(facts) : cause;
  }
  if (!facts.active) await updateUser(deps, provider, { id, change: (user) => ({ ...user, active: false }) });
  else await syncAccount(deps, provider, id);
  return requireUser(await findUser(db, provider.id, id));
}

function nameTaken({ userName }: UserFacts): ScimError {
  return new ScimError(409, `The userName ${userName} is taken.`, { scimType: "uniqueness" });
}

export function requireUser(user: ScimUser | undefined): ScimUser {
  if (!user) throw new ScimError(404, "There is no such user.");
  return user;
}

/**
 * Returns the account of a person who has signed in already, or that of the address by the rules for newcomers. The
 * super administrator is never found, an administrator only by an earlier sign-in.
 */
async function findExisting(
  { database }: BindingDeps,
  provider: Provider,
  { externalId, emails }: UserFacts,
): Promise<number | undefined> {
  const { db } = database;
  const free = db
    .selectFrom("users")
    .select(["users.id", "users.role", "users.status"])
    .where("users.deleted_at", "is", null)
    .where("users.role", "<", ROLE.root)
    .where("users.id", "not in", db.selectFrom("scim_users").select("user_id"));
  if (externalId !== "") {
    const linked = await free
      .innerJoin("user_identities", "user_identities.user_id", "users.id")
      .where("provider_id", "=", provider.id)
      .where("subject", "=", externalId)
      .executeTakeFirst();
    if (linked) return linked.id;
  }
  if (provider.jit !== "link") return undefined;
  const owned = emails.map(({ value }) => parseEmail(value) ?? "").filter((email) => ownsAddress(provider, email));
  if (owned.length === 0) return undefined;
  const found = await free.where("users.email", "in", owned).where("users.role", "<", ROLE.admin).executeTakeFirst();
  return found?.status === USER_STATUS.enabled ? found.id : undefined;
}

interface NewRow {
  readonly id: string;
  readonly provider: Provider;
  readonly userId: number;
  readonly facts: UserFacts;
}

async function insertUser({ clock }: Pick<BindingDeps, "clock">, trx: Trx, { id, provider, userId, facts }: NewRow) {
  const now = seconds(clock);
  const dates = { created_at: now, updated_at: now };
  // It begins as active: switching off is a change of its own.
  const columns = toUserColumns({ ...facts, active: true });
  const row = { id, provider_id: provider.id, user_id: userId, ...columns, is_disabler: 0, version: 1, ...dates };
  await trx.insertInto("scim_users").values(row).execute();
}

async function createWithAccount(
  deps: BindingDeps,
  provider: Provider,
  { id, facts }: { readonly id: string; readonly facts: UserFacts },
): Promise<void> {
  const email = await findFreeEmail(deps, provider, facts);
  const make = async (username: string): Promise<boolean> => {
    try {
      await createAccount(deps, {
        username,
        // No password matches until one is set.
        passwordHash: "",
        displayName: cutName(findDisplayName(facts)),
        isRegistration: true,
        ...(email !== undefined && { email }),
        after: (trx, userId) => insertUser(deps, trx, { id, provider, userId, facts }),
      });
      return true;
    } catch (cause) {
      if (cause instanceof Refusal && cause.key === "username_taken") return false;
      throw cause;
    }
  };
  const wish = facts.userName.split("@")[0]?.trim() ?? "";
  const isFree = checkUsername(wish) === undefined && !(await deps.store.isNameTaken(usernameKey(wish)));
  if (isFree && (await make(wish))) return;
  await underFreeName(deps, provider.slug, make);
}

/** Returns the first address of the company's own domains that no account has. */
async function findFreeEmail(
  deps: BindingDeps,
  provider: Provider,
  { emails }: UserFacts,
): Promise<string | undefined> {
  for (const { value } of emails.toSorted((a, b) => Number(b.primary) - Number(a.primary))) {
    const email = ownsAddress(provider, value) ? await freeEmail(deps, value) : undefined;
    if (email !== undefined) return email;
  }
  return undefined;
}

export interface UserChange {
  readonly id: string;
  /** Returns what the directory says now. */
  readonly change: (user: ScimUser) => UserFacts;
  /** Refuses the change if the user has another version. */
  readonly ifMatch?: string | undefined;
}

/** Changes a person and the account in one transaction. */
export async function updateUser(
  deps: BindingDeps,
  provider: Provider,
  { id, change, ifMatch }: UserChange,
): Promise<ScimUser> {
  const { db, kind } = deps.database;
  const known = requireUser(await findUser(db, provider.id, id));
  try {
    await deps.users.write(known.userId, async (trx) => {
      const account = await lockedUser(rawOn(trx, kind), known.userId);
      const user = requireUser(await findUser(trx, provider.id, id));
      checkVersion(user, ifMatch);
      const facts = change(user);
      const columns = { ...toUserColumns(facts), version: user.version + 1, updated_at: seconds(deps.clock) };
      await trx.updateTable("scim_users").set(columns).where("id", "=", id).execute();
      if (!account || account.deleted_at !== null) return;
      if (user.active && !facts.active) await deactivate(deps, trx, { user, provider });
      if (!user.active && facts.active) await activate(trx, user);
    });
  } catch (cause) {
    if (isDuplicate(cause)) throw new ScimError(409, "The userName is taken.", { scimType: "uniqueness" });
    throw cause;
  }
  await syncAccount(deps, provider, id);
  return requireUser(await findUser(db, provider.id, id));
}

export function checkVersion({ version }: { readonly version: number }, ifMatch: string | undefined): void {
  if (ifMatch === undefined || ifMatch === "*") return;
  if (!ifMatch.split(",").some((tag) => tag.trim() === buildVersion(version)))
    throw new ScimError(412, "The resource has changed: read it again.");
}

interface Deactivation {
  readonly user: ScimUser;
  readonly provider: Provider;
}

/**
 * Switches the account off and ends all that acts for it: sessions, access tokens, pending codes. Its keys are refused
 * from then on, because every replica drops its copy of the account.
 */
async function deactivate({ clock, database }: BindingDeps, trx: Trx, { user, provider }: Deactivation): Promise<void> {
  const tx = rawOn(trx, database.kind);
  const { userId } = user;
  const row = await trx
    .selectFrom("users")
    .select(["username", "email", "role", "status"])
    .where("id", "=", userId)
    .executeTakeFirst();
  if (!row || row.role === ROLE.root) throw new ScimError(403, "The super administrator cannot be switched off.");
  if (row.status === USER_STATUS.enabled) {
    await trx.updateTable("users").set({ status: USER_STATUS.disabled }).where("id", "=", userId).execute();
    await trx.updateTable("scim_users").set({ is_disabler: 1 }).where("id", "=", user.id).execute();
  }
  await endSessions(tx, userId);
  await trx.deleteFrom("access_tokens").where("user_id", "=", userId).execute();
  if (row.email !== null) await trx.deleteFrom("one_time_codes").where("subject", "=", row.email).execute();
  await bump(tx, database.kind, "tokens");
  await recordEvent(trx, {
    type: "scim.user_deactivated",
    atMs: clock.now(),
    dedupKey: `scim.user_deactivated:${user.id}:${user.version}`,
    data: { id: userId, username: row.username, provider: provider.slug },
  });
}

/** Switches on only what the directory has switched off. */
async function activate(trx: Trx, { id, userId }: ScimUser): Promise<void> {
  const row = await trx.selectFrom("scim_users").select("is_disabler").where("id", "=", id).executeTakeFirst();
  if (row?.is_disabler !== 1) return;
  await trx.updateTable("users").set({ status: USER_STATUS.enabled }).where("id", "=", userId).execute();
  await trx.updateTable("scim_users").set({ is_disabler: 0 }).where("id", "=", id).execute();
}

/** Gives the account the name and the address that the directory has. */
async function syncAccount(deps: BindingDeps, provider: Provider, id: string): Promise<void> {
  const user = await findUser(deps.database.db, provider.id, id);
  if (!user) return;
  const account = await deps.users.find(user.userId);
  if (!account || account.role === ROLE.root) return;
  const display_name = cutName(findDisplayName(user));
  const isOwn = user.emails.some(({ value }) => parseEmail(value) === account.email);
  const email = isOwn ? undefined : await findFreeEmail(deps, provider, user);
  const change = {
    ...(display_name !== account.display_name && { display_name }),
    ...(email !== undefined && { email }),
  };
  if (Object.keys(change).length === 0) return;
  await deps.users.write(user.userId, (trx) => deps.users.update(trx, user.userId, change));
}

/** Removes a person: the account is switched off, and nothing at the provider leads to it any more. */
export async function removeUser(deps: BindingDeps, provider: Provider, id: string, ifMatch?: string): Promise<void> {
  const { db } = deps.database;
  const known = requireUser(await findUser(db, provider.id, id));
  await deps.users.write(known.userId, async (trx) => {
    const user = requireUser(await findUser(trx, provider.id, id));
    checkVersion(user, ifMatch);
    await deactivate(deps, trx, { user, provider });
    await trx.deleteFrom("scim_members").where("member_id", "=", id).execute();
    await trx.deleteFrom("scim_users").where("id", "=", id).execute();
    await trx
      .deleteFrom("user_identities")
      .where("provider_id", "=", provider.id)
      .where("user_id", "=", user.userId)
      .execute();
  });
}

/** Refuses members that the directory has not made. */
export async function checkMembers(trx: Trx, providerId: number, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  const rows = await trx
    .selectFrom("scim_users")
    .select("id")
    .where("provider_id", "=", providerId)
    .where("id", "in", ids.map(toId))
    .execute();
  const known = new Set(rows.map(({ id }) => id));
  const missing = ids.find((id) => !known.has(id));
  if (missing !== undefined) throw badRequest("invalidValue", `There is no user ${missing}.`);
}
