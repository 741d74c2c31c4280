import { normalizeEndUser, normalizeTagValue } from "@fairway/wire";
import { findWindow } from "../../../../billing/budgets/window.ts";
import { nameEndUser } from "../../../../relay/tags/end-user.ts";
import type { ForeignRow } from "../../../../storage/foreign.ts";
import { keepBudget } from "./budgets.ts";
import { TAG_KEY, type DatabaseImport } from "./context.ts";
import { readTerms, unitsIn, type Spending } from "./spending.ts";

interface Kind {
  readonly scope: "end_user" | "tag";
  readonly what: string;
  readonly table: string;
  readonly key: string;
  /** The sums of each day, by value and key. */
  readonly days: { readonly table: string; readonly column: string };
  /** Returns the value as calls have it here; undefined if no call can have it. */
  readonly nameValue: (text: string) => string | undefined;
}

const KINDS: readonly Kind[] = [
  {
    scope: "end_user",
    what: "end users",
    table: "LiteLLM_EndUserTable",
    key: "user_id",
    days: { table: "LiteLLM_DailyEndUserSpend", column: "end_user_id" },
    nameValue: (text) => normalizeEndUser(nameEndUser(text.trim())),
  },
  {
    scope: "tag",
    what: "tags",
    table: "LiteLLM_TagTable",
    key: "tag_name",
    days: { table: "LiteLLM_DailyTagSpend", column: "tag" },
    nameValue(text) {
      const value = normalizeTagValue(text);
      return value === undefined ? undefined : `${TAG_KEY}=${value}`;
    },
  },
];
const DAY_DIGITS = 10;

/** The account that pays for the calls of a key, by the key as the source names it. */
export type KeyOwners = ReadonlyMap<string, number>;

/**
 * Imports the budgets of end users and tags. There they hold for the whole installation; here each belongs to an account
 * that pays, so the accounts and teams whose keys used the value get one each.
 */
export async function bringValueBudgets(context: DatabaseImport, owners: KeyOwners): Promise<void> {
  for (const kind of KINDS) {
    if (!(await context.source.has(kind.table))) continue;
    for await (const rows of context.source.pages(kind.table, kind.key))
      for (const row of rows) if (row.text("budget_id") !== "") await bringOne(context, { kind, row, owners });
  }
  const { report } = context;
  if (report.total("budgets of tags") > 0)
    report.notes.push(
      `tags of clients count here as values of the key "${TAG_KEY}", once the option TagPolicy names it and TagHeaders has {"x-litellm-tags":"${TAG_KEY}"}`,
    );
}

interface One {
  readonly kind: Kind;
  readonly row: ForeignRow;
  readonly owners: KeyOwners;
}

async function bringOne(context: DatabaseImport, { kind, row, owners }: One): Promise<void> {
  const { report, target } = context;
  const spending = readTerms(context, row);
  const value = kind.nameValue(row.text(kind.key));
  if (value === undefined)
    return report.remark(`${kind.what} have budgets, and names that no call can have`, row.label);
  if (spending.isClosed || spending.max === 0)
    return report.remark(
      `${kind.what} have a budget or a limit of 0: block them in tag_limits of the accounts and teams`,
      row.label,
    );
  if (spending.limits !== null)
    report.remark(`${kind.what} have limits of requests: set tag_limits of the accounts and teams`, row.label);
  if (spending.max === undefined) return;
  const payers = await findPayers(context, { kind, row, owners }, spending);
  if (payers.size === 0)
    return report.remark(
      `${kind.what} have budgets, and no account that is known to use them: none is made`,
      row.label,
    );
  if (payers.size > 1)
    report.remark(`several accounts share the budget of ${kind.what}: here each has the whole amount`, row.label);
  await target.raw.transaction(async (tx) => {
    for (const [payer, spent] of payers) {
      const subject = `${payer}/${value}`;
      const known = await tx.rows("select 1 from budgets where scope = ? and subject = ?", [kind.scope, subject]);
      report.count(`budgets of ${kind.what}`, known.length > 0 ? "unchanged" : "created");
      const own = { ...spending, spent };
      if (known.length === 0)
        await keepBudget(context, tx, { scope: kind.scope, subject, spending: own, isForGood: true });
    }
  });
}

/** Returns the accounts whose keys used the value, with the units that they spent in the running window. */
async function findPayers(
  { source, clock }: DatabaseImport,
  { kind: { days, key }, row, owners }: One,
  { window, spent }: Spending,
): Promise<ReadonlyMap<number, number>> {
  const payers = new Map<number, number>();
  if (await source.has(days.table)) {
    const since = { column: "date", value: findFirstDay(window, clock.now()) };
    const where = { column: days.column, value: row.text(key) };
    for (const sum of await source.sums(days.table, { by: "api_key", sum: "spend", where, since })) {
      const payer = owners.get(sum.text("api_key"));
      if (payer !== undefined) payers.set(payer, (payers.get(payer) ?? 0) + unitsIn(sum, "spend"));
    }
  }
  // The row itself knows what was spent to the call; the sums know it by days.
  const [only] = payers.keys();
  return payers.size === 1 && only !== undefined ? new Map([[only, spent]]) : payers;
}

/** Returns the first day of the running window, `2026-11-30`; "" = all days count. */
function findFirstDay(window: Spending["window"], now: number): string {
  if (!window || window.period === "hours" || window.period === "total") return "";
  const rule = { ...window, time_zone: "UTC", anchor: "", ends_at: 0, window_start: 0 };
  return new Date(findWindow(rule, now).start * 1_000).toISOString().slice(0, DAY_DIGITS);
}
