import { ROLE, USER_STATUS } from "@fairway/wire";
import type { Kysely } from "kysely";
import { buildSlotKey, recordEvent } from "../../events/record-event.ts";
import { usernameKey, checkUsername } from "../../identity/accounts/accounts.ts";
import { ownsAddress } from "../../identity/providers/enforcement.ts";
import {
  findIdentity,
  findIdentityByUser,
  insertIdentity,
  planGrants,
  type Identity,
} from "../../identity/providers/identities.ts";
import { evaluateMapping, findClaim, isIncomplete, pickClaims } from "../../identity/providers/mapping.ts";
import type { Person } from "../../identity/providers/person.ts";
import type { Provider } from "../../identity/providers/provider.ts";
import { readDirectoryClaims } from "../../identity/scim/claims.ts";
import { findUserByExternalId } from "../../identity/scim/store.ts";
import { endSessions } from "../../identity/sessions/sessions.ts";
import { seconds } from "../../lib/clock.ts";
import { Refusal } from "../../lib/refusal.ts";
import { isDuplicate } from "../../storage/errors.ts";
import type { Schema } from "../../storage/tables/schema.ts";
import { rawOn } from "../../storage/transaction.ts";
import { createAccount } from "../users/create.ts";
import { lockedUser, type Trx } from "../users/store.ts";
import type { UserRow } from "../users/view.ts";
import { cutName, freeEmail, underFreeName, type BindingDeps } from "./bindings.ts";

const DAY_MS = 86_400_000;

/** A person who comes from a provider. */
export interface Arrival {
  readonly provider: Provider;
  readonly person: Person;
  readonly affCode: string;
}

/** Returns the id of the person's account; links or creates one as the provider's rules for newcomers say. */
export async function findAccount(deps: BindingDeps, arrival: Arrival): Promise<number> {
  const { provider, person } = arrival;
  const { db } = deps.database;
  const known = await findIdentity(db, provider.id, person.subject);
  if (known) return known.userId;
  const listed = await linkToDirectory(deps, arrival);
  if (listed !== undefined) return listed;
  if (provider.jit === "off") throw new Refusal("identity_not_linked", { values: { provider: provider.name } });
  const linked = provider.jit === "link" ? await linkByAddress(deps, arrival) : undefined;
  if (linked !== undefined) return linked;
  await createLinked(deps, arrival);
  const made = await findIdentity(db, provider.id, person.subject);
  if (!made) throw new Error("the account that was made is not linked");
  return made.userId;
}

/** Links the account that the company's directory has made for the person, unless it has another person already. */
async function linkToDirectory(deps: BindingDeps, { provider, person }: Arrival): Promise<number | undefined> {
  const { db } = deps.database;
  const { subject, claims } = person;
  const named = findClaim(claims, provider.scim_match);
  const ids = [...(typeof named === "string" && named !== "" ? [named] : []), subject];
  const userId = await findUserByExternalId(db, provider.id, ids);
  if (userId === undefined || (await findIdentityByUser(db, provider.id, userId))) return undefined;
  await link(deps, { provider, subject, userId, ip: "" });
  return userId;
}

/**
 * Joins the account of the person's address once. The address must be verified and of a domain that the provider owns,
 * and the account must be that of a regular user whom the provider does not know yet: otherwise anyone who can set an
 * address at the provider could take the account over.
 */
async function linkByAddress(deps: BindingDeps, { provider, person }: Arrival): Promise<number | undefined> {
  const { email, subject } = person;
  if (email === "") return undefined;
  const user = await findByAddress(deps.database.db, email);
  if (!user) return undefined;
  const isOpen = user.role < ROLE.admin && user.status === USER_STATUS.enabled && user.deleted_at === null;
  if (!ownsAddress(provider, email) || !isOpen) throw addressTaken(provider);
  await link(deps, { provider, subject, userId: user.id, ip: "" }).catch((cause: unknown) => {
    throw isDuplicate(cause) ? addressTaken(provider) : cause;
  });
  deps.notices.send({ userId: user.id, what: `Your account was linked to ${provider.name}.`, ip: "" });
  return user.id;
}

function addressTaken({ name }: Provider): Refusal {
  return new Refusal("identity_address_taken", { values: { provider: name } });
}

function findByAddress(db: Kysely<Schema>, email: string) {
  return db
    .selectFrom("users")
    .select(["id", "role", "status", "deleted_at"])
    .where("email", "=", email)
    .executeTakeFirst();
}

