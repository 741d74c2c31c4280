import { budgetSubject, type Budget } from "@fairway/wire";
import { Link, useLocation } from "react-router";
import { formatShare } from "../../lib/format.ts";
import { currentLanguage } from "../../lib/i18n.ts";
import type { Column } from "../../ui/grid/grid-props.ts";
import { Mark, type MarkKind } from "../../ui/display/mark.tsx";
import { Meter } from "../../ui/display/meter.tsx";
import { Money } from "../../ui/display/money.tsx";
import { When } from "../../ui/display/when.tsx";
import { calculateBudgetState, type BudgetState } from "./budget-form.ts";
import { useTexts } from "./texts.ts";

export const SCOPE_TEXT = {
  user: "scopeUser",
  token: "scopeToken",
  group: "scopeGroup",
  model: "scopeModel",
  channel: "scopeChannel",
} as const;

export const PERIOD_TEXT = { day: "periodDay", week: "periodWeek", month: "periodMonth" } as const;

const MARKS: Readonly<Record<BudgetState, MarkKind>> = { within: "go", near: "caution", spent: "stop" };

function SubjectCell({ budget }: { readonly budget: Budget }) {
  const t = useTexts();
  const { search } = useLocation();
  return (
    <span className="nowrap">
      <span className="soft">{t(SCOPE_TEXT[budget.scope])}</span>{" "}
      <Link className="link" to={{ pathname: `/budget/edit/${budget.id}`, search }}>
        {budgetSubject(budget)}
      </Link>
    </span>
  );
}

/** Shows how close the budget is to its limit. */
export function StateMark({ budget }: { readonly budget: Budget }) {
  const t = useTexts();
  const state = calculateBudgetState(budget);
  return <Mark kind={MARKS[state]} label={t(state)} />;
}

function UsedCell({ budget }: { readonly budget: Budget }) {
  const t = useTexts();
  const { used, held, quota_limit: limit } = budget;
  const percent = Math.round(((used + held) / limit) * 100);
  return (
    <span className="meter-line">
      <Money quota={used} />
      <Meter
        used={used / limit}
        held={held / limit}
        isHigh={calculateBudgetState(budget) !== "within"}
        label={t("usedOf", { percent })}
      />
      <Money quota={limit} />
      {held > 0 && (
        <span className="soft">
          {t("held")} <Money quota={held} />
        </span>
      )}
    </span>
  );
}

export function budgetColumns(t: ReturnType<typeof useTexts>): Column<Budget>[] {
  return [
    { id: "subject", header: t("subject"), width: 190, isTitle: true, cell: (row) => <SubjectCell budget={row} /> },
    { id: "state", header: t("state"), width: 110, cell: (row) => <StateMark budget={row} /> },
    { id: "used", header: t("used"), width: 240, rank: 0, cell: (row) => <UsedCell budget={row} /> },
    {
      id: "period",
      header: t("period"),
      width: 120,
      cell: (row) => (
        <span className="nowrap">
          {t(PERIOD_TEXT[row.period])} <span className="soft">{row.time_zone}</span>
        </span>
      ),
    },
    { id: "resets", header: t("resets"), width: 100, isMinor: true, cell: (row) => <When at={row.window_end} /> },
    {
      id: "soft",
      header: t("soft"),
      width: 90,
      rank: 4,
      align: "end",
      isMinor: true,
      cell: (row) =>
        row.soft_percent === 0 ? (
          <span className="soft">–</span>
        ) : (
          formatShare(row.soft_percent, 100, currentLanguage())
        ),
    },
    { id: "hard", header: t("effect"), width: 90, rank: 3, cell: (row) => t(row.is_hard ? "refuses" : "warns") },
  ];
}
