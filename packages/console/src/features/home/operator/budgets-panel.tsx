import { budgetSubject } from "@fairway/wire";
import { Box, Text } from "@chakra-ui/react";
import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { Link } from "react-router";
import { formatShare } from "../../../lib/format.ts";
import { useLanguage } from "../../../lib/i18n.ts";
import { useNow } from "../../../lib/now.ts";
import { budgetsQuery } from "../../../shared/budgets/api.ts";
import { nearBudgets, type NearBudget } from "../../../shared/budgets/near.ts";
import { WindowEnd } from "../../../shared/budgets/window-end.tsx";
import { Meter } from "../../../ui/display/meter.tsx";
import { Money } from "../../../ui/display/money.tsx";
import { When } from "../../../ui/display/when.tsx";
import { LoadFailed } from "../../../ui/feedback/empty.tsx";
import { Panel, PanelRow } from "../../../ui/display/panel.tsx";
import { useTexts } from "../texts.ts";

const MOST = 6;

const SCOPE_TEXT = {
  user: "scopeUser",
  token: "scopeToken",
  group: "scopeGroup",
  model: "scopeModel",
  channel: "scopeChannel",
  team: "scopeTeam",
  member: "scopeMember",
  service_account: "scopeServiceAccount",
  tag: "scopeTag",
  end_user: "scopeEndUser",
} as const;

function BudgetRow({ near }: { readonly near: NearBudget }) {
  const t = useTexts();
  const words = { endless: t("budgetEndless"), idle: t("budgetIdle") };
  const language = useLanguage();
  const { budget, part, endsAt } = near;
  const { used, held, quota_limit: limit } = budget;
  return (
    <PanelRow>
      <Box flex="1" minW="140px">
        <Text as="span" color="fg.muted">
          {t(SCOPE_TEXT[budget.scope])}
        </Text>{" "}
        <Link className="link" to={`/budget/${budget.id}`}>
          <bdi>{budgetSubject(budget)}</bdi>
        </Link>
      </Box>
      <span className="meter-line">
        <Meter used={used / limit} held={held / limit} isHigh label={formatShare(part, 1, language)} />
        <span>
          {formatShare(part, 1, language)} <span className="soft">{t("of")}</span> <Money quota={limit} />
        </span>
      </span>
      <Text color={part >= 1 ? "fg.error" : "fg.muted"} width="full">
        {part >= 1 ? t("budgetSpent") : endsAt === undefined ? t("budgetLasts") : t("budgetEnds")}{" "}
        {part >= 1 || endsAt === undefined ? <WindowEnd budget={budget} words={words} /> : <When at={endsAt} />}
      </Text>
    </PanelRow>
  );
}

/** Budgets that are nearly used up, or will be before their window ends. */
export function BudgetsPanel() {
  const t = useTexts();
  const now = useNow();
  const { data, error, refetch } = useQuery(budgetsQuery);
  const near = useMemo(() => data && nearBudgets(data, now), [data, now]);
  if (error && !data) return <LoadFailed problem={error} onRetry={() => void refetch()} />;
  return (
    <Panel
      title={t("budgetsNear")}
      count={near?.length}
      empty={data?.length === 0 ? t("budgetsAbsent") : t("budgetsNone")}
      link={
        <Link className="link" to="/budget">
          {t("allBudgets")}
        </Link>
      }
    >
      {near?.slice(0, MOST).map((one) => (
        <BudgetRow key={one.budget.id} near={one} />
      ))}
    </Panel>
  );
}
