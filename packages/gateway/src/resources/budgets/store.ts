import {
  ANY_VALUE,
  characters,
  isBudgetTemplate,
  isTagKey,
  normalizeTagValue,
  type Budget,
  type BudgetMaker,
} from "@fairway/wire";
import { isCalendar } from "../../billing/budgets/window.ts";
import { seconds, type Clock } from "../../lib/clock.ts";
import type { CheckTag } from "../../http/etag.ts";
import { usernameKey } from "../../identity/accounts/accounts.ts";
import { Refusal } from "../../lib/refusal.ts";
import type { Database } from "../../storage/database.ts";
import { isDuplicate } from "../../storage/errors.ts";
import type { RawTransaction } from "../../storage/engines/raw.ts";
import { bump } from "../../storage/revisions.ts";
import { splitPayer, SUBJECT_TABLES } from "../../storage/row-names.ts";
import { checkAbove, insertBudget, listMakersAbove, type BudgetIdentity, type NewBudget } from "./insert-budget.ts";
import { keepUse, keepUseOfValues } from "./keep-use.ts";
import { applyTerms, type WantedTerms } from "./terms.ts";
import { listValueRows } from "./values.ts";
import { budgetTag, buildBudgetViews, readTerms, writeTerms, type BudgetRow, type ViewDeps } from "./view.ts";

export interface BudgetStoreDeps extends Pick<ViewDeps, "clock" | "held"> {
  readonly database: Database;
}

/** Characters of an end user in the log. */
const MAX_END_USER = 64;

/** The user that a budget limits. */
export interface BudgetOwner {
  readonly id: number;
  readonly role: number;
}

type Subject = Pick<Budget, "scope" | "subject">;

/** Scopes whose subject is the id of a row. */
type IdScope = keyof typeof SUBJECT_TABLES;

export type BudgetStore = ReturnType<typeof createBudgetStore>;

/**
 * Creates the SQL of budgets. Every write raises the revision of the options in its transaction, so that replicas read
 * the budgets again.
 */
export function createBudgetStore({ database, clock, held }: BudgetStoreDeps) {
  const { raw, db } = database;
  const shown = (rows: readonly BudgetRow[]) => buildBudgetViews(rows, { raw, clock, held });
  const write = <T>(work: (tx: RawTransaction) => Promise<T>): Promise<T> =>
    raw.transaction(async (tx) => {
      await bump(tx, raw.kind, "options");
      return work(tx);
    });
  const find = async (id: number): Promise<Budget | undefined> => {
    const row = await db.selectFrom("budgets").selectAll().where("id", "=", id).executeTakeFirst();
    return row && (await shown([row as BudgetRow]))[0];
  };
  const findId = (identity: BudgetIdentity, length: number) => findBudgetId(database, identity, length);
  return {
    find,
    findId,

    async list(): Promise<Budget[]> {
      const rows = await db.selectFrom("budgets").selectAll().where("template_id", "=", 0).orderBy("id").execute();
      return shown(rows as BudgetRow[]);
    },

    /** Returns the values of a template that have used most, of those whose name has the keyword. */
    valuesOf: async (template: Budget, keyword: string): Promise<Budget[]> =>
      shown(await listValueRows(database, template, keyword)),

    /** Returns the budget and those of its values. */
    withValues: (id: number): Promise<number[]> => listWithValues(database, id),

    /** Returns the budgets of the user and of the user's tokens. */
    ofUser: async (userId: number): Promise<Budget[]> => shown(await listUserRows(database, userId)),

    ofTeam: async (team: TeamSubject): Promise<Budget[]> => shown(await listTeamRows(database, team)),

    /**
     * Throws a refusal if there is such a budget already, or too many of the subject. `check` may refuse it too; no other
     * budget is made until it has been stored.
     */
    async create(budget: NewBudget, check?: (tx: RawTransaction) => Promise<void>): Promise<Budget> {
      await refuseDuplicate(() =>
        write(async (tx) => {
          await check?.(tx);
          await insertBudget(tx, budget, clock);
        }),
      );
      const created = await find((await findId(budget, budget.length)) ?? 0);
      if (!created) throw new Refusal("budget_not_found");
      return created;
    },

    /**
     * Throws a refusal if the period has no such windows. A budget that someone above its maker changes is theirs from
     * then on, so that the maker cannot take the change back.
     */
    async change(id: number, wanted: WantedTerms, change: BudgetChange): Promise<Budget | undefined> {
      await refuseDuplicate(() => write((tx) => changeBudget(tx, id, wanted, { ...change, clock })));
      return find(id);
    },

    /** Sets what is used to 0. Returns false if there is no such budget. */
    reset: (id: number, by: BudgetMaker): Promise<boolean> =>
      write((tx) => resetBudget(tx, id, { by, now: seconds(clock) })),

    async remove(id: number, by: BudgetMaker): Promise<boolean> {
      return write((tx) => removeWithRows(tx, id, by));
    },

    ownerOf: (budget: Subject): Promise<BudgetOwner | undefined> => findOwner(database, budget),

    /** Returns the stored subject of a team or a member, written by ids or names; undefined if there is none. */
    findTeamSubject: (scope: "team" | "member", subject: string): Promise<string | undefined> =>
      findTeamSubject(database, scope, subject),

    /** Returns the subject of a living token of the user, written by its id; undefined if there is none. */
    findOwnToken: (userId: number, subject: string): Promise<string | undefined> =>
      findOwnToken(database, userId, subject),

    /** Returns the stored subject of a tag or an end user; undefined if the account or the tag cannot be. */
    findPayerSubject: (scope: "tag" | "end_user", subject: string): Promise<string | undefined> =>
      findPayerSubject(database, scope, subject),

    /** Returns true if a row of that scope with that id exists. */
    async exists(scope: IdScope, id: number): Promise<boolean> {
      const rows = await raw.rows(`select id from ${SUBJECT_TABLES[scope]} where id = ?`, [id]);
      return rows.length > 0;
    },
  };
}

