import { ROLE, USER_STATUS } from "@fairway/wire";
import { quota as asQuota } from "../../../../billing/money/quota.ts";
import { newInviteCode, usernameKey } from "../../../../identity/accounts/accounts.ts";
import { parseEmail } from "../../../../identity/mail/email-address.ts";
import { hashRandomId } from "../../../../identity/sessions/sessions.ts";
import { seconds } from "../../../../lib/clock.ts";
import type { ForeignRow } from "../../../../storage/foreign.ts";
import type { RawTransaction, SqlValue } from "../../../../storage/engines/raw.ts";
import { firstBalanceId } from "../../../../lib/first-balance.ts";
import { bookCarriedUsage } from "../imported-usage.ts";
import { insertKeepingId, placing } from "../rows.ts";
import { remarkColumns } from "./columns.ts";
import type { ImportContext } from "./context.ts";
import { keepPasskeys, keepSecondFactor, readSecurity, type Security } from "./security.ts";

interface Known {
  readonly id: number;
  readonly quota: number;
  readonly role: number;
}

interface Users extends ImportContext {
  readonly security: ReadonlyMap<number, Security>;
}

const BINDINGS = ["wechat_id", "telegram_id", "linux_do_id", "oidc_id"] as const;
const DELETED = 3;
/** Matches no password. */
const NO_PASSWORD = "!";

/** Imports accounts with their password hashes. A balance is booked through the ledger, once for each account. */
export async function importUsers(context: ImportContext): Promise<void> {
  const secured: Users = { ...context, security: await readSecurity(context) };
  const names = new Set<string>();
  const inviters = new Map<number, number>();
  let withGithub = 0;
  for await (const rows of context.source.pages("users")) {
    for (const row of rows) {
      if (row.isDeleted || row.int("status") === DELETED) {
        context.report.count("users", "skipped");
        continue;
      }
      const adopted = context.server?.adopted.get(row.int("id"));
      if (adopted !== undefined) {
        context.report.count("users", "unchanged");
        context.report.remark("super administrators stay there: their keys belong to you here", row.text("username"));
        context.users.set(row.int("id"), adopted);
        continue;
      }
      checkUser(context, row);
      const id = await importUser(secured, row, freeName(context, row, names));
      context.users.set(row.int("id"), id);
      if (row.int("inviter_id") > 0) inviters.set(id, row.int("inviter_id"));
      if (row.text("github_id") !== "") withGithub += 1;
    }
    context.progress("users");
  }
  await linkInviters(context, inviters);
  if (withGithub > 0) {
    context.report.notes.push(
      `${withGithub} users have a GitHub name without its number: they sign in by password once and bind GitHub again`,
    );
  }
}

/** Returns a free name. Names in the source may differ only in letter case; here they may not. */
function freeName({ report }: ImportContext, row: ForeignRow, names: Set<string>): string {
  const name = row.text("username");
  const isTaken = names.has(usernameKey(name));
  const free = isTaken ? `${name}-${row.int("id")}` : name;
  if (isTaken) report.notes.push(`the user ${name} (${row.int("id")}) becomes ${free}: another has this name already`);
  names.add(usernameKey(free));
  return free;
}

async function importUser(context: Users, row: ForeignRow, username: string): Promise<number> {
  const { target, report } = context;
  const find = "select id, quota, role from users where username_key = ?";
  const [known] = await target.raw.rows<Known>(find, [usernameKey(username)]);
  if (known) return updateUnused(context, row, known);
  report.count("users", "created");
  let id = 0;
  await context.ledger.changeWith(async (tx) => {
    const values = await userRow(context, tx, row, username);
    await placing([{ values, from: row }], () => insertKeepingId(tx, "users", row.int("id"), values));
    const [made] = await tx.rows<Known>(find, [usernameKey(username)]);
    if (!made) throw new Error(`the user ${username} was not stored`);
    ({ id } = made);
    await carryUsage(context, tx, id, row);
    await keepAccessToken(context, tx, id, row);
    await keepSecondFactor(context, tx, id, context.security.get(row.int("id")));
    await keepPasskeys(context, tx, id, context.security.get(row.int("id")));
    return adjustment(id, calculateTotal(row), context);
  });
  return id;
}

/** Updates an account that was never used, such as the one of a first start, with the imported password and balance. */
async function updateUnused(context: Users, row: ForeignRow, known: Known): Promise<number> {
  const { target, report } = context;
  const moved = await target.raw.rows("select 1 as one from ledger where user_id = ? and request_id <> ? limit 1", [
    known.id,
    firstBalanceId(known.id),
  ]);
  const [used] = await target.raw.rows<{ request_count: number }>("select request_count from users where id = ?", [
    known.id,
  ]);
  if (moved.length > 0 || (used?.request_count ?? 0) > 0) {
    report.count("users", "unchanged");
    return known.id;
  }
  report.count("users", "updated");
  await context.ledger.changeWith(async (tx) => {
    const { username: _name, username_key: _key, quota: _quota, ...values } = await userRow(context, tx, row, "");
    const shown = Object.entries(values).filter(([name]) => !(name === "password" && isHidden(context)));
    const change = { ...Object.fromEntries(shown), role: Math.max(known.role, row.int("role")) };
    const sets = Object.keys(change).map((name) => `"${name}" = ?`);
    const update = `update users set ${sets.join(", ")} where id = ?`;
    await placing([{ values: change, from: row }], () => tx.run(update, [...Object.values(change), known.id]));
    await carryUsage(context, tx, known.id, row);
    await keepAccessToken(context, tx, known.id, row);
    await keepSecondFactor(context, tx, known.id, context.security.get(row.int("id")));
    await keepPasskeys(context, tx, known.id, context.security.get(row.int("id")));
    return adjustment(known.id, calculateTotal(row) - known.quota, context);
  });
  return known.id;
}

