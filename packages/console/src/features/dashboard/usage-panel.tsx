import { Box, Button, Flex, Heading, Text } from "@chakra-ui/react";
import { useState, type MouseEvent } from "react";
import { useLanguage } from "../../lib/i18n.ts";
import type { Bounds } from "../../lib/range.ts";
import { useQuotaDisplay } from "../../ui/display/money.tsx";
import { printAmount, printStart } from "./print.ts";
import { METRICS, MOST_BUCKETS, type Bucket, type Metric, type Series } from "./series.ts";
import { ShareChart } from "./share-chart.tsx";
import type { Step } from "./span.ts";
import { StackedChart } from "./stacked-chart.tsx";
import { useTexts } from "./texts.ts";
import { UsageTable } from "./usage-table.tsx";

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

const keyOf = (series: Series) => series.model ?? "";

function Legend(props: {
  readonly series: readonly Series[];
  readonly hidden: ReadonlySet<string>;
  hide(names: ReadonlySet<string>): void;
}) {
  const t = useTexts();
  const { series, hidden } = props;
  const choose = (name: string) => (event: MouseEvent) => {
    const others = series.map(keyOf).filter((other) => other !== name);
    if (event.shiftKey) {
      const next = new Set(hidden);
      if (!next.delete(name)) next.add(name);
      return props.hide(next);
    }
    const isAlone = !hidden.has(name) && others.every((other) => hidden.has(other));
    props.hide(new Set(isAlone ? [] : others));
  };
  return (
    <div className="legend" role="group" aria-label={t("legend")} title={t("legend")}>
      {series.map((entry) => (
        <button
          key={keyOf(entry)}
          type="button"
          aria-pressed={!hidden.has(keyOf(entry))}
          onClick={choose(keyOf(entry))}
        >
          <span className={`swatch hue-${entry.hue}`} />
          <span className="cut">{entry.model ?? t("others")}</span>
        </button>
      ))}
    </div>
  );
}

interface PanelProps {
  readonly bounds: Bounds;
  readonly buckets: readonly Bucket[];
  readonly series: readonly Series[];
  readonly step: Step;
  readonly metric: Metric;
  readonly view: View;
  change(change: { metric?: string; view?: string }): void;
  onOpen(bucket: Bucket, model?: string): void;
}

/** The chart of the page in its three forms, with the legend that narrows it. */
export function UsagePanel(props: PanelProps) {
  const t = useTexts();
  const language = useLanguage();
  const display = useQuotaDisplay();
  const { bounds, buckets, series, step, metric, view } = props;
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set());
  const shown = series.filter((entry) => !hidden.has(keyOf(entry)));
  const total = shown.reduce((sum, entry) => sum + entry.total, 0);
  const largest = shown.toSorted((a, b) => b.total - a.total)[0];
  const summary = t("chartSummary", {
    metric: t(metric),
    from: printStart(bounds.from, step, language),
    to: printStart(bounds.to, step, language),
    total: printAmount(metric, total, display, language),
    model: largest ? (largest.model ?? t("others")) : "–",
  });
  const chart = { buckets, series: shown, all: series, metric, step, summary };
  return (
    <Box as="section" bg="bg.panel" borderWidth="1px" borderRadius="l3" p={{ base: "3", sm: "4" }}>
      <Flex align="center" gap="2" wrap="wrap" mb="3">
        <Heading as="h2" textStyle="lg" fontWeight="semibold" flex="1">
          {t("chartTitle")}
        </Heading>
        <Choices
          label={t("metric")}
          names={METRICS}
          chosen={metric}
          print={(name) => t(name)}
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
          {view === "overTime" && <StackedChart {...chart} onOpen={props.onOpen} />}
          {view === "share" && <ShareChart series={shown} metric={metric} summary={summary} />}
          {view === "table" && <UsageTable {...chart} />}
        </>
      )}
      {buckets.length === MOST_BUCKETS && view !== "share" && (
        <Text textStyle="sm" color="fg.warning" mt="2">
          {t("clipped", { count: MOST_BUCKETS })}
        </Text>
      )}
      <Legend series={series} hidden={hidden} hide={setHidden} />
    </Box>
  );
}
