import type { BudgetHistory } from "@fairway/wire";
import { useMemo } from "react";
import { formatQuota } from "../../lib/format.ts";
import { useLanguage } from "../../lib/i18n.ts";
import { useNow } from "../../lib/now.ts";
import { buildQuotaAxis } from "../../ui/chart/axis.ts";
import { ChartFigure } from "../../ui/chart/chart-figure.tsx";
import { MAIN_COLOUR, REST_COLOUR, SECOND_COLOUR } from "../../ui/chart/colours.ts";
import { useQuotaDisplay } from "../../ui/display/money.tsx";
import { burnDown } from "./burn-down.ts";
import { describePeriod } from "./period-text.ts";
import { useTexts } from "./texts.ts";

const HEIGHT = 260;

interface BurnDownProps {
  readonly history: BudgetHistory;
  /** The owner of the budget, if the page shows several. */
  readonly name?: string;
}

/** The use of a budget over its window, and its forecast. */
export function BurnDown({ history, name }: BurnDownProps) {
  const t = useTexts();
  const language = useLanguage();
  const display = useQuotaDisplay();
  const now = useNow();
  const slots = useMemo(() => burnDown(history, now), [history, now]);
  const print = (value: number) => formatQuota(value, display, language);
  const { budget, forecast } = history;
  return (
    <ChartFigure
      kind="lines"
      title={name === undefined ? t("burnDown") : t("burnDownOf", { period: describePeriod(t, budget), name })}
      empty=""
      label={t("burnDownReader")}
      height={HEIGHT}
      slots={slots}
      series={[
        { key: "limit", label: t("limitLine"), colour: REST_COLOUR, isDashed: true },
        { key: "forecast", label: t("forecast"), colour: SECOND_COLOUR, isDashed: true },
        { key: "used", label: t("usedNow"), colour: MAIN_COLOUR },
      ]}
      summary={t("burnDownSummary", {
        used: print(budget.used),
        limit: print(budget.quota_limit),
        end: print(forecast.used_at_end),
      })}
      print={print}
      axis={buildQuotaAxis(display, language)}
    />
  );
}
