import { Button, Stack } from "@chakra-ui/react";
import { useQuery } from "@tanstack/react-query";
import { Link } from "react-router";
import { BudgetRow } from "../../../shared/budgets/budget-row.tsx";
import { Panel } from "../../../ui/display/panel.tsx";
import { EmptyTeach, LoadFailed } from "../../../ui/feedback/empty.tsx";
import { budgetsQuery } from "../api.ts";
import { useTexts } from "../texts.ts";
import type { PartProps } from "./part.ts";

/** Budgets of the team, its wallet, its members and its keys. */
export function BudgetsPanel({ team, rights }: PartProps) {
  const t = useTexts();
  const { data, error, refetch } = useQuery(budgetsQuery(team.id));
  if (error && !data) return <LoadFailed problem={error} onRetry={() => void refetch()} />;
  return (
    <Panel title={t("budgets")} count={data?.length} empty={t("noBudgets")}>
      {data?.map((budget) => (
        <BudgetRow key={budget.id} budget={budget} isLinked={rights.isOperator} isOfTeam />
      ))}
    </Panel>
  );
}

/** Administrators add budgets to the team and to its members; everyone in it sees what is left. */
export function Budgets(props: PartProps) {
  const t = useTexts();
  const { team, rights } = props;
  const { data } = useQuery(budgetsQuery(team.id));
  const add = (
    <Stack direction="row" gap="2" wrap="wrap">
      <Button asChild size="sm">
        <Link to={`/budget/add?scope=team&q=${team.slug}`}>{t("addTeamBudget")}</Link>
      </Button>
      <Button asChild size="sm" variant="outline">
        <Link to={`/budget/add?scope=member&q=${team.slug}:`}>{t("addMemberBudget")}</Link>
      </Button>
    </Stack>
  );
  if (data?.length === 0)
    return (
      <EmptyTeach icon="budget" title={t("noBudgets")} body={t(rights.isOperator ? "budgetsBody" : "budgetsAskBody")}>
        {rights.isOperator && add}
      </EmptyTeach>
    );
  return (
    <Stack gap="3">
      {rights.isOperator && add}
      <BudgetsPanel {...props} />
    </Stack>
  );
}
