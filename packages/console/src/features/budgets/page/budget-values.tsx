import type { Budget } from "@fairway/wire";
import { useQuery } from "@tanstack/react-query";
import { BudgetRow } from "../../../shared/budgets/budget-row.tsx";
import { Panel } from "../../../ui/display/panel.tsx";
import { LoadFailed } from "../../../ui/feedback/empty.tsx";
import { valuesQuery } from "../api.ts";
import { useTexts } from "../texts.ts";

/** The values of a budget that each of them has for itself: those that used most. */
export function BudgetValues({ budget }: { readonly budget: Budget }) {
  const t = useTexts();
  const { data, error, refetch } = useQuery(valuesQuery(budget.id));
  if (error && !data) return <LoadFailed problem={error} onRetry={() => void refetch()} />;
  return (
    <Panel title={t("values")} count={budget.values} empty={t("noValues")}>
      {data?.map((value) => (
        <BudgetRow key={value.id} budget={value} isLinked />
      ))}
    </Panel>
  );
}