/** Books the usage: the ledger explains everything that an account has used, including its usage elsewhere. */
function carryUsage({ kind, clock, target }: ImportContext, tx: RawTransaction, userId: number, row: ForeignRow) {
  const detail = `usage imported from ${kind}`;
  return bookCarriedUsage(tx, target.kind, {
    requestId: `import-user-${userId}`,
    userId,
    used: row.int("used_quota"),
    requests: row.int("request_count"),
    detail,
    at: clock.now(),
  });
}

function adjustment(userId: number, amount: number, { kind }: ImportContext) {
  const detail = `balance imported from ${kind}`;
  return { requestId: `import-user-${userId}`, kind: "adjust" as const, userId, quota: asQuota(amount), detail };
}

/** Returns true if the source does not show passwords. */
function isHidden({ server }: Users): boolean {
  return server !== undefined;
}

async function userRow(
  context: Users,
  tx: RawTransaction,
  row: ForeignRow,
  username: string,
): Promise<Record<string, SqlValue>> {
  const { clock, groups } = context;
  const free = (column: string, value: string | undefined) => freeValue(tx, column, value);
  const bindings: Record<string, SqlValue> = {};
  for (const name of BINDINGS) bindings[name] = await free(name, row.text(name));
  return {
    ...bindings,
    username,
    username_key: usernameKey(username),
    password: isHidden(context) ? NO_PASSWORD : row.text("password"),
    display_name: row.text("display_name") || row.text("username"),
    role: row.int("role", ROLE.user) || ROLE.user,
    status: isEnabled(row) ? USER_STATUS.enabled : USER_STATUS.disabled,
    email: await free("email", parseEmail(row.text("email"))),
    github_id: row.text("github_id") || null,
    quota: 0,
    used_quota: row.int("used_quota"),
    request_count: row.int("request_count"),
    group: groups.of(row.text("group") || "default"),
    aff_code: (await free("aff_code", row.text("aff_code"))) ?? newInviteCode(),
    aff_count: row.int("aff_count"),
    aff_quota: row.int("aff_quota"),
    aff_history: row.int("aff_history"),
    created_at: row.time("created_at") || row.int("created_time") || seconds(clock),
  };
}

/** Returns whether an account is enabled; an unknown status does not enable it. */
function isEnabled(row: ForeignRow): boolean {
  return row.text("status") === "" || row.int("status") === USER_STATUS.enabled;
}

/** Returns the whole amount that an account ever had, which the ledger books. */
function calculateTotal(row: ForeignRow): number {
  const total = row.int("quota") + row.int("used_quota");
  return Number.isSafeInteger(total)
    ? total
    : row.refuse("quota", `quota and used_quota together are larger than ${Number.MAX_SAFE_INTEGER}`);
}

/** Runs the checks of the real run, and reports what is not imported. */
function checkUser({ report }: ImportContext, row: ForeignRow): void {
  for (const column of ["request_count", "aff_count", "aff_quota", "aff_history"]) row.int(column);
  calculateTotal(row);
  if (
    row.text("status") !== "" &&
    ![USER_STATUS.enabled, USER_STATUS.disabled].some((known) => known === row.int("status"))
  )
    report.remark("users have a status that is not known here: they are disabled", row.text("username"));
  remarkColumns(report, "users", row, row.text("username"));
}

/** Returns null if the row has no value, or if another account has it. */
async function freeValue(tx: RawTransaction, column: string, value: string | undefined): Promise<string | null> {
  if (value === undefined || value === "") return null;
  const taken = await tx.rows(`select 1 as one from users where ${column} = ?`, [value]);
  return taken.length === 0 ? value : null;
}

async function keepAccessToken(
  { clock }: ImportContext,
  tx: RawTransaction,
  userId: number,
  row: ForeignRow,
): Promise<void> {
  const token = row.text("access_token");
  if (token === "") return;
  const known = await tx.rows(
    "select 1 as one from access_tokens where token_hash = ? or (user_id = ? and name = '')",
    [hashRandomId(token), userId],
  );
  if (known.length > 0) return;
  const insert = "insert into access_tokens (user_id, name, token_hash, created_at) values (?, '', ?, ?)";
  await tx.run(insert, [userId, hashRandomId(token), seconds(clock)]);
}

async function linkInviters({ target, users }: ImportContext, inviters: Map<number, number>): Promise<void> {
  for (const [id, oldInviter] of inviters) {
    const inviter = users.get(oldInviter) ?? 0;
    await target.raw.run("update users set inviter_id = ? where id = ? and inviter_id = 0", [inviter, id]);
  }
}
