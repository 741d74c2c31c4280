import { budgetSubject, type Budget } from "@fairway/wire";
import { Link, useLocation } from "react-router";
import { formatShare } from "../../lib/format.ts";
import { currentLanguage } from "../../lib/i18n.ts";
import type { Column } from "../../ui/grid/grid-props.ts";
import { Mark, type MarkKind } from "../../ui/display/mark.tsx";
import { Meter } from "../../ui/display/meter.tsx";
import { Money } from "../../ui/display/money.tsx";
import { WindowEnd } from "../../shared/budgets/window-end.tsx";
import { calculateBudgetState, type BudgetState } from "./budget-form.ts";
import { useTexts } from "./texts.ts";

export const SCOPE_TEXT = {
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

export const PERIOD_TEXT = {
  hour: "periodHour",
  hours: "periodHours",
  day: "periodDay",
  week: "periodWeek",
  month: "periodMonth",
  quarter: "periodQuarter",
  year: "periodYear",
  total: "periodTotal",
} as const;

/** Returns the windows of a budget in words: the period, its first day, the zone and the model. */
export function describeWindows(
  t: ReturnType<typeof useTexts>,
  { period, length, anchor, time_zone: zone, filter_model: model }: Budget,
): string {
  const parts = [
    period === "hours" ? t("hoursOf", { length }) : t(PERIOD_TEXT[period]),
    ...(anchor === "" ? [] : [t("from", { anchor: describeAnchor(period, anchor) })]),
    ...(period === "hours" || period === "total" ? [] : [zone]),
    ...(model === "" ? [] : [t("onlyModel", { model })]),
  ];
  return parts.join(" · ");
}

/** 1 January 2024 was a Monday. */
const MONDAY = Date.UTC(2024, 0, 1);
const DAY_MS = 86_400_000;

/** Returns the first day of a window in words. */
export function describeAnchor(period: Budget["period"], anchor: string): string {
  if (period !== "week") return anchor;
  const format = new Intl.DateTimeFormat(currentLanguage(), { weekday: "long", timeZone: "UTC" });
  return format.format(MONDAY + (Number(anchor) - 1) * DAY_MS);
}

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

/** Returns the thresholds as percentages. */
export function describeThresholds({ thresholds }: Pick<Budget, "thresholds">): string {
  return thresholds.map((percent) => formatShare(percent, 100, currentLanguage())).join(", ");
}

/** Shows how close the budget is to its limit. */
export function StateMark({ budget }: { readonly budget: Budget }) {
  const t = useTexts();
  const state = calculateBudgetState(budget);
  return <Mark kind={MARKS[state]} label={t(state)} />;
}

function UsedCell({ budget }: { readonly budget: Budget }) {
  const t = useTexts();
  const { used, held, quota_limit: limit, values } = budget;
  if (values !== undefined)
    return (
      <span className="nowrap">
        {t("eachOf", { values })} <Money quota={limit} />
      </span>
    );
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
      cell: (row) => <span className="nowrap">{describeWindows(t, row)}</span>,
    },
    {
      id: "resets",
      header: t("resets"),
      width: 100,
      isMinor: true,
      cell: (row) => <WindowEnd budget={row} words={{ endless: t("endless"), idle: t("idle") }} />,
    },
    {
      id: "soft",
      header: t("soft"),
      width: 110,
      rank: 4,
      align: "end",
      isMinor: true,
      cell: (row) => (row.thresholds.length === 0 ? <span className="soft">–</span> : describeThresholds(row)),
    },
    { id: "hard", header: t("effect"), width: 90, rank: 3, cell: (row) => t(row.is_hard ? "refuses" : "warns") },
  ];
}
