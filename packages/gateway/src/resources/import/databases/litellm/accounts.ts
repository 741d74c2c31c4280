import { formatStoredTags, QUOTA_PER_UNIT, ROLE, USER_STATUS, USERNAME_MAX } from "@fairway/wire";
import { createHash } from "node:crypto";
import { quota as asQuota } from "../../../../billing/money/quota.ts";
import { accountRow, usernameKey } from "../../../../identity/accounts/accounts.ts";
import { parseEmail } from "../../../../identity/mail/email-address.ts";
import { seconds } from "../../../../lib/clock.ts";
import type { ForeignRow } from "../../../../storage/foreign.ts";
import type { RawTransaction } from "../../../../storage/engines/raw.ts";
import { bookCarriedUsage } from "../imported-usage.ts";
import { insertMany, placing } from "../rows.ts";
import type { DatabaseImport } from "./context.ts";
import { keepBudget } from "./budgets.ts";
import { limitsText, NO_SPENDING, readSpending, type Spending } from "./spending.ts";

/** A person who owns keys, or the one to whom keys without an owner belong. */
export interface Owner {
  /** Unique, and the same in each run. */
  readonly key: string;
  readonly name: string;
  readonly email: string;
  readonly role: number;
  readonly isBlocked: boolean;
  /** Models that keys of this owner may use if they name none; empty means all. */
  readonly models: readonly string[];
  readonly spending: Spending;
  /** The source row of the owner. */
  readonly from: ForeignRow | undefined;
}

export interface Account {
  readonly id: number;
  readonly models: readonly string[];
  /** Undefined for people. */
  readonly team?: BroughtTeam;
}

/** What keys of a team need to know of it. */
export interface BroughtTeam {
  readonly id: number;
  /** Accounts of its members. */
  readonly members: ReadonlySet<number>;
}

const DISPLAY_NAME_LIMIT = 64;
/** Source columns that have another name here. */
const SOURCES = { username: "user_alias", display_name: "user_alias", email: "user_email", used_quota: "spend" };

/** Matches no password: such an account gets one by mail or from an administrator. */
const NO_PASSWORD = "!";

export function userOwner(context: DatabaseImport, row: ForeignRow): Owner {
  const id = row.text("user_id");
  const email = row.text("user_email");
  return {
    key: `user ${id}`,
    name: row.text("user_alias") || email.split("@", 1)[0] || id,
    email,
    role: row.text("user_role") === "proxy_admin" ? ROLE.admin : ROLE.user,
    isBlocked: false,
    models: row.list("models"),
    spending: readSpending(context, row),
    from: row,
  };
}

/** Returns an owner for which the database has only a name. */
export function bareOwner(key: string, name: string): Owner {
  return {
    key,
    name,
    email: "",
    role: ROLE.user,
    isBlocked: false,
    models: [],
    spending: NO_SPENDING,
    from: undefined,
  };
}

/** Returns the account of an owner; it is created once, and found again by the ledger row of its first balance. */
export async function bringOwner(context: DatabaseImport, owner: Owner): Promise<Account> {
  const known = await findBrought(context, owner.key);
  context.report.count("users", known === undefined ? "created" : "unchanged");
  const { models, spending, from } = owner;
  if (known !== undefined) return { id: known, models };
  const insert = (tx: RawTransaction) => insertAccount(context, tx, owner, digest(owner.key));
  return { id: await bringMoney(context, { key: owner.key, spending, from, insert }), models };
}

/** Returns the account of an owner that an earlier run brought. */
export async function findBrought({ target }: DatabaseImport, key: string): Promise<number | undefined> {
  const find = "select user_id from ledger where request_id = ? and kind = 'adjust'";
  const [known] = await target.raw.rows<{ user_id: number }>(find, [buildRequestId(key)]);
  return known?.user_id;
}

