import { SimpleGrid } from "@chakra-ui/react";
import type { UsagePoint } from "@fairway/wire";
import type { ReactNode } from "react";
import { abbreviate, formatShare, milliseconds } from "../../lib/format.ts";
import { useLanguage } from "../../lib/i18n.ts";
import type { Bounds } from "../../lib/range.ts";
import { buildCountAxis, buildDurationAxis, buildQuotaAxis } from "../../ui/chart/axis.ts";
import { ChartFigure } from "../../ui/chart/chart-figure.tsx";
import { ERROR_COLOUR, MAIN_COLOUR, REST_COLOUR, SECOND_COLOUR } from "../../ui/chart/colours.ts";
import { useQuotaDisplay } from "../../ui/display/money.tsx";
import { formatQuota } from "../../lib/format.ts";
import type { UsageOverTime } from "./api.ts";
import { printDuration } from "./durations.ts";
import { callsName } from "./calls-name.ts";
import { countGood, buildSlots, withBefore } from "./points.ts";
import { useTexts } from "./texts.ts";

const HEIGHT = 180;

type OpenSpan = (span: Bounds, isErrors: boolean) => void;

interface TrendsProps {
  readonly usage: UsageOverTime;
  /** Opens the log of a span; `isErrors` if the user clicked the failed calls of a bar. */
  readonly onOpen?: OpenSpan | undefined;
}

const toBounds = ({ start, end }: { readonly start: number; readonly end: number }): Bounds => ({
  from: start,
  to: end - 1,
});

function Calls({ usage, onOpen }: TrendsProps) {
  const t = useTexts();
  const language = useLanguage();
  const { calls, errors } = usage.now.total;
  const name = callsName(usage.now.by);
  const slots = buildSlots(usage.period, usage.now.subjects[0]?.points ?? [], (point) => ({
    good: point ? countGood(point) : 0,
    refused: point?.refused ?? 0,
    errors: point?.errors ?? 0,
  }));
  return (
    <ChartFigure
      kind="bars"
      title={t(name)}
      empty={t("empty")}
      label={t("reader")}
      height={HEIGHT}
      slots={slots}
      series={[
        { key: "good", label: t("good"), colour: MAIN_COLOUR },
        { key: "refused", label: t("refused"), colour: REST_COLOUR },
        { key: "errors", label: t("errors"), colour: ERROR_COLOUR },
      ]}
      summary={t("callsSummary", { name: t(name), calls, errors: formatShare(errors, calls, language) })}
      print={(value) => abbreviate(value, language)}
      axis={buildCountAxis(language)}
      {...(onOpen && { onOpen: (slot, key) => onOpen(toBounds(slot), key === "errors") })}
    />
  );
}

function Latency({ usage, onOpen }: TrendsProps) {
  const t = useTexts();
  const language = useLanguage();
  const readLatency = (point: UsagePoint | undefined) => {
    const { latency } = point ?? {};
    return latency && latency.count > 0 ? { p50: latency.p50, p95: latency.p95 } : {};
  };
  const points = (answer: typeof usage.now) => answer.subjects[0]?.points ?? [];
  const slots = buildSlots(usage.period, points(usage.now), readLatency);
  const before = buildSlots(
    { ...usage.period, from: usage.before.start_timestamp, to: usage.before.end_timestamp },
    points(usage.before),
    readLatency,
  );
  const { p50, p95 } = usage.now.total.latency;
  return (
    <ChartFigure
      kind="lines"
      title={t("latencyTitle")}
      empty={t(usage.now.total.calls > 0 ? "emptyLatency" : "empty")}
      label={t("reader")}
      height={HEIGHT}
      slots={withBefore(slots, before, "p95")}
      series={[
        { key: "before", label: t("p95Before"), colour: REST_COLOUR, isDashed: true },
        { key: "p95", label: "p95", colour: SECOND_COLOUR },
        { key: "p50", label: "p50", colour: MAIN_COLOUR },
      ]}
      summary={t("latencySummary", { p50: milliseconds(p50), p95: milliseconds(p95) })}
      print={printDuration}
      axis={buildDurationAxis(language)}
      {...(onOpen && { onOpen: (slot) => onOpen(toBounds(slot), false) })}
    />
  );
}

/** Spending over time, with that of the previous period. */
export function SpendTrend(props: TrendsProps & { readonly aside?: ReactNode }) {
  const t = useTexts();
  const language = useLanguage();
  const display = useQuotaDisplay();
  const { usage, onOpen } = props;
  const readSpend = (point: UsagePoint | undefined) => ({ spend: point?.quota ?? 0 });
  const slots = buildSlots(usage.period, usage.now.subjects[0]?.points ?? [], readSpend);
  const print = (value: number) => formatQuota(value, display, language);
  return (
    <ChartFigure
      kind="bars"
      title={t("spendTitle")}
      aside={props.aside}
      empty={t(usage.now.total.calls > 0 ? "emptySpend" : "empty")}
      label={t("reader")}
      height={HEIGHT}
      slots={slots}
      series={[{ key: "spend", label: t("spend"), colour: MAIN_COLOUR }]}
      summary={t("spendSummary", { spend: print(usage.now.total.quota) })}
      print={print}
      axis={buildQuotaAxis(display, language)}
      {...(onOpen && { onOpen: (slot) => onOpen(toBounds(slot), false) })}
    />
  );
}

/** Calls with their failures, and latency, over time. */
export function UsageTrends(props: TrendsProps) {
  return (
    <SimpleGrid columns={{ base: 1, lg: 2 }} gap="3" mb="3">
      <Calls {...props} />
      <Latency {...props} />
    </SimpleGrid>
  );
}
