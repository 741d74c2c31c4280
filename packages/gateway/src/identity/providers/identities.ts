import { ROLE } from "@fairway/wire";
import type { Kysely, Selectable, Transaction } from "kysely";
import type { Schema } from "../../storage/tables/schema.ts";
import type { UserIdentityTable } from "../../storage/tables/schema-identity.ts";
import type { Claims, Grants } from "./mapping.ts";

type Db = Kysely<Schema>;
type Trx = Transaction<Schema>;

export interface Identity {
  readonly id: number;
  readonly userId: number;
  readonly subject: string;
  /** What rules gave at the last sign-in or change of the directory. */
  readonly granted: Grants;
  /** The claims of the last sign-in that rules read. */
  readonly claims: Claims;
}

const ROLES = { user: ROLE.user, admin: ROLE.admin } as const;
const DEFAULT_GROUP = "default";

/** Finds the account of a person: the provider and its own id for the person, never an address, say who it is. */
export async function findIdentity(db: Db, providerId: number, subject: string): Promise<Identity | undefined> {
  const row = await selectIdentities(db, providerId).where("subject", "=", subject).executeTakeFirst();
  return row && toIdentity(row);
}

export async function findIdentityByUser(db: Db, providerId: number, userId: number): Promise<Identity | undefined> {
  const row = await selectIdentities(db, providerId).where("user_id", "=", userId).executeTakeFirst();
  return row && toIdentity(row);
}

function selectIdentities(db: Db, providerId: number) {
  return db
    .selectFrom("user_identities")
    .select(["id", "user_id", "subject", "granted"])
    .where("provider_id", "=", providerId);
}

type Row = Pick<Selectable<UserIdentityTable>, "id" | "user_id" | "subject" | "granted">;

function toIdentity({ id, user_id: userId, subject, granted }: Row): Identity {
  const { claims = {}, ...grants } = JSON.parse(granted) as Grants & { readonly claims?: Claims };
  return { id, userId, subject, granted: grants, claims };
}

export interface NewIdentity {
  readonly providerId: number;
  readonly subject: string;
  readonly userId: number;
  readonly now: number;
}

/** Links an account to a person; fails as a duplicate if either is linked to the provider already. */
export async function insertIdentity(trx: Trx, { providerId, subject, userId, now }: NewIdentity): Promise<void> {
  const row = { provider_id: providerId, subject, user_id: userId, granted: "{}", created_at: now, last_at: now };
  await trx.insertInto("user_identities").values(row).execute();
}

export interface GrantChange {
  readonly user: { readonly id: number; readonly role: number; readonly group: string };
  readonly before: Grants;
  readonly grants: Grants;
}

/**
 * Gives an account what rules give, and takes back what they gave earlier and no longer give. What people gave stays,
 * and the super administrator is never changed. Returns the columns to change.
 */
export function planGrants({ user, before, grants }: GrantChange): { readonly role?: number; readonly group?: string } {
  const role = planRole(user.role, before.role, grants.role);
  const group = planGroup(user.group, before.group, grants.group);
  return { ...(role !== undefined && { role }), ...(group !== undefined && { group }) };
}

function planRole(current: number, before: Grants["role"], now: Grants["role"]): number | undefined {
  if (current === ROLE.root) return undefined;
  const isOwn = current === ROLE.user || (before !== undefined && ROLES[before] === current);
  const next = now === undefined ? (before === undefined ? current : ROLE.user) : ROLES[now];
  return isOwn && next !== current ? next : undefined;
}

function planGroup(current: string, before: string | undefined, now: string | undefined): string | undefined {
  const isOwn = current === DEFAULT_GROUP || current === before;
  const next = now ?? (before === undefined ? current : DEFAULT_GROUP);
  return isOwn && next !== current ? next : undefined;
}
