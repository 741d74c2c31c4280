import { Box, Flex } from "@chakra-ui/react";
import type { UsageReport } from "@fairway/wire";
import { useMemo, useState } from "react";
import { formatCount, formatQuota, formatShare } from "../../lib/format.ts";
import { useLanguage } from "../../lib/i18n.ts";
import { buildCountAxis, buildQuotaAxis } from "../../ui/chart/axis.ts";
import { ShareRing, StackedBars } from "../../ui/chart/charts.tsx";
import { Legend } from "../../ui/chart/legend.tsx";
import { printMoment } from "../../ui/chart/time-labels.ts";
import { useQuotaDisplay } from "../../ui/display/money.tsx";
import { FilterSelect } from "../../ui/grid/filter-bar.tsx";
import { readWords, type Holders } from "./names.ts";
import { buildSeries, buildSlots, METRICS, type Interval, type Metric } from "./shape.ts";
import { useTexts } from "./texts.ts";

const METRIC_TEXTS = { quota: "metricCost", tokens: "metricTokens", calls: "calls" } as const;

interface ReportChartProps {
  readonly report: UsageReport;
  readonly interval: Interval;
  readonly metric: Metric;
  readonly holders: Holders;
  choose(metric: string): void;
  onZoom(from: number, to: number): void;
}

/** The report as bars over time, or as parts of a whole if it has no intervals. */
export function ReportChart({ report, interval, metric, holders, choose, onZoom }: ReportChartProps) {
  const t = useTexts();
  const language = useLanguage();
  const display = useQuotaDisplay();
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set());
  const words = useMemo(() => readWords(t, holders), [t, holders]);
  const series = useMemo(() => buildSeries(report, metric, words), [report, metric, words]);
  const slots = useMemo(
    () => (interval === "none" ? [] : buildSlots(report, series, { metric, interval, words })),
    [report, series, metric, interval, words],
  );
  const print = (value: number) =>
    metric === "quota" ? formatQuota(value, display, language) : formatCount(value, language);
  const shown = series.filter(({ key }) => !hidden.has(key));
  const name = (label: string) => (label === "" ? t("allCalls") : label);
  const labelled = shown.map((one) => ({ ...one, label: name(one.label) }));
  const summary = t("chartSummary", {
    metric: t(METRIC_TEXTS[metric]),
    from: printMoment(report.start, language),
    to: printMoment(report.end, language),
    total: print(shown.reduce((sum, { total }) => sum + total, 0)),
    name: labelled[0]?.label ?? "–",
  });
  return (
    <Box as="section" bg="bg.panel" borderWidth="1px" borderRadius="l3" p={{ base: "3", sm: "4" }}>
      <Flex justify="flex-end" mb="3">
        <FilterSelect
          label={t("metric")}
          value={metric}
          unset={METRICS[0]}
          choices={METRICS.map((one) => ({ value: one, label: t(METRIC_TEXTS[one]) }))}
          onChange={choose}
        />
      </Flex>
      {interval === "none" ? (
        <ShareRing
          shares={labelled.map(({ total, ...one }) => ({ ...one, value: total }))}
          summary={summary}
          print={print}
          printShare={(part, whole) => formatShare(part, whole, language)}
        />
      ) : (
        <StackedBars
          slots={slots}
          series={labelled}
          label={t("chart")}
          summary={summary}
          print={print}
          axis={metric === "quota" ? buildQuotaAxis(display, language) : buildCountAxis(language)}
          onBrush={onZoom}
        />
      )}
      <Legend
        series={series.map((one) => ({ ...one, label: name(one.label) }))}
        label={t("metric")}
        hidden={hidden}
        hide={setHidden}
      />
    </Box>
  );
}
