import type { Budget } from "@fairway/wire";
import { budgetWindow, type BudgetPeriod } from "../../billing/budgets/window.ts";
import type { BudgetScope } from "../../billing/budgets/budget.ts";
import type { Budgets } from "../../billing/budgets/budgets.ts";
import { seconds, type Clock } from "../../lib/clock.ts";
import { buildEtag, type CheckTag } from "../../http/etag.ts";
import type { Database } from "../../storage/database.ts";
import { isDuplicate } from "../../storage/errors.ts";
import type { RawTransaction, SqlValue } from "../../storage/engines/raw.ts";
import { bump } from "../../storage/revisions.ts";
import { readSubjectNames, SUBJECT_TABLES } from "../../storage/row-names.ts";

export interface BudgetStoreDeps {
  readonly database: Database;
  readonly clock: Clock;
  /** Reads reservations that are outside the database. If absent, only database reservations are shown. */
  readonly held?: Pick<Budgets, "heldElsewhere"> | undefined;
}

export interface NewBudget {
  readonly scope: BudgetScope;
  readonly subject: string;
  readonly period: BudgetPeriod;
  readonly time_zone: string;
  readonly quota_limit: number;
  readonly soft_percent: number;
  readonly is_hard: boolean;
}

/** Defaults of a new budget. */
export const BUDGET_DEFAULTS = { time_zone: "UTC", soft_percent: 80, is_hard: true } as const;

export type BudgetChange = Partial<Pick<NewBudget, "time_zone" | "quota_limit" | "soft_percent" | "is_hard">>;

/** The user that a budget limits. */
export interface BudgetOwner {
  readonly id: number;
  readonly role: number;
}

type Subject = Pick<Budget, "scope" | "subject">;

/** Scopes whose subject is the id of a row. */
type IdScope = keyof typeof SUBJECT_TABLES;

export type BudgetStore = ReturnType<typeof createBudgetStore>;

interface Row extends Omit<NewBudget, "is_hard"> {
  readonly id: number;
  readonly is_hard: number;
  readonly window_start: number;
  readonly created_at: number;
  readonly used: number;
  readonly held: number;
}

/**
 * Creates the SQL of budgets. Every write raises the revision of the options in its transaction, so that replicas read
 * the budgets again.
 */
export function createBudgetStore({ database, clock, held }: BudgetStoreDeps) {
  const { raw, db } = database;
  const shown = (rows: readonly Row[]) => buildBudgetViews(rows, { database, clock, held });
  const write = <T>(work: (tx: RawTransaction) => Promise<T>): Promise<T> =>
    raw.transaction(async (tx) => {
      await bump(tx, raw.kind, "options");
      return work(tx);
    });
  const find = async (id: number): Promise<Budget | undefined> => {
    const row = await db.selectFrom("budgets").selectAll().where("id", "=", id).executeTakeFirst();
    return row && (await shown([row as Row]))[0];
  };
  return {
    find,

    async findId(scope: BudgetScope, subject: string, period: BudgetPeriod): Promise<number | undefined> {
      const rows = db.selectFrom("budgets").select("id").where("scope", "=", scope).where("subject", "=", subject);
      return (await rows.where("period", "=", period).executeTakeFirst())?.id;
    },

    async list(): Promise<Budget[]> {
      const rows = await db.selectFrom("budgets").selectAll().orderBy("id").execute();
      return shown(rows as Row[]);
    },

    /** Returns the budgets of the user and of the user's tokens. */
    ofUser: async (userId: number): Promise<Budget[]> => shown(await listUserRows(database, userId)),

    /** Returns undefined if there already is a budget with that scope, subject and period. */
    async create(budget: NewBudget): Promise<Budget | undefined> {
      const { scope, subject, period } = budget;
      try {
        await write((tx) => tx.run(INSERT, buildValues(budget, clock)));
      } catch (error) {
        if (isDuplicate(error)) return undefined;
        throw error;
      }
      const named = db.selectFrom("budgets").selectAll().where("scope", "=", scope).where("subject", "=", subject);
      const [created] = await shown([(await named.where("period", "=", period).executeTakeFirstOrThrow()) as Row]);
      return created;
    },

    async change(id: number, change: BudgetChange, check?: CheckTag): Promise<Budget | undefined> {
      await write(async (tx) => {
        if (check) await checkLocked(tx, id, check);
        for (const [column, value] of Object.entries(change)) {
          const stored = typeof value === "boolean" ? Number(value) : value;
          if (stored !== undefined) await tx.run(`update budgets set ${column} = ? where id = ?`, [stored, id]);
        }
      });
      return find(id);
    },

    async remove(id: number): Promise<boolean> {
      return write((tx) => removeWithRows(tx, id));
    },

    ownerOf: (budget: Subject): Promise<BudgetOwner | undefined> => findOwner(database, budget),

    /** Returns true if a token, user or channel with that id exists. */
    async exists(scope: IdScope, id: number): Promise<boolean> {
      const rows = await raw.rows(`select id from ${SUBJECT_TABLES[scope]} where id = ?`, [id]);
      return rows.length > 0;
    },
  };
}

