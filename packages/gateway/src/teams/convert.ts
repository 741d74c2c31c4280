import {
  ACCOUNT_KIND,
  DEFAULT_TEAM_SETTINGS,
  ROLE,
  readStoredTagLimits,
  storedLimits,
  TEAM_STATUS,
  USER_STATUS,
  type ConversionBlock,
  type ConversionPlan,
} from "@fairway/wire";
import type { Kysely, Selectable, SelectQueryBuilder, Transaction } from "kysely";
import { Refusal } from "../lib/refusal.ts";
import type { UserTable } from "../storage/tables/schema-accounts.ts";
import type { Schema } from "../storage/tables/schema.ts";
import { lockUser } from "../storage/transaction.ts";
import { addMember } from "./members.ts";
import { checkSlug, checkTeamCount, insertTeam } from "./teams.ts";
import { buildWalletRow, NO_PASSWORD } from "./wallet.ts";

type Db = Kysely<Schema>;
type UserRow = Selectable<UserTable>;

/** Accounts of imports and of documents without a password. */
const NO_PASSWORDS: ReadonlySet<string> = new Set(["", NO_PASSWORD]);
/** How a refusal names what an account still has. */
const BLOCK_WORDS: Readonly<Record<ConversionBlock, string>> = {
  role: "rights of an administrator",
  sign_in: "a way to sign in",
  sessions: "open sessions",
  access_tokens: "access tokens",
  memberships: "memberships in teams",
  documents: "documents that describe it or its tokens",
  earnings: "invitation earnings",
};
/** Columns by which a person signs in with another service. */
const SERVICES = ["github_id", "github_uid", "wechat_id", "telegram_id", "linux_do_id", "oidc_id"] as const;

/** Returns what a conversion would do and what prevents it; throws `user_not_found`. */
export async function planConversion(db: Db, userId: number, nowSeconds: number): Promise<ConversionPlan> {
  const user = await requirePerson(db, userId);
  const keys = await db
    .selectFrom("tokens")
    .select(["id", "group"])
    .where("user_id", "=", userId)
    .where("deleted_at", "is", null)
    .execute();
  const own = String(userId);
  const budgets = await count(db.selectFrom("budgets").where("scope", "=", "user").where("subject", "=", own));
  const webhooks = await count(db.selectFrom("webhook_endpoints").where("owner", "=", `user:${userId}`));
  const others = keys.map(({ group }) => group).filter((group) => group !== "");
  return {
    user_id: userId,
    username: user.username,
    quota: user.quota,
    used_quota: user.used_quota,
    held: user.held,
    group: user.group,
    groups: [...new Set([user.group, ...others])],
    keys: keys.length,
    budgets,
    webhooks,
    blocks: await findBlocks(db, user, nowSeconds),
  };
}

async function requirePerson(db: Db, userId: number): Promise<UserRow> {
  const people = db.selectFrom("users").selectAll().where("kind", "=", ACCOUNT_KIND.person);
  const user = await people.where("id", "=", userId).where("deleted_at", "is", null).executeTakeFirst();
  if (!user) throw new Refusal("user_not_found");
  return user;
}

async function findBlocks(db: Db, user: UserRow, nowSeconds: number): Promise<ConversionBlock[]> {
  const { id } = user;
  const has = async (table: "passkeys" | "user_identities" | "scim_users" | "access_tokens" | "team_members") =>
    (await count(db.selectFrom(table).where("user_id", "=", id))) > 0;
  const hasOwnSignIn =
    !NO_PASSWORDS.has(user.password) ||
    (user.email ?? "") !== "" ||
    user.totp_secret !== null ||
    SERVICES.some((column) => user[column] !== null);
  const hasSignIn =
    hasOwnSignIn || (await has("passkeys")) || (await has("user_identities")) || (await has("scim_users"));
  const open = db.selectFrom("sessions").where("user_id", "=", id).where("expires_at", ">", nowSeconds);
  const checks: Readonly<Record<ConversionBlock, boolean>> = {
    role: user.role > ROLE.user,
    sign_in: hasSignIn,
    sessions: (await count(open)) > 0,
    access_tokens: await has("access_tokens"),
    memberships: await has("team_members"),
    documents: (await isDescribed(db, "User", id)) || (await isDescribed(db, "Token", id)),
    earnings: user.aff_quota > 0,
  };
  return (Object.keys(checks) as ConversionBlock[]).filter((block) => checks[block]);
}