async function findBudgetId({ db }: Database, identity: BudgetIdentity, length: number): Promise<number | undefined> {
  const { scope, subject, period, filter_model: filter, managed_by: maker } = identity;
  const rows = db.selectFrom("budgets").select("id").where("scope", "=", scope).where("subject", "=", subject);
  const same = rows.where("period", "=", period).where("length", "=", length).where("filter_model", "=", filter);
  return (await same.where("managed_by", "=", maker).executeTakeFirst())?.id;
}

async function listWithValues({ db }: Database, id: number): Promise<number[]> {
  const rows = await db.selectFrom("budgets").select("id").where("template_id", "=", id).execute();
  return [id, ...rows.map((row) => row.id)];
}

async function findOwnToken({ db }: Database, userId: number, subject: string): Promise<string | undefined> {
  if (!/^\d{1,15}$/.test(subject)) return undefined;
  const living = db.selectFrom("tokens").select("id").where("user_id", "=", userId).where("deleted_at", "is", null);
  const row = await living.where("id", "=", Number(subject)).executeTakeFirst();
  return row && String(row.id);
}

async function refuseDuplicate<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (isDuplicate(error)) throw new Refusal("budget_exists", { field: "subject", cause: error });
    throw error;
  }
}

/** Returns undefined for groups, models and channels, which belong to no user, and for rows that no longer exist. */
async function findOwner(database: Database, { scope, subject }: Subject): Promise<BudgetOwner | undefined> {
  if (scope === "tag" || scope === "end_user")
    return findOwner(database, { scope: "user", subject: String(splitPayer(subject).payer) });
  if (scope !== "user" && scope !== "token") return undefined;
  const { raw } = database;
  const id = scope === "user" ? "?" : "(select user_id from tokens where id = ?)";
  const [owner] = await raw.rows<BudgetOwner>(`select id, role from users where id = ${id}`, [Number(subject)]);
  return owner;
}