interface Link {
  readonly provider: Provider;
  readonly subject: string;
  readonly userId: number;
  /** Address of the person's browser; "" at a first sign-in. */
  readonly ip: string;
}

/** Links an account to a person; fails as a duplicate if either is linked to the provider already. */
export async function link(deps: BindingDeps, { provider, subject, userId, ip }: Link): Promise<void> {
  const row = { providerId: provider.id, subject, userId, now: seconds(deps.clock) };
  await deps.users.write(userId, async (trx) => {
    await insertIdentity(trx, row);
    await deps.notices.record(trx, { userId, kind: "account_bound", ip });
  });
}

async function createLinked(deps: BindingDeps, { provider, person, affCode }: Arrival): Promise<void> {
  const email = await freeEmail(deps, person.email);
  const now = seconds(deps.clock);
  const make = async (username: string): Promise<boolean> => {
    try {
      await createAccount(deps, {
        username,
        // No password matches until one is set.
        passwordHash: "",
        displayName: cutName(person.name),
        isRegistration: true,
        affCode,
        ...(email !== undefined && { email }),
        after: (trx, userId) => insertIdentity(trx, { providerId: provider.id, subject: person.subject, userId, now }),
      });
      return true;
    } catch (cause) {
      if (cause instanceof Refusal && cause.key === "username_taken") return false;
      // Another call created the account in the meantime.
      if (isDuplicate(cause)) return true;
      throw cause;
    }
  };
  const wish = readWish(person);
  if (wish !== "" && !(await deps.store.isNameTaken(usernameKey(wish))) && (await make(wish))) return;
  await underFreeName(deps, provider.slug, make);
}

/** Returns the name that the person has at the provider, if an account here can have it; "" otherwise. */
function readWish({ claims }: Person): string {
  const name = claims["preferred_username"];
  const wish = typeof name === "string" ? (name.split("@")[0] ?? "").trim() : "";
  return checkUsername(wish) === undefined ? wish : "";
}

/**
 * Gives the account what the provider's rules give now, in one transaction with the note of it; a lowered role ends the
 * sessions. Throws if the account may not sign in.
 */
export async function refreshAccount(
  { users, database, clock }: BindingDeps,
  { provider, person }: Arrival,
  userId: number,
): Promise<UserRow> {
  const { kind } = database;
  return users.write(userId, async (trx) => {
    const tx = rawOn(trx, kind);
    const user = await lockedUser(tx, userId);
    if (!user || user.deleted_at !== null) throw new Refusal("account_deleted", { status: 200 });
    if (user.status !== USER_STATUS.enabled) throw new Refusal("account_disabled", { status: 200 });
    const identity = await findIdentity(trx, provider.id, person.subject);
    // An administrator has removed the link in the meantime.
    if (!identity) throw new Refusal("identity_not_linked", { values: { provider: provider.name } });
    const change = await applyMapping(trx, { user, identity, arrival: { provider, person }, now: seconds(clock) });
    if (Object.keys(change).length > 0) await users.update(trx, userId, change);
    if (change.role !== undefined && change.role < user.role) await endSessions(tx, userId);
    return { ...user, ...change };
  });
}

interface Application {
  readonly user: UserRow;
  readonly identity: Identity;
  readonly arrival: Pick<Arrival, "provider" | "person">;
  readonly now: number;
}

async function applyMapping(trx: Trx, { user, identity, arrival, now }: Application) {
  const { id: providerId, mapping } = arrival.provider;
  const { claims: said } = arrival.person;
  const claims = { ...said, ...(await readDirectoryClaims(trx, providerId, user.id)) };
  const note = trx.updateTable("user_identities").where("id", "=", identity.id);
  // Without the groups no rule can say who loses what: everything stays as it was.
  if (isIncomplete(mapping, claims)) {
    await note.set({ last_at: now }).execute();
    await recordEvent(trx, {
      type: "identity.claims_incomplete",
      atMs: now * 1000,
      dedupKey: buildSlotKey("identity.claims_incomplete", identity.id, { atMs: now * 1000, ms: DAY_MS }),
      data: { provider: arrival.provider.slug, missing: ["groups"] },
    });
    return {};
  }
  const { grants } = evaluateMapping(mapping, claims);
  await note.set({ last_at: now, granted: JSON.stringify({ ...grants, claims: pickClaims(mapping, said) }) }).execute();
  return planGrants({ user, before: identity.granted, grants });
}
