import {
  budgetList,
  budgetListSelf,
  budgetSubject,
  ROLE,
  selfGet,
  teamBudgetList,
  type Budget,
  type Client,
} from "@fairway/wire";
import { number, plain, quota, time } from "../../print/columns.ts";
import { printList, type Output, type Shape } from "../../print/output.ts";
import type { BudgetOwner } from "./owner.ts";

/** How budgets are printed. */
export const BUDGETS: Shape<Budget> = {
  kind: "Budget",
  columns: [
    number("ID", "id"),
    plain("SCOPE", "scope"),
    { title: "SUBJECT", value: budgetSubject },
    { title: "PERIOD", value: ({ period, length }) => (period === "hours" ? `${length} hours` : period) },
    quota("LIMIT", "quota_limit"),
    quota("USED", "used"),
    { title: "HARD", value: ({ is_hard: isHard }) => (isHard ? "yes" : "no") },
  ],
  wide: [
    quota("HELD", "held"),
    time("COUNTS SINCE", "counts_since"),
    time("ENDS", "window_end"),
    plain("ZONE", "time_zone"),
    plain("ANCHOR", "anchor"),
    plain("MODEL", "filter_model"),
    plain("MADE BY", "managed_by"),
    number("VALUES", "values"),
    { title: "THRESHOLDS", value: ({ thresholds }) => thresholds.join(",") },
  ],
  name: ({ id }) => `budget/${id}`,
};

export interface BudgetListOptions {
  readonly mine?: boolean;
}

export async function listBudgets(
  client: Client,
  { mine = false, team }: BudgetListOptions & { readonly team: number | undefined },
  output: Output,
): Promise<void> {
  if (team !== undefined && !mine) return listTeamBudgets(client, team, output);
  const isAll = !mine && (await client.call(selfGet, {})).data.role >= ROLE.admin;
  const rows = await readBudgets(client, isAll);
  const empty = isAll ? "No budgets." : "No budget of you or of your keys.";
  await printList(output, { ...BUDGETS, rows, empty });
}

/** Lists the budgets of a team, its wallet, members, service accounts and keys. */
export async function listTeamBudgets(client: Client, id: number, output: Output): Promise<void> {
  const { data: rows } = await client.call(teamBudgetList, { params: { id } });
  await printList(output, { ...BUDGETS, rows, empty: "No budgets of this team." });
}

export async function listValues(
  budgets: Pick<BudgetOwner, "values">,
  id: number,
  { keyword = "" }: { readonly keyword?: string },
  output: Output,
): Promise<void> {
  const rows = await budgets.values(id, keyword);
  await printList(output, { ...BUDGETS, rows, empty: "No call has named a value of this budget yet." });
}

/** Reads all budgets, which only administrators may do, or those of the signed-in user. */
export async function readBudgets(client: Client, isAll: boolean): Promise<readonly Budget[]> {
  return (await client.call(isAll ? budgetList : budgetListSelf, {})).data;
}
