import { ACCOUNT_KIND, DISPLAY_NAME_MAX, USER_STATUS, type SignedInUser } from "@fairway/wire";
import { parseEmail } from "../../identity/mail/email-address.ts";
import type { CredentialNotices } from "../../identity/mail/credential-notices.ts";
import type { RequestContext } from "../../http/context.ts";
import type { Principal } from "../../identity/principal.ts";
import type { SessionOrigin } from "../../identity/sessions/sessions.ts";
import type { TwoFactor } from "../../identity/second-factor/two-factor.ts";
import { seconds } from "../../lib/clock.ts";
import { Refusal } from "../../lib/refusal.ts";
import { isDuplicate } from "../../storage/errors.ts";
import { createAccount, type CreateAccountDeps } from "../users/create.ts";
import type { UserStore } from "../users/store.ts";
import { openSession, type Exchange, type SignInDeps } from "./sign-in.ts";

export interface BindingDeps extends CreateAccountDeps, Pick<SignInDeps, "credentials" | "enforcement"> {
  readonly users: UserStore;
  readonly twoFactor: TwoFactor;
  readonly notices: CredentialNotices;
}

export type BindingColumn = "github_uid" | "wechat_id" | "telegram_id" | "linux_do_id" | "oidc_id";

interface Identity {
  readonly column: BindingColumn;
  readonly value: string | number;
  /** Columns that are only for display. */
  readonly more?: { readonly github_id: string };
}

export interface Newcomer extends Identity {
  /** Prefix of the names of accounts that a sign-in creates: `github_7`. */
  readonly prefix: string;
  readonly displayName: string;
  /** Used only if it is valid and not taken. */
  readonly email?: string;
  readonly affCode?: string;
}

const NAME_ATTEMPTS = 50;

interface Found {
  readonly id: number;
  readonly username: string;
  readonly display_name: string;
  readonly role: number;
  readonly status: number;
  readonly group: string;
  readonly deleted_at: number | null;
}

const COLUMNS = ["id", "username", "display_name", "role", "status", "group", "deleted_at"] as const;

export function findByIdentity(
  { database }: Pick<BindingDeps, "database">,
  column: BindingColumn,
  value: string | number,
): Promise<Found | undefined> {
  const persons = database.db.selectFrom("users").select(COLUMNS).where("kind", "=", ACCOUNT_KIND.person);
  return persons.where(column, "=", value).executeTakeFirst();
}

/** Signs in the owner of an identity; creates the account first if there is none and registration is open. */
export async function enter(deps: BindingDeps, exchange: Exchange, newcomer: Newcomer): Promise<SignedInUser> {
  const known = await findByIdentity(deps, newcomer.column, newcomer.value);
  if (known) {
    if (known.deleted_at !== null) throw new Refusal("account_deleted", { status: 200 });
    if (known.status !== USER_STATUS.enabled) throw new Refusal("account_disabled", { status: 200 });
    await refresh(deps, known.id, newcomer);
    await passFactor(deps, exchange, known.id);
    return openSession(deps, exchange, known);
  }
  if (!deps.options().RegisterEnabled) throw new Refusal("registration_disabled");
  await makeAccount(deps, newcomer);
  const made = await findByIdentity(deps, newcomer.column, newcomer.value);
  if (!made) throw new Error("the account that was made is not there");
  return openSession(deps, exchange, made);
}

/**
 * Throws `second_factor_required` if the account has a second factor: a service replaces only the password. The code
 * comes in a separate call.
 */
export async function passFactor(
  { twoFactor, credentials, clock }: Pick<BindingDeps, "twoFactor" | "credentials" | "clock">,
  exchange: Exchange,
  id: number,
  origin?: SessionOrigin,
) {
  if (!(await twoFactor.state(id)).isOn) return;
  const { request, response, context } = exchange;
  const step = { factorUser: id, factorAt: seconds(clock) };
  await credentials.remember(request, response, { ...step, ...(origin && { factorOrigin: origin }) }, context);
  throw new Refusal("second_factor_required", { field: "code", siblings: { two_factor: true } });
}

async function refresh({ users }: BindingDeps, userId: number, { more }: Identity): Promise<void> {
  if (more) await users.write(userId, (trx) => users.update(trx, userId, more));
}

/** Creates the account with the next free number in its name, also with concurrent sign-ins. */
async function makeAccount(deps: BindingDeps, newcomer: Newcomer): Promise<void> {
  const email = await freeEmail(deps, newcomer.email);
  await underFreeName(deps, newcomer.prefix, (username) => madeAs(deps, newcomer, username, email));
}

/** Calls `make` with names that begin with the prefix until it says that the name was free. */
export async function underFreeName(
  { database }: Pick<BindingDeps, "database">,
  prefix: string,
  make: (username: string) => Promise<boolean>,
): Promise<void> {
  const last = await database.db
    .selectFrom("users")
    .select((eb) => eb.fn.max("id").as("id"))
    .executeTakeFirst();
  const first = Number(last?.id ?? 0) + 1;
  for (let number = first; number < first + NAME_ATTEMPTS; number += 1) {
    if (await make(`${prefix}_${number}`)) return;
  }
  throw new Error("no free name was found for a new account");
}

/** Returns the address if it is one that no account has. */
export async function freeEmail(
  { users }: Pick<BindingDeps, "users">,
  text: string | undefined,
): Promise<string | undefined> {
  const email = parseEmail(text ?? "");
  return email !== undefined && !(await users.isEmailTaken(email)) ? email : undefined;
}

/** Returns false if the name is taken; true also if another call created the account in the meantime. */
async function madeAs(
  deps: BindingDeps,
  { column, value, more, displayName, affCode = "" }: Newcomer,
  username: string,
  email: string | undefined,
): Promise<boolean> {
  try {
    await createAccount(deps, {
      username,
      // No password matches until one is set.
      passwordHash: "",
      displayName: cutName(displayName),
      isRegistration: true,
      affCode,
      bindings: { [column]: value, ...more },
      ...(email === undefined ? {} : { email }),
    });
    return true;
  } catch (cause) {
    if (isDuplicate(cause)) return true;
    if (cause instanceof Refusal && cause.key === "username_taken") return false;
    throw cause;
  }
}

export function cutName(text: string): string {
  return Array.from(text).slice(0, DISPLAY_NAME_MAX).join("");
}

/** Binds an identity to an account; throws `oauth_account_already_bound` if any account has it. */
export async function bindIdentity(
  { users, notices }: Pick<BindingDeps, "users" | "notices">,
  { caller, context }: { readonly caller: Pick<Principal, "userId">; readonly context: RequestContext },
  { column, value, more, provider }: Identity & { readonly provider: string },
): Promise<void> {
  const { userId } = caller;
  try {
    await users.write(userId, async (trx) => {
      const taken = await trx.selectFrom("users").select("id").where(column, "=", value).executeTakeFirst();
      if (taken) throw new Refusal("oauth_account_already_bound", { values: { provider } });
      await users.update(trx, userId, { [column]: value, ...more });
      await notices.record(trx, { userId, kind: "account_bound", ip: context.ip });
    });
  } catch (cause) {
    if (isDuplicate(cause)) throw new Refusal("oauth_account_already_bound", { values: { provider }, cause });
    throw cause;
  }
  notices.send({ userId, what: `A ${provider} account was bound.`, ip: context.ip });
}