/** Returns undefined for groups, models and channels, which belong to no user, and for rows that no longer exist. */
async function findOwner({ raw }: Database, { scope, subject }: Subject): Promise<BudgetOwner | undefined> {
  if (scope !== "user" && scope !== "token") return undefined;
  const id = scope === "user" ? "?" : "(select user_id from tokens where id = ?)";
  const [owner] = await raw.rows<BudgetOwner>(`select id, role from users where id = ${id}`, [Number(subject)]);
  return owner;
}

async function listUserRows({ db }: Database, userId: number): Promise<Row[]> {
  const own = db.selectFrom("tokens").select("id").where("user_id", "=", userId).where("deleted_at", "is", null);
  const tokens = (await own.execute()).map(({ id }) => String(id));
  const found = db.selectFrom("budgets").selectAll().orderBy("id");
  const rows = found.where((eb) =>
    eb.or([
      eb.and([eb("scope", "=", "user"), eb("subject", "=", String(userId))]),
      ...(tokens.length > 0 ? [eb.and([eb("scope", "=", "token"), eb("subject", "in", tokens)])] : []),
    ]),
  );
  return (await rows.execute()) as Row[];
}

function buildValues(budget: NewBudget, clock: Clock): SqlValue[] {
  const { scope, subject, period, time_zone: zone, quota_limit: limit, soft_percent: soft, is_hard: isHard } = budget;
  const { start } = budgetWindow(period, zone, clock.now());
  return [scope, subject, period, zone, limit, soft, isHard ? 1 : 0, start, seconds(clock)];
}

/** Locks the budget first: reservations lock it too, so no row is inserted after the deletion. */
async function removeWithRows(tx: RawTransaction, id: number): Promise<boolean> {
  const removed = await tx.run("delete from budgets where id = ?", [id]);
  for (const table of ["budget_holds", "budget_reaped"]) await tx.run(`delete from ${table} where budget_id = ?`, [id]);
  return removed > 0;
}

/** Locks the row until the end of the transaction. */
async function checkLocked(tx: RawTransaction, id: number, check: CheckTag): Promise<void> {
  await tx.run("update budgets set is_hard = is_hard where id = ?", [id]);
  const [row] = await tx.rows<Row>("select * from budgets where id = ?", [id]);
  if (row) check(budgetTag({ ...row, is_hard: row.is_hard === 1 }));
}

/** Returns a tag that changes with every edit, but not with usage. */
export function budgetTag({ time_zone, quota_limit, soft_percent, is_hard }: Required<BudgetChange>): string {
  return buildEtag({ time_zone, quota_limit, soft_percent, is_hard });
}

const INSERT =
  "insert into budgets (scope, subject, period, time_zone, quota_limit, soft_percent, is_hard, window_start, created_at, used, held) values (?, ?, ?, ?, ?, ?, ?, ?, ?, 0, 0)";

async function buildBudgetViews(rows: readonly Row[], { database, clock, held }: BudgetStoreDeps): Promise<Budget[]> {
  const names = await readSubjectNames(database.raw, rows);
  // Redis may be unreachable; the rest of the budget is still shown.
  const elsewhere = await held?.heldElsewhere().catch(() => undefined);
  return rows.map((row) => ({
    ...buildBudgetView(row, clock),
    subject_name: names(row),
    held: row.held + (elsewhere?.get(row.id) ?? 0),
  }));
}

/** Builds the view of a budget. Nothing is used yet in a window that no request has opened. */
function buildBudgetView(row: Row, clock: Clock): Omit<Budget, "subject_name" | "held"> {
  const { start, end } = budgetWindow(row.period, row.time_zone, clock.now());
  return {
    id: row.id,
    scope: row.scope,
    subject: row.subject,
    period: row.period,
    time_zone: row.time_zone,
    quota_limit: row.quota_limit,
    soft_percent: row.soft_percent,
    is_hard: row.is_hard === 1,
    used: start > row.window_start ? 0 : row.used,
    window_start: start,
    window_end: end,
    counts_since: Math.max(start, Number(row.created_at)),
  };
}
