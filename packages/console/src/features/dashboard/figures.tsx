import { SimpleGrid } from "@chakra-ui/react";
import { useQuery } from "@tanstack/react-query";
import { abbreviate, formatChange, formatCount } from "../../lib/format.ts";
import { useLanguage } from "../../lib/i18n.ts";
import { FigureCard } from "../../shared/usage/figure-card.tsx";
import { Money } from "../../ui/display/money.tsx";
import { rateQuery, type UsageFilter } from "./api.ts";
import { METRICS, type Amounts, type Bucket, type Metric } from "./series.ts";
import { useTexts } from "./texts.ts";

/** A count that fits; the tooltip is exact. */
function Count(props: { readonly value: number }) {
  const language = useLanguage();
  return <span title={formatCount(props.value, language)}>{abbreviate(props.value, language)}</span>;
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
        <FigureCard
          key={metric}
          label={t(metric)}
          note={noteOf(metric)}
          trend={{ values: buckets.map((bucket) => bucket[metric]) }}
        >
          {now && (metric === "quota" ? <Money quota={now.quota} /> : <Count value={now[metric]} />)}
        </FigureCard>
      ))}
      <FigureCard hasTrend={false} label={t("rate")} title={t("rateHelp")} note={t("rateHelp")}>
        {rate && (
          <>
            <Count value={rate.rpm} /> · <Count value={rate.tpm} />
          </>
        )}
      </FigureCard>
    </SimpleGrid>
  );
}