interface BroughtMoney extends Pick<Owner, "key" | "spending" | "from"> {
  /** Inserts the account; returns its id. */
  insert(tx: RawTransaction): Promise<number>;
}

/** Inserts an account together with its balance and what it has used; returns its id. */
export async function bringMoney(
  context: DatabaseImport,
  { key, spending, from, insert }: BroughtMoney,
): Promise<number> {
  const used = spending.spent;
  const total = calculateBalance(context, spending) + used;
  if (!Number.isSafeInteger(total))
    from?.refuse("spend", `it and the balance together are more than ${Number.MAX_SAFE_INTEGER} units`);
  const requestId = buildRequestId(key);
  let id = 0;
  await context.ledger.changeWith(async (tx) => {
    id = await insert(tx);
    const at = context.clock.now();
    const detail = "usage imported from LiteLLM";
    await bookCarriedUsage(tx, context.target.kind, { requestId, userId: id, used, requests: 0, detail, at });
    return { requestId, kind: "adjust", userId: id, quota: asQuota(total), detail: "balance imported from LiteLLM" };
  });
  return id;
}

function buildRequestId(key: string): string {
  return `litellm-${digest(key)}`;
}

async function insertAccount(
  context: DatabaseImport,
  tx: RawTransaction,
  { name, email, role, isBlocked, spending, from }: Owner,
  mark: string,
): Promise<number> {
  const { report } = context;
  const username = await freeName(tx, name, mark);
  if (username !== name) report.remark("users get another username", `${name}: ${username}`);
  const address = parseEmail(email);
  const isTaken =
    address !== undefined && (await tx.rows("select 1 as one from users where email = ?", [address])).length > 0;
  if (email !== "" && (address === undefined || isTaken))
    report.remark("users have an address that is taken or cannot be read: it is left out", name);
  const displayName = name.slice(0, DISPLAY_NAME_LIMIT);
  const row = accountRow({
    username,
    passwordHash: NO_PASSWORD,
    createdAt: seconds(context.clock),
    role,
    displayName,
  });
  const state = { status: isBlocked || spending.isClosed ? USER_STATUS.disabled : USER_STATUS.enabled };
  const group = context.groups.of(row.group);
  const money = { used_quota: spending.spent, limits: limitsText(spending.limits) };
  const tagLimits = { tag_limits: formatStoredTags(context.blocked) };
  const all = { ...row, ...state, ...money, ...tagLimits, group, email: isTaken ? null : (address ?? null) };
  const values = all as Record<string, string | number | null>;
  const store = () => insertMany(tx, "users", [values]);
  await (from ? placing([{ values, from }], store, SOURCES) : store());
  const find = "select id from users where username_key = ?";
  const [made] = await tx.rows<{ id: number }>(find, [usernameKey(username)]);
  if (!made) throw new Error(`the user ${username} was not stored`);
  await keepBudget(context, tx, { scope: "user", subject: made.id, spending });
  return made.id;
}

/** Returns the remaining amount of a budget without a period; all other accounts start with the credit. */
function calculateBalance({ credit }: DatabaseImport, { left, window }: Spending): number {
  return left === undefined || window !== undefined ? Math.round(credit * QUOTA_PER_UNIT) : left;
}

/**
 * Returns a free name. Names in the source may contain anything; a second one with the same letters gets a part of the
 * mark.
 */
async function freeName(tx: RawTransaction, wanted: string, mark: string): Promise<string> {
  const plain = wanted.replaceAll(/[\s\p{Cc}\p{Cf}@/]+/gu, "-") || "litellm";
  const name = plain.slice(0, USERNAME_MAX);
  const isTaken = async (text: string) =>
    (await tx.rows("select 1 as one from users where username_key = ?", [usernameKey(text)])).length > 0;
  if (!(await isTaken(name))) return name;
  return `${name.slice(0, USERNAME_MAX - 7)}-${mark.slice(0, 6)}`;
}

export function digest(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 24);
}
