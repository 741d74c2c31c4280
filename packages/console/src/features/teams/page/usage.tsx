import { Flex, SimpleGrid, Stack, Text } from "@chakra-ui/react";
import { useQuery } from "@tanstack/react-query";
import { formatCount } from "../../../lib/format.ts";
import { useLanguage } from "../../../lib/i18n.ts";
import { useHolders } from "../../../shared/teams/use-holders.ts";
import { RangeChoice } from "../../../shared/usage/range-choice.tsx";
import { SubjectsPanel } from "../../../shared/usage/subjects-panel.tsx";
import { UsageBlock } from "../../../shared/usage/usage-block.tsx";
import { useUsage } from "../../../shared/usage/use-usage.ts";
import { Money } from "../../../ui/display/money.tsx";
import { Panel, PanelRow } from "../../../ui/display/panel.tsx";
import { When } from "../../../ui/display/when.tsx";
import { LoadFailed } from "../../../ui/feedback/empty.tsx";
import { callsQuery, holdersQuery } from "../api.ts";
import { useTexts } from "../texts.ts";
import type { PartProps } from "./part.ts";

/** The last calls: the log page shows the reader's own. */
function Calls({ team }: Pick<PartProps, "team">) {
  const t = useTexts();
  const language = useLanguage();
  const { data, error, refetch } = useQuery(callsQuery(team.id));
  if (error && !data) return <LoadFailed problem={error} onRetry={() => void refetch()} />;
  return (
    <Panel title={t("lastCalls")} count={data?.items.length} empty={t("noCalls")} isShortened>
      {data?.items.map((row) => (
        <PanelRow key={row.request_id}>
          <Text color="fg.muted" width="24" flex="none">
            <When at={row.created_at} />
          </Text>
          <Text flex="1" minW="8rem" overflowWrap="anywhere">
            <bdi>{row.token_name}</bdi> <span className="soft mono">{row.model_name}</span>
          </Text>
          <Text color="fg.muted">
            {t("callTokens", {
              input: formatCount(row.prompt_tokens, language),
              output: formatCount(row.completion_tokens, language),
            })}
          </Text>
          <Text fontWeight="medium" minW="20" textAlign="end">
            <Money quota={row.quota} isPrecise />
          </Text>
        </PanelRow>
      ))}
    </Panel>
  );
}

/** What each member and service account spent, also those who have left. */
function Holders({ team, rights }: PartProps) {
  const t = useTexts();
  const language = useLanguage();
  const { data, error, refetch } = useQuery(holdersQuery(team.id));
  const names = useHolders({ team: team.id, isManager: rights.manage });
  if (error && !data) return <LoadFailed problem={error} onRetry={() => void refetch()} />;
  return (
    <Panel title={t("byHolder")} count={data?.rows.length} empty={t("noCalls")} isShortened>
      {data?.rows.map(({ actor, calls, quota }) => (
        <PanelRow key={String(actor)}>
          <Text flex="1" minW="8rem" overflowWrap="anywhere">
            <bdi>{actor === "" ? t("noMaker") : (names.get(String(actor)) ?? String(actor))}</bdi>
          </Text>
          <Text color="fg.muted">{t("callCount", { calls: formatCount(calls, language) })}</Text>
          <Text fontWeight="medium" minW="20" textAlign="end">
            <Money quota={quota} isPrecise />
          </Text>
        </PanelRow>
      ))}
    </Panel>
  );
}

/** Spending of the team by key and model, and its last calls. Administrators get to the log of all users from here. */
export function Usage({ team, rights }: PartProps) {
  const t = useTexts();
  const usage = useUsage({ by: "all", subject: "", isOwn: false, teamId: team.id }, "7d");
  const asked = { range: usage.range, isOwn: false, teamId: team.id } as const;
  const links = (part: (subject: string) => { tokenId?: string; model?: string }) =>
    rights.isOperator ? { buildLogPart: (subject: string) => ({ user: team.name, ...part(subject) }) } : {};
  return (
    <Stack gap="3">
      <Flex>
        <RangeChoice range={usage.range} choose={usage.choose} />
      </Flex>
      <UsageBlock usage={usage} part={{ user: team.name }} hasLog={rights.isOperator} />
      <SimpleGrid columns={{ base: 1, lg: 2 }} gap="3" alignItems="start">
        <SubjectsPanel title={t("byKey")} asked={{ ...asked, by: "token" }} {...links((tokenId) => ({ tokenId }))} />
        <SubjectsPanel title={t("byModel")} asked={{ ...asked, by: "model" }} {...links((model) => ({ model }))} />
      </SimpleGrid>
      <Holders team={team} rights={rights} />
      <Calls team={team} />
    </Stack>
  );
}
