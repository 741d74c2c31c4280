import { Box, Button, Flex, Heading, Text } from "@chakra-ui/react";
import { useMemo, useState } from "react";
import { formatShare } from "../../lib/format.ts";
import { useLanguage } from "../../lib/i18n.ts";
import type { Bounds } from "../../lib/range.ts";
import { useQuotaDisplay } from "../../ui/display/money.tsx";
import { buildCountAxis, buildQuotaAxis } from "../../ui/chart/axis.ts";
import { ChartTable } from "../../ui/chart/chart-table.tsx";
import { ShareRing, StackedBars } from "../../ui/chart/charts.tsx";
import { Legend } from "../../ui/chart/legend.tsx";
import { printMoment, printStart } from "../../ui/chart/time-labels.ts";
import { metricText, type Dimension } from "./dimension.ts";
import { printAmount } from "./print.ts";
import { METRICS, MAX_BUCKETS, OTHERS, buildSlots, type Bucket, type Metric, type Series } from "./series.ts";
import { useTexts } from "./texts.ts";

export const VIEWS = ["overTime", "share", "table"] as const;
type View = (typeof VIEWS)[number];

function Choices<N extends string>(props: {
  readonly label: string;
  readonly names: readonly N[];
  readonly chosen: N;
  print(name: N): string;
  choose(name: N): void;
}) {
  return (
    <Flex role="group" aria-label={props.label} borderWidth="1px" borderRadius="l2" p="0.5" gap="0.5">
      {props.names.map((name) => {
        const isOn = name === props.chosen;
        return (
          <Button
            key={name}
            size="xs"
            h="6"
            variant="ghost"
            aria-pressed={isOn}
            bg={isOn ? "fairway.subtle" : "transparent"}
            color={isOn ? "fairway.fg" : "fg.muted"}
            onClick={() => props.choose(name)}
          >
            {props.print(name)}
          </Button>
        );
      })}
    </Flex>
  );
}

interface PanelProps {
  /** Says what the series are. */
  readonly title: string;
  readonly dimension: Dimension;
  readonly bounds: Bounds;
  readonly buckets: readonly Bucket[];
  readonly series: readonly Series[];
  readonly metric: Metric;
  readonly view: View;
  change(change: { metric?: string; view?: string }): void;
  onOpen(span: Bounds, model?: string): void;
  onZoom(span: Bounds): void;
}

/** The chart of the page in its three forms, with the legend that filters it. */
export function UsagePanel(props: PanelProps) {
  const t = useTexts();
  const language = useLanguage();
  const display = useQuotaDisplay();
  const { bounds, buckets, series, metric, view } = props;
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set());
  const slots = useMemo(() => buildSlots(buckets, series, metric), [buckets, series, metric]);
  const shown = series.filter(({ key }) => !hidden.has(key));
  const print = (value: number) => printAmount(metric, value, display, language);
  const length = slots[0] ? slots[0].end - slots[0].start : 0;
  const largest = shown.toSorted((a, b) => b.total - a.total)[0];
  const summary = t("chartSummary", {
    metric: t(metricText(metric, props.dimension)),
    from: printStart(bounds.from, length, language),
    to: printStart(bounds.to, length, language),
    total: print(shown.reduce((sum, entry) => sum + entry.total, 0)),
    model: largest?.label ?? "–",
  });
  const chart = { slots, series: shown, summary, print };
  return (
    <Box as="section" bg="bg.panel" borderWidth="1px" borderRadius="l3" p={{ base: "3", sm: "4" }}>
      <Flex align="center" gap="2" wrap="wrap" mb="3">
        <Box flex="1 1 12rem">
          <Heading as="h2" textStyle="lg" fontWeight="semibold">
            {props.title}
          </Heading>
          <Text textStyle="sm" color="fg.muted">
            {t("span", { from: printMoment(bounds.from, language), to: printMoment(bounds.to, language) })}
          </Text>
        </Box>
        <Choices
          label={t("metric")}
          names={METRICS}
          chosen={metric}
          print={(name) => t(metricText(name, props.dimension))}
          choose={(name) => props.change({ metric: name })}
        />
        <Choices
          label={t("view")}
          names={VIEWS}
          chosen={view}
          print={(name) => t(name)}
          choose={(name) => props.change({ view: name })}
        />
      </Flex>
      {shown.length === 0 ? (
        <Flex minH="260px" align="center" justify="center" gap="3" color="fg.muted">
          {t("nothingShown")}
          <Button size="xs" variant="outline" onClick={() => setHidden(new Set())}>
            {t("showAll")}
          </Button>
        </Flex>
      ) : (
        <>
          {view === "overTime" && (
            <StackedBars
              {...chart}
              axis={metric === "quota" ? buildQuotaAxis(display, language) : buildCountAxis(language)}
              label={t("chartReader")}
              onOpen={({ start, end }, key) =>
                props.onOpen({ from: start, to: end - 1 }, key === OTHERS ? undefined : key)
              }
              onBrush={(from, to) => props.onZoom({ from, to })}
            />
          )}
          {view === "share" && (
            <ShareRing
              shares={shown.map(({ total, ...entry }) => ({ ...entry, value: total }))}
              summary={summary}
              print={print}
              printShare={(part, whole) => formatShare(part, whole, language)}
            />
          )}
          {view === "table" && <ChartTable {...chart} isStacked />}
        </>
      )}
      {buckets.length === MAX_BUCKETS && view !== "share" && (
        <Text textStyle="sm" color="fg.warning" mt="2">
          {t("clipped", { count: MAX_BUCKETS })}
        </Text>
      )}
      <Legend series={series} label={t("legend")} hidden={hidden} hide={setHidden} />
    </Box>
  );
}
