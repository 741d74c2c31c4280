import { useQuery } from "@tanstack/react-query";
import { LoadFailed } from "../../ui/feedback/empty.tsx";
import { Panel } from "../../ui/display/panel.tsx";
import { ownBudgetsQuery } from "./api.ts";
import { BudgetRow } from "./budget-row.tsx";
import { useTexts } from "./texts.ts";

/** Budgets of the reader and of the reader's tokens; nothing for those who have none. */
export function OwnBudgets() {
  const t = useTexts();
  const { data, error, refetch } = useQuery(ownBudgetsQuery);
  if (error && !data) return <LoadFailed problem={error} onRetry={() => void refetch()} />;
  if (!data || data.length === 0) return null;
  return (
    <Panel title={t("budgets")} count={data.length} empty="">
      {data.map((budget) => (
        <BudgetRow key={budget.id} budget={budget} />
      ))}
    </Panel>
  );
}
