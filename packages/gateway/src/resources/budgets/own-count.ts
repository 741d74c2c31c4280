import { isBudgetTemplate, MAX_SELF_BUDGETS, MAX_SELF_TEMPLATES } from "@fairway/wire";
import { inChunks } from "../../lib/chunks.ts";
import { Refusal } from "../../lib/refusal.ts";
import type { RawTransaction } from "../../storage/engines/raw.ts";
import { inList } from "../../storage/statements.ts";
import type { NewBudget } from "./insert-budget.ts";

const TOKENS_AT_ONCE = 500;

type Subject = Pick<NewBudget, "scope" | "subject">;

/** Throws `budget_too_many` if a person has made as many budgets as one may. */
export async function checkOwnCount(tx: RawTransaction, userId: number, wanted: Subject): Promise<void> {
  const made = await readOwn(tx, userId);
  const templates = made.filter(isBudgetTemplate).length;
  if (isBudgetTemplate(wanted) && templates >= MAX_SELF_TEMPLATES) throw tooMany(templates);
  if (made.length >= MAX_SELF_BUDGETS) throw tooMany(made.length);
}

async function readOwn(tx: RawTransaction, userId: number): Promise<readonly Subject[]> {
  const own = "select scope, subject from budgets where managed_by = 'self' and template_id = 0 and ";
  const found = await tx.rows<Subject>(`${own} scope in ('tag', 'end_user') and subject like ?`, [`${userId}/%`]);
  const living = "select id from tokens where user_id = ? and deleted_at is null";
  const tokens = await tx.rows<{ id: number }>(living, [userId]);
  const ofTokens: Subject[] = [];
  for (const some of inChunks(tokens, TOKENS_AT_ONCE)) {
    const { marks, values } = inList(some.map(({ id }) => String(id)));
    ofTokens.push(...(await tx.rows<Subject>(`${own} scope = 'token' and subject in ${marks}`, values)));
  }
  return [...found, ...ofTokens];
}

function tooMany(count: number): Refusal {
  return new Refusal("budget_too_many", { field: "subject", values: { count } });
}
