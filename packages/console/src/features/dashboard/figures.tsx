import { Box, Flex, SimpleGrid, Text } from "@chakra-ui/react";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { abbreviate, formatCount } from "../../lib/format.ts";
import { useLanguage } from "../../lib/i18n.ts";
import { Money } from "../../ui/display/money.tsx";
import { rateQuery, type UsageFilter } from "./api.ts";
import { printChange } from "./print.ts";
import { METRICS, type Amounts, type Bucket, type Metric } from "./series.ts";
import { useTexts } from "./texts.ts";

const WIDTH = 96;
const HEIGHT = 28;

/** How a number moved, without scales. */
function Sparkline(props: { readonly values: readonly number[] }) {
  const top = Math.max(...props.values, 0) || 1;
  const step = WIDTH / Math.max(1, props.values.length - 1);
  const points = props.values.map(
    (value, index) => `${(index * step).toFixed(1)},${(HEIGHT - 2 - (value / top) * (HEIGHT - 4)).toFixed(1)}`,
  );
  return (
    <svg className="sparkline" width={WIDTH} height={HEIGHT} aria-hidden="true">
      <polyline points={points.join(" ")} />
    </svg>
  );
}

/** A count that fits; the tooltip is exact. */
function Count(props: { readonly value: number }) {
  const language = useLanguage();
  return <span title={formatCount(props.value, language)}>{abbreviate(props.value, language)}</span>;
}

function Card(props: {
  readonly label: string;
  readonly title?: string;
  readonly note?: string | undefined;
  readonly children: ReactNode;
  readonly picture?: ReactNode;
}) {
  return (
    <Box
      bg="bg.panel"
      borderWidth="1px"
      borderRadius="l3"
      px={{ base: "3", sm: "5" }}
      py="4"
      minW="0"
      title={props.title}
    >
      <Text textStyle="sm" color="fg.muted">
        {props.label}
      </Text>
      <Flex align="flex-end" justify="space-between" gap="2" wrap="wrap">
        <Box textStyle={{ base: "xl", sm: "2xl" }} fontWeight="semibold" minH="9" overflowWrap="anywhere">
          {props.children}
        </Box>
        {props.picture}
      </Flex>
      <Text textStyle="xs" color="fg.muted" minH="4">
        {props.note}
      </Text>
    </Box>
  );
}

interface FiguresProps {
  readonly now: Amounts | undefined;
  /** Of the span of the same length before it; undefined while it is not known. */
  readonly before: Amounts | undefined;
  readonly buckets: readonly Bucket[];
  readonly filter: UsageFilter;
}

export function Figures(props: FiguresProps) {
  const t = useTexts();
  const language = useLanguage();
  const rate = useQuery(rateQuery(props.filter)).data;
  const { now, before, buckets } = props;
  const noteOf = (metric: Metric) => {
    if (!now || !before) return undefined;
    const change = printChange(now[metric], before[metric], language);
    return change === undefined ? t("beforeNone") : t("before", { change });
  };
  return (
    <SimpleGrid columns={{ base: 2, lg: 4 }} gap="3" mb="4">
      {METRICS.map((metric) => (
        <Card
          key={metric}
          label={t(metric)}
          note={noteOf(metric)}
          picture={buckets.length > 1 && <Sparkline values={buckets.map((bucket) => bucket[metric])} />}
        >
          {now && (metric === "quota" ? <Money quota={now.quota} /> : <Count value={now[metric]} />)}
        </Card>
      ))}
      <Card label={t("rate")} title={t("rateHelp")} note={t("rateHelp")}>
        {rate && (
          <>
            <Count value={rate.rpm} /> · <Count value={rate.tpm} />
          </>
        )}
      </Card>
    </SimpleGrid>
  );
}
