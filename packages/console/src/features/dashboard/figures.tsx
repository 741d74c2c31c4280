import { Box, SimpleGrid, Text } from "@chakra-ui/react";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { abbreviate, formatChange, formatCount } from "../../lib/format.ts";
import { useLanguage } from "../../lib/i18n.ts";
import { Sparkline } from "../../ui/chart/charts.tsx";
import { Money } from "../../ui/display/money.tsx";
import { rateQuery, type UsageFilter } from "./api.ts";
import { METRICS, type Amounts, type Bucket, type Metric } from "./series.ts";
import { useTexts } from "./texts.ts";

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
      <Box textStyle={{ base: "xl", sm: "2xl" }} fontWeight="semibold" minH="9" overflowWrap="anywhere">
        {props.children}
      </Box>
      {props.picture}
      <Text textStyle="xs" color="fg.muted" minH="4" mt="1">
        {props.note}
      </Text>
    </Box>
  );
}

interface FiguresProps {
  readonly now: Amounts | undefined;
  /** Amounts of the previous span of the same length; undefined while unknown. */
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
    const change = formatChange(now[metric], before[metric], language);
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
