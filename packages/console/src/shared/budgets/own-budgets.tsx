import { useQuery } from "@tanstack/react-query";
import { LoadFailed } from "../../ui/feedback/empty.tsx";
import { Panel } from "../../ui/display/panel.tsx";
import { ownBudgetsQuery } from "./api.ts";
import { BudgetRow } from "./budget-row.tsx";
import { useTexts } from "./texts.ts";

/** Read by the page, which opens once it is known whether there are any, so that it does not move while it is read. */
export function useOwnBudgets() {
  const { data, error, isLoading, refetch } = useQuery(ownBudgetsQuery);
  return { data, error, isLoading, refetch };
}

/** Budgets of the reader and of the reader's tokens; nothing if there are none. */
export function OwnBudgets({ query: { data, error, refetch } }: { readonly query: ReturnType<typeof useOwnBudgets> }) {
  const t = useTexts();
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