async function listUserRows({ db }: Database, userId: number): Promise<BudgetRow[]> {
  const own = db.selectFrom("tokens").select("id").where("user_id", "=", userId).where("deleted_at", "is", null);
  const tokens = (await own.execute()).map(({ id }) => String(id));
  const found = db.selectFrom("budgets").selectAll().orderBy("id");
  const memberships = db.selectFrom("team_members").select("team_id").where("user_id", "=", userId);
  const teams = (await memberships.execute()).map(({ team_id: id }) => String(id));
  const rows = found.where((eb) =>
    eb.or([
      ...(teams.length > 0
        ? [
            eb.and([eb("scope", "=", "team"), eb("subject", "in", teams)]),
            eb.and([
              eb("scope", "=", "member"),
              eb(
                "subject",
                "in",
                teams.map((id) => `${id}:${userId}`),
              ),
            ]),
          ]
        : []),
      eb.and([eb("scope", "=", "user"), eb("subject", "=", String(userId))]),
      eb.and([eb("scope", "in", ["tag", "end_user"]), eb("subject", "like", `${userId}/%`), eb("template_id", "=", 0)]),
      ...(tokens.length > 0 ? [eb.and([eb("scope", "=", "token"), eb("subject", "in", tokens)])] : []),
    ]),
  );
  return (await rows.execute()) as BudgetRow[];
}

interface TeamSubject {
  readonly id: number;
  readonly accountId: number;
}

/** Lists the budgets of a team, its wallet, its keys, its members and its service accounts. */
async function listTeamRows({ db }: Database, { id, accountId }: TeamSubject): Promise<BudgetRow[]> {
  const keys = db.selectFrom("tokens").select("id").where("user_id", "=", accountId).where("deleted_at", "is", null);
  const services = db.selectFrom("service_accounts").select("id").where("team_id", "=", id);
  const inside: Readonly<Record<string, readonly string[]>> = {
    team: [String(id)],
    user: [String(accountId)],
    token: (await keys.execute()).map((row) => String(row.id)),
    service_account: (await services.where("deleted_at", "is", null).execute()).map((row) => String(row.id)),
  };
  const rows = db
    .selectFrom("budgets")
    .selectAll()
    .where("template_id", "=", 0)
    .orderBy("id")
    .where((eb) =>
      eb.or([
        eb.and([eb("scope", "=", "member"), eb("subject", "like", `${id}:%`)]),
        eb.and([eb("scope", "in", ["tag", "end_user"]), eb("subject", "like", `${accountId}/%`)]),
        ...Object.entries(inside)
          .filter(([, subjects]) => subjects.length > 0)
          .map(([scope, subjects]) => eb.and([eb("scope", "=", scope), eb("subject", "in", subjects)])),
      ]),
    );
  return (await rows.execute()) as BudgetRow[];
}

/** Reads `research`, `4`, `research:ann`, `4:17`, or `research:*` for each member. A team that is deleted has no budgets. */
async function findTeamSubject(
  { db }: Database,
  scope: "team" | "member",
  subject: string,
): Promise<string | undefined> {
  const [named = "", member = "", ...rest] = subject.split(":");
  if (rest.length > 0 || (scope === "member") !== (member !== "")) return undefined;
  const living = db.selectFrom("teams").select("id").where("deleted_at", "is", null);
  const byId = /^\d{1,15}$/.test(named) ? living.where("id", "=", Number(named)) : living.where("slug", "=", named);
  const team = await byId.executeTakeFirst();
  if (!team || scope === "team") return team && String(team.id);
  if (member === ANY_VALUE) return `${team.id}:${ANY_VALUE}`;
  const people = db
    .selectFrom("team_members")
    .innerJoin("users", "users.id", "team_members.user_id")
    .select("users.id")
    .where("team_members.team_id", "=", team.id);
  const chosen = /^\d{1,15}$/.test(member)
    ? people.where("users.id", "=", Number(member))
    : people.where("users.username_key", "=", usernameKey(member));
  const person = await chosen.executeTakeFirst();
  return person && `${team.id}:${person.id}`;
}

/**
 * Reads `17/app=shop`, `ann/app=shop` or `team:research/app=shop`; an end user is the rest behind the account. A `*`
 * stands for each value.
 */
async function findPayerSubject(
  { db }: Database,
  scope: "tag" | "end_user",
  subject: string,
): Promise<string | undefined> {
  const at = subject.indexOf("/");
  const [named, written] = [subject.slice(0, Math.max(at, 0)), subject.slice(at + 1)];
  const value = scope === "tag" ? readTag(written) : readEndUserName(written);
  if (named === "" || value === undefined) return undefined;
  const living = db.selectFrom("users").select("id").where("deleted_at", "is", null);
  const byId = /^\d{1,15}$/.test(named)
    ? living.where("id", "=", Number(named))
    : living.where("username_key", "=", usernameKey(named));
  const payer = await byId.executeTakeFirst();
  return payer && `${payer.id}/${value}`;
}

