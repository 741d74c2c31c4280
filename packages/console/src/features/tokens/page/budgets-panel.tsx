import type { Budget, TokenFacts } from "@fairway/wire";
import { Box } from "@chakra-ui/react";
import { useQuery } from "@tanstack/react-query";
import { budgetsQuery, historyQuery, ownBudgetsQuery, ownHistoryQuery } from "../../../shared/budgets/api.ts";
import { BudgetRow } from "../../../shared/budgets/budget-row.tsx";
import { BurnDown } from "../../../shared/budgets/burn-down-chart.tsx";
import { LoadFailed } from "../../../ui/feedback/empty.tsx";
import { Panel } from "../../../ui/display/panel.tsx";
import { useTexts } from "../texts.ts";

interface BudgetsProps {
  readonly token: TokenFacts;
  readonly isOwn: boolean;
}

function Chart({ budget, isOwn }: { readonly budget: Budget; readonly isOwn: boolean }) {
  const own = useQuery({ ...ownHistoryQuery(budget.id), enabled: isOwn });
  const managed = useQuery({ ...historyQuery(budget.id), enabled: !isOwn });
  const { data, error, refetch } = isOwn ? own : managed;
  if (error && !data) return <LoadFailed problem={error} onRetry={() => void refetch()} />;
  return (
    data && (
      <Box mt="3">
        <BurnDown history={data} name={budget.subject_name} />
      </Box>
    )
  );
}

/** Budgets that limit the token: its own, with their usage over time, and those of its owner. */
export function BudgetsPanel({ token, isOwn }: BudgetsProps) {
  const t = useTexts();
  const own = useQuery({ ...ownBudgetsQuery, enabled: isOwn });
  const all = useQuery({ ...budgetsQuery, enabled: !isOwn });
  const { data, error, refetch } = isOwn ? own : all;
  if (error && !data) return <LoadFailed problem={error} onRetry={() => void refetch()} />;
  const ofToken = data?.filter(({ scope, subject }) => scope === "token" && subject === String(token.id));
  const ofOwner = data?.filter(({ scope, subject }) => scope === "user" && subject === String(token.user_id));
  const budgets = ofToken && ofOwner && [...ofToken, ...ofOwner];
  return (
    <Box>
      <Panel title={t("budgets")} count={budgets?.length} empty={t("budgetsNone")}>
        {budgets?.map((budget) => (
          <BudgetRow key={budget.id} budget={budget} isLinked={!isOwn} />
        ))}
      </Panel>
      {ofToken?.map((budget) => (
        <Chart key={budget.id} budget={budget} isOwn={isOwn} />
      ))}
    </Box>
  );
}
