import { QUOTA_PER_UNIT } from "@fairway/wire";
import { parseObject } from "../../../../lib/text/json.ts";
import type { ForeignRow } from "../../../../storage/foreign.ts";
import type { DatabaseImport } from "./context.ts";
import { readDuration } from "./durations.ts";
import type { Spending } from "./spending.ts";

interface ModelBudget extends Pick<Spending, "max" | "window" | "spent" | "softPercent"> {
  readonly model: string;
}

/** Reads `model_max_budget`: an amount for each model, or an amount with a duration. What is spent is not stored. */
export function readModelBudgets({ report }: DatabaseImport, row: ForeignRow): ModelBudget[] {
  const models = parseObject(row.text("model_max_budget") || "{}") ?? {};
  const usual = row.text("budget_duration");
  return Object.entries(models).flatMap(([model, value]): ModelBudget[] => {
    const { amount, duration } = readBudget(value, usual);
    const max = Math.round(amount * QUOTA_PER_UNIT);
    if (!Number.isSafeInteger(max) || max < 1) {
      report.remark("budgets of models have no amount that can be read: they are left out", `${row.label} ${model}`);
      return [];
    }
    return [{ model, max, window: readDuration(duration), spent: 0, softPercent: 0 }];
  });
}

function readBudget(value: unknown, usual: string): { readonly amount: number; readonly duration: string } {
  if (typeof value !== "object" || value === null) return { amount: Number(value), duration: usual };
  const members = value as Readonly<Record<string, unknown>>;
  const duration = members["time_period"] ?? members["budget_duration"];
  return {
    amount: Number(members["budget_limit"] ?? members["max_budget"]),
    duration: typeof duration === "string" ? duration : usual,
  };
}