async function isDescribed(db: Db, kind: "User" | "Token", userId: number): Promise<boolean> {
  const own = db.selectFrom("tokens").select("id").where("user_id", "=", userId).where("deleted_at", "is", null);
  const described = db.selectFrom("managed_resources").where("kind", "=", kind);
  return (
    (await count(described.where("resource_id", kind === "User" ? "=" : "in", kind === "User" ? userId : own))) > 0
  );
}

async function count<T extends keyof Schema>(rows: SelectQueryBuilder<Schema, T, object>): Promise<number> {
  const { total } = await rows.select((eb) => eb.fn.countAll<number>().as("total")).executeTakeFirstOrThrow();
  return Number(total);
}

export interface Conversion {
  readonly userId: number;
  readonly name: string;
  readonly slug: string;
  readonly ownerId: number;
  readonly createdBy: number;
  readonly nowMs: number;
}

export interface Converted {
  readonly teamId: number;
  /** True if budgets of the person are budgets of the team now. */
  readonly hasBudgets: boolean;
}

/**
 * Makes a team of an account that no one signs in with. The account becomes the wallet, so its balance, keys, running
 * calls and history stay where they are and no money moves. Throws `account_not_convertible`.
 */
export async function convertAccount(trx: Transaction<Schema>, conversion: Conversion): Promise<Converted> {
  const { userId, name, slug, ownerId, createdBy, nowMs } = conversion;
  if (!(await lockUser(trx, userId))) throw new Refusal("user_not_found");
  const plan = await planConversion(trx, userId, Math.floor(nowMs / 1000));
  if (plan.blocks.length > 0) {
    const what = plan.blocks.map((block) => BLOCK_WORDS[block]).join(", ");
    throw new Refusal("account_not_convertible", { field: "user_id", values: { what } });
  }
  await checkSlug(trx, slug);
  await checkTeamCount(trx);
  const { status, limits, tag_limits } = await requirePerson(trx, userId);
  const {
    quota: _stays,
    created_at: _too,
    ...wallet
  } = buildWalletRow({ name, slug, group: plan.group, createdAt: 0 });
  // The limits of the account are those of the team; a disabled account is a team that is off.
  await trx
    .updateTable("users")
    .set({ ...wallet, limits: null, tag_limits: null })
    .where("id", "=", userId)
    .execute();
  const groups = plan.groups.length > 1 ? plan.groups : [];
  const settings = {
    ...DEFAULT_TEAM_SETTINGS,
    groups,
    limits: storedLimits(limits) ?? {},
    tag_limits: readStoredTagLimits(tag_limits) ?? {},
  };
  const team = { name, slug, description: "", labels: {}, settings, group: plan.group, ownerId, createdBy, nowMs };
  const teamId = await insertTeam(trx, { ...team, source: "manual" }, userId);
  if (status !== USER_STATUS.enabled)
    await trx.updateTable("teams").set({ status: TEAM_STATUS.off }).where("id", "=", teamId).execute();
  const owner = { userId: ownerId, role: "owner", source: "manual", addedBy: createdBy, nowMs } as const;
  await addMember(trx, { id: teamId, accountId: userId, name, slug }, owner);
  await giveBelongings(trx, userId, teamId);
  return { teamId, hasBudgets: plan.budgets > 0 };
}

/** Budgets and event endpoints of the person are the team's from now on, with what they have counted. */
async function giveBelongings(trx: Transaction<Schema>, userId: number, teamId: number): Promise<void> {
  const budgets = trx.updateTable("budgets").set({ scope: "team", subject: String(teamId) });
  await budgets.where("scope", "=", "user").where("subject", "=", String(userId)).execute();
  const endpoints = trx.updateTable("webhook_endpoints").set({ owner: `team:${teamId}` });
  await endpoints.where("owner", "=", `user:${userId}`).execute();
  await trx.deleteFrom("preferences").where("user_id", "=", userId).execute();
}
