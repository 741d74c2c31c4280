import { MAX_BUDGET_VALUES, OTHER_VALUE } from "@fairway/wire";
import { seconds, type Clock } from "../../lib/clock.ts";
import { isDuplicate } from "../../storage/errors.ts";
import type { RawDatabase, RawTransaction, SqlValue } from "../../storage/engines/raw.ts";
import { readSubjectNames } from "../../storage/row-names.ts";
import type { UnknownValue, ValueBudget } from "./values.ts";
import { findFirstWindow, type WindowRule } from "./window.ts";

export interface OpenValueDeps {
  readonly database: RawDatabase;
  readonly clock: Clock;
  /** Most values of one template; default 10,000. */
  readonly mostValues?: number | undefined;
}

/** `full`: the template has as many values as it may. `gone`: it was deleted. */
export type OpenedValue = ValueBudget | "full" | "gone";

/** The terms that a value takes from its template, and what identifies its budget. */
const COPIED = [
  "scope",
  "period",
  "length",
  "anchor",
  "ends_at",
  "time_zone",
  "filter_model",
  "managed_by",
  "quota_limit",
  "thresholds",
  "soft_percent",
  "forecast",
  "is_hard",
] as const;

type TemplateRow = WindowRule & Readonly<Record<(typeof COPIED)[number], SqlValue>>;

/** Finds the budget of a value, also one that was made by itself, or inserts it: one row at the first call. */
export async function openValue(deps: OpenValueDeps, value: UnknownValue): Promise<OpenedValue> {
  const { database } = deps;
  const found = await insertOnce(deps, value);
  if (typeof found === "string") return found;
  const { scope } = value.template;
  const named = { scope, subject: value.subject };
  const name = scope === "member" ? (await readSubjectNames(database, [named]))(named) : "";
  return { id: found, name };
}

async function insertOnce(deps: OpenValueDeps, value: UnknownValue): Promise<number | "full" | "gone"> {
  const known = await findBudget(deps.database, value);
  if (known !== undefined) return known;
  try {
    return await deps.database.transaction((tx) => insertValue(tx, deps, value));
  } catch (error) {
    // An administrator has made a budget of this value meanwhile.
    if (isDuplicate(error)) return (await findBudget(deps.database, value)) ?? "gone";
    throw error;
  }
}

/** Locks the template, so that replicas insert one after the other, and none after its deletion. */
async function insertValue(
  tx: RawTransaction,
  { clock, mostValues = MAX_BUDGET_VALUES }: OpenValueDeps,
  value: UnknownValue,
): Promise<number | "full" | "gone"> {
  const { id } = value.template;
  await tx.run("update budgets set is_hard = is_hard where id = ?", [id]);
  const [template] = await tx.rows<TemplateRow>(`select ${COPIED.join(", ")} from budgets where id = ?`, [id]);
  if (!template) return "gone";
  const known = await findBudget(tx, value);
  if (known !== undefined) return known;
  if (!value.subject.endsWith(OTHER_VALUE)) {
    const [row] = await tx.rows<{ count: number }>("select count(*) as count from budgets where template_id = ?", [id]);
    if (Number(row?.count ?? 0) >= mostValues) return "full";
  }
  const columns: Readonly<Record<string, SqlValue>> = {
    ...Object.fromEntries(COPIED.map((column) => [column, template[column]])),
    subject: value.subject,
    template_id: id,
    window_start: findFirstWindow(template, clock),
    created_at: seconds(clock),
  };
  const marks = Object.keys(columns).map(() => "?");
  const sql = `insert into budgets (${Object.keys(columns).join(", ")}) values (${marks.join(", ")})`;
  await tx.run(sql, Object.values(columns));
  return (await findBudget(tx, value)) ?? "gone";
}

async function findBudget(
  database: Pick<RawDatabase, "rows">,
  { template, subject }: UnknownValue,
): Promise<number | undefined> {
  const { id, scope, period, length, filter_model: filter } = template;
  const sql =
    "select id from budgets where scope = ? and subject = ? and period = ? and length = ? and filter_model = ? and managed_by = (select managed_by from budgets where id = ?)";
  const [row] = await database.rows<{ id: number }>(sql, [scope, subject, period, length, filter, id]);
  return row && Number(row.id);
}