function readTag(text: string): string | undefined {
  const at = text.indexOf("=");
  const [key, value] = [text.slice(0, Math.max(at, 0)), normalizeTagValue(text.slice(at + 1))];
  return isTagKey(key) && value !== undefined ? `${key}=${value}` : undefined;
}

/** The name as the log has it: a longer one is stored as its hash. */
function readEndUserName(text: string): string | undefined {
  const name = text.normalize("NFC").trim();
  return name !== "" && characters(name) <= MAX_END_USER && !/\p{Cc}/u.test(name) ? name : undefined;
}

export interface BudgetChange {
  readonly by: BudgetMaker;
  readonly check?: CheckTag | undefined;
}

async function changeBudget(
  tx: RawTransaction,
  id: number,
  wanted: WantedTerms,
  { by, check, clock }: BudgetChange & { readonly clock: Clock },
): Promise<void> {
  const row = await lockRow(tx, id, by);
  if (!row) return;
  const before = readTerms(row);
  check?.(budgetTag(before));
  const after = applyTerms(row.period, before, wanted, seconds(clock));
  if (after.quota_limit > before.quota_limit || after.length !== before.length)
    await checkAbove(tx, { ...row, ...after, managed_by: by });
  // A value that is changed by itself does not follow its template any longer.
  const columns = { ...writeTerms(after), ...keepUse(row, after, clock.now()), managed_by: by, template_id: 0 };
  const sets = Object.keys(columns).map((column) => `${column} = ?`);
  await tx.run(`update budgets set ${sets.join(", ")} where id = ?`, [...Object.values(columns), id]);
  if (!isBudgetTemplate(row)) return;
  const terms = { ...writeTerms(after), managed_by: by };
  const moved = keepUseOfValues(row, after, clock.now());
  const all = [...Object.keys(terms).map((column) => `${column} = ?`), ...moved.sets];
  await tx.run(`update budgets set ${all.join(", ")} where template_id = ?`, [
    ...Object.values(terms),
    ...moved.values,
    id,
  ]);
}

async function resetBudget(
  tx: RawTransaction,
  id: number,
  { by, now }: { readonly by: BudgetMaker; readonly now: number },
): Promise<boolean> {
  const row = await lockRow(tx, id, by);
  if (!row) return false;
  const start = row.period === "total" ? now : 0;
  const window = isCalendar(row.period) ? { set: "", values: [] } : { set: "window_start = ?, ", values: [start] };
  // A template begins again for all of its values.
  const sql = `update budgets set ${window.set}used = 0, noted = 0, forecast_in = 0, exhausted_in = 0, created_at = ?, revision = revision + 1 where id = ? or template_id = ?`;
  await tx.run(sql, [...window.values, now, id, id]);
  return true;
}

/** Locks the budget first: reservations lock it too, so no row is inserted after the deletion. */
async function removeWithRows(tx: RawTransaction, id: number, by: BudgetMaker): Promise<boolean> {
  await lockRow(tx, id, by);
  await tx.run("update budgets set is_hard = is_hard where template_id = ?", [id]);
  for (const table of ["budget_holds", "budget_reaped"])
    await tx.run(
      `delete from ${table} where budget_id = ? or budget_id in (select id from budgets where template_id = ?)`,
      [id, id],
    );
  return (await tx.run("delete from budgets where id = ? or template_id = ?", [id, id])) > 0;
}

/** Locks the row until the end of the transaction. Throws `budget_of_administrator` if someone above made it. */
async function lockRow(tx: RawTransaction, id: number, by: BudgetMaker): Promise<BudgetRow | undefined> {
  await tx.run("update budgets set is_hard = is_hard where id = ?", [id]);
  const [row] = await tx.rows<BudgetRow>("select * from budgets where id = ?", [id]);
  if (row && listMakersAbove(by).includes(row.managed_by)) throw new Refusal("budget_of_administrator");
  return row;
}
