import { SimpleGrid } from "@chakra-ui/react";
import { useQuery } from "@tanstack/react-query";
import { abbreviate, formatChange, formatCount } from "../../lib/format.ts";
import { useLanguage } from "../../lib/i18n.ts";
import { useNow } from "../../lib/now.ts";
import { FigureCard } from "../../shared/usage/figure-card.tsx";
import { Delta } from "../../ui/display/delta.tsx";
import { Money } from "../../ui/display/money.tsx";
import { rateQuery, type Comparison, type UsageFilter } from "./api.ts";
import { metricText, type Dimension } from "./dimension.ts";
import { METRICS, readAmounts, type Amounts, type Bucket, type Metric } from "./series.ts";
import { useTexts } from "./texts.ts";

/** Shows an abbreviated count; the tooltip is exact. */
function Count(props: { readonly value: number }) {
  const language = useLanguage();
  return <span title={formatCount(props.value, language)}>{abbreviate(props.value, language)}</span>;
}

interface FiguresProps {
  readonly now: Amounts | undefined;
  /** Undefined while it is unknown, or without a finished hour. */
  readonly comparison: Comparison | undefined;
  readonly buckets: readonly Bucket[];
  readonly filter: UsageFilter;
  readonly dimension: Dimension;
}

export function Figures(props: FiguresProps) {
  const t = useTexts();
  const language = useLanguage();
  const rate = useQuery(rateQuery(props.filter)).data;
  const { now, comparison, buckets } = props;
  const at = useNow();
  const describeChange = (metric: Metric) => {
    if (!comparison) return undefined;
    const { hours } = comparison;
    const [value, earlier] = [readAmounts(comparison.now)[metric], readAmounts(comparison.before)[metric]];
    const change = formatChange(value, earlier, language);
    return (
      <span title={t("beforeHelp", { hours })}>
        {change === undefined ? (
          t("beforeNone")
        ) : (
          <Delta by={value - earlier} more="plain">
            {t("before", { change })}
          </Delta>
        )}
      </span>
    );
  };
  return (
    <SimpleGrid columns={{ base: 2, lg: 4 }} gap="3" mb="4">
      {METRICS.map((metric) => (
        <FigureCard
          key={metric}
          label={t(metricText(metric, props.dimension))}
          note={describeChange(metric)}
          trend={{ values: buckets.filter(({ end }) => end <= at + 1).map((bucket) => bucket[metric]) }}
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
