import { SimpleGrid, Text } from "@chakra-ui/react";
import { useQuery } from "@tanstack/react-query";
import type { CacheUsage } from "@fairway/wire";
import { abbreviate, formatCount, formatShare } from "../../../lib/format.ts";
import { useLanguage } from "../../../lib/i18n.ts";
import { FigureCard } from "../../../shared/usage/figure-card.tsx";
import { Money } from "../../../ui/display/money.tsx";
import { Panel, PanelRow } from "../../../ui/display/panel.tsx";
import { LoadFailed } from "../../../ui/feedback/empty.tsx";
import { cachesQuery, type SavingsAsked } from "./api.ts";
import { Section } from "./section.tsx";
import { useTexts } from "./texts.ts";

const MOST = 12;

function isUsed({ cached_tokens: read, written_tokens: written, storage }: CacheUsage): boolean {
  return read + written + storage > 0;
}

/** What the caches of vendors read, wrote and saved, as the server sums it. */
export function Caches({ asked }: { readonly asked: SavingsAsked }) {
  const t = useTexts();
  const { data, error, refetch } = useQuery(cachesQuery("all", asked));
  if (error && !data) return <LoadFailed problem={error} onRetry={() => void refetch()} />;
  const total = data?.[0];
  const empty = data && !(total && isUsed(total)) ? t("cachesEmpty") : undefined;
  return (
    <>
      <Section title={t("caches")} empty={empty}>
        <CacheFigures total={total} />
      </Section>
      {total && isUsed(total) && (
        <SimpleGrid columns={{ base: 1, lg: 2 }} gap="4" mt="4">
          {asked.isAdmin && <CachePanel by="channel" asked={asked} />}
          <CachePanel by="token" asked={asked} />
        </SimpleGrid>
      )}
    </>
  );
}

function CacheFigures({ total }: { readonly total: CacheUsage | undefined }) {
  const t = useTexts();
  const language = useLanguage();
  const count = (value: number) => <span title={formatCount(value, language)}>{abbreviate(value, language)}</span>;
  const hits = total && {
    hits: formatCount(total.hits, language),
    requests: total.requests,
  };
  return (
    <>
      <FigureCard hasTrend={false} label={t("hitRate")} title={t("hitRateHelp")} note={hits && t("hits", hits)}>
        {total && formatShare(total.cached_tokens, total.input_tokens, language, 1)}
      </FigureCard>
      <FigureCard
        hasTrend={false}
        label={t("read")}
        note={total && t("written", { count: abbreviate(total.written_tokens, language) })}
      >
        {total && count(total.cached_tokens)}
      </FigureCard>
      <FigureCard hasTrend={false} label={t("saved")} note={t("savedCachesHelp")}>
        {total && <Money quota={total.saved} />}
      </FigureCard>
      <FigureCard hasTrend={false} label={t("storage")} note={t("storageHelp")}>
        {total && <Money quota={total.storage} />}
      </FigureCard>
    </>
  );
}

function CachePanel({ by, asked }: { readonly by: "channel" | "token"; readonly asked: SavingsAsked }) {
  const t = useTexts();
  const language = useLanguage();
  const { data, error, refetch } = useQuery(cachesQuery(by, asked));
  if (error && !data) return <LoadFailed problem={error} onRetry={() => void refetch()} />;
  const used = data?.filter(isUsed);
  const readId = (row: CacheUsage) => (by === "channel" ? row.channel_id : row.token_id);
  return (
    <Panel title={t(by === "channel" ? "byChannel" : "byToken")} count={used?.length} empty={t("cachesEmpty")}>
      {used?.slice(0, MOST).map((row) => (
        <PanelRow key={readId(row)}>
          <span className="cut" style={{ flex: 1, minWidth: "8rem" }}>
            <bdi>{row.name || t("unnamed", { id: String(readId(row)) })}</bdi>
          </span>
          <Text color="fg.muted" order={{ base: 1, sm: 0 }} width={{ base: "full", sm: "auto" }}>
            {t("subject", {
              rate: formatShare(row.cached_tokens, row.input_tokens, language, 1),
              tokens: abbreviate(row.input_tokens, language),
            })}
          </Text>
          <Text fontWeight="medium" minW="20" textAlign="end">
            <Money quota={row.saved} />
          </Text>
        </PanelRow>
      ))}
    </Panel>
  );
}
