import { Button, SimpleGrid, Text } from "@chakra-ui/react";
import { budgetSubject, type BudgetHistory } from "@fairway/wire";
import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "react-router";
import { formatShare } from "../../../lib/format.ts";
import { useLanguage } from "../../../lib/i18n.ts";
import { historyQuery } from "../../../shared/budgets/api.ts";
import { CountsSince } from "../../../shared/budgets/counts-since.tsx";
import { WindowEnd } from "../../../shared/budgets/window-end.tsx";
import { BurnDown } from "../../../shared/budgets/burn-down-chart.tsx";
import { isRowId, RowPage } from "../../../shared/row/row-page.tsx";
import { FigureCard } from "../../../shared/usage/figure-card.tsx";
import { Money } from "../../../ui/display/money.tsx";
import { HistoryButton } from "../../../ui/menu/history-button.tsx";
import { Page } from "../../../ui/display/page.tsx";
import { When } from "../../../ui/display/when.tsx";
import { describeWindows, SCOPE_TEXT } from "../columns.tsx";
import { useTexts } from "../texts.ts";
import { BudgetValues } from "./budget-values.tsx";

function Figures({ history }: { readonly history: BudgetHistory }) {
  const t = useTexts();
  const language = useLanguage();
  const { budget, forecast } = history;
  const { used, held, quota_limit: limit } = budget;
  return (
    <SimpleGrid columns={{ base: 2, lg: 4 }} gap="3" mb="3">
      <FigureCard
        hasTrend={false}
        label={t("usedNow")}
        note={
          <>
            {formatShare(used, limit, language)} <CountsSince budget={budget} />
          </>
        }
      >
        <Money quota={used} />
      </FigureCard>
      <FigureCard
        hasTrend={false}
        label={t("left")}
        note={
          held > 0 && (
            <>
              {t("held")} <Money quota={held} />
            </>
          )
        }
      >
        <Money quota={Math.max(0, limit - used - held)} />
      </FigureCard>
      <FigureCard hasTrend={false} label={t("pace")} note={t("paceNote")}>
        <Money quota={forecast.per_day} />
      </FigureCard>
      <FigureCard
        hasTrend={false}
        label={t(used >= limit ? "reachedNow" : forecast.reached_at > 0 ? "reachedAt" : "lasts")}
        note={
          <>
            {t("atEnd")} <Money quota={forecast.used_at_end} />
          </>
        }
      >
        {used < limit && forecast.reached_at > 0 ? (
          <When at={forecast.reached_at} />
        ) : (
          <WindowEnd budget={budget} words={{ endless: t("endless"), idle: t("idle") }} />
        )}
      </FigureCard>
    </SimpleGrid>
  );
}

function Shown({ history }: { readonly history: BudgetHistory }) {
  const t = useTexts();
  const { budget } = history;
  return (
    <Page
      title={`${t(SCOPE_TEXT[budget.scope])} ${budgetSubject(budget)}`}
      aside={
        <Text color="fg.muted">
          {describeWindows(t, budget)} · {t(budget.is_hard ? "refuses" : "warns")}
        </Text>
      }
      actions={
        <>
          <HistoryButton target={`budget ${budget.id}`} />
          <Button asChild>
            <Link to={`/budget/edit/${budget.id}`}>{t("editRow")}</Link>
          </Button>
        </>
      }
    >
      {budget.values === undefined ? (
        <>
          <Figures history={history} />
          <BurnDown history={history} />
        </>
      ) : (
        <BudgetValues budget={budget} />
      )}
    </Page>
  );
}

/** Shows one budget over its window: what is used, how fast, and when it will be used up. */
export function BudgetPage() {
  const t = useTexts();
  const id = Number(useParams()["id"]);
  const query = useQuery({ ...historyQuery(id), enabled: isRowId(id) });
  const missing = {
    key: "budget_not_found",
    icon: "budget",
    title: t("missingTitle"),
    body: t("missingBody"),
    list: { path: "/budget", label: t("allBudgets") },
  } as const;
  return (
    <RowPage title={t("title")} id={id} row={query.data} query={query} missing={missing}>
      {(history) => <Shown history={history} />}
    </RowPage>
  );
}
