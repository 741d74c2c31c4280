import { useQuery } from "@tanstack/react-query";
import { formatCount, formatQuota } from "../../../lib/format.ts";
import { useLanguage } from "../../../lib/i18n.ts";
import { FigureCard } from "../../../shared/usage/figure-card.tsx";
import { Money, useQuotaDisplay } from "../../../ui/display/money.tsx";
import { LoadFailed } from "../../../ui/feedback/empty.tsx";
import { batchesQuery, type SavingsAsked } from "./api.ts";
import { Section } from "./section.tsx";
import { useTexts } from "./texts.ts";

/** The batches that are open, and what those that were settled saved. */
export function Batches({ asked }: { readonly asked: SavingsAsked }) {
  const t = useTexts();
  const language = useLanguage();
  const display = useQuotaDisplay();
  const { data, error, refetch } = useQuery(batchesQuery(asked));
  if (error && !data) return <LoadFailed problem={error} onRetry={() => void refetch()} />;
  const isEmpty = data && data.open + data.settled === 0;
  return (
    <Section title={t("batches")} empty={isEmpty ? t("batchesEmpty") : undefined}>
      <FigureCard
        hasTrend={false}
        label={t("open")}
        title={t("openHelp")}
        note={data && t("deposit", { amount: formatQuota(data.deposit, display, language) })}
      >
        {data && formatCount(data.open, language)}
      </FigureCard>
      <FigureCard hasTrend={false} label={t("settled")} note={data && t("answered", { count: data.succeeded })}>
        {data && formatCount(data.settled, language)}
      </FigureCard>
      <FigureCard hasTrend={false} label={t("charged")}>
        {data && <Money quota={data.charged} />}
      </FigureCard>
      <FigureCard hasTrend={false} label={t("saved")} note={t("savedBatchesHelp")}>
        {data && <Money quota={data.saved} />}
      </FigureCard>
    </Section>
  );
}
