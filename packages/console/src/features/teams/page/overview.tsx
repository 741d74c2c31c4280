import { Button, Flex, SimpleGrid, Stack, Text } from "@chakra-ui/react";
import { Link } from "react-router";
import { formatCount } from "../../../lib/format.ts";
import { useLanguage } from "../../../lib/i18n.ts";
import { FigureCard } from "../../../shared/usage/figure-card.tsx";
import { RangeChoice } from "../../../shared/usage/range-choice.tsx";
import { UsageFigures } from "../../../shared/usage/usage-figures.tsx";
import { useUsage } from "../../../shared/usage/use-usage.ts";
import { Money } from "../../../ui/display/money.tsx";
import { EmptyTeach, LoadFailed } from "../../../ui/feedback/empty.tsx";
import { NoticeBar } from "../../../ui/feedback/notice-bar.tsx";
import { printLabels } from "../labels.ts";
import { useTexts } from "../texts.ts";
import { BudgetsPanel } from "./budgets.tsx";
import type { PartProps } from "./part.ts";

function Spending({ team }: PartProps) {
  const usage = useUsage({ by: "all", subject: "", isOwn: false, teamId: team.id }, "7d");
  if (usage.error && !usage.data) return <LoadFailed problem={usage.error} onRetry={() => void usage.refetch()} />;
  return (
    <Stack gap="2">
      <Flex>
        <RangeChoice range={usage.range} choose={usage.choose} />
      </Flex>
      <UsageFigures usage={usage.data} by="all" />
    </Stack>
  );
}

/** Says that calls are refused, to those who can change it and those who cannot. */
function EmptyWallet({ team, rights }: PartProps) {
  const t = useTexts();
  const mayFill = rights.transfer || rights.isOperator;
  return (
    <NoticeBar
      icon="warning"
      hue="cardinal"
      {...(mayFill && {
        actions: (
          <Button asChild size="sm" variant="outline">
            <Link to={`/team/${team.id}?tab=wallet`}>{t("fillWallet")}</Link>
          </Button>
        ),
      })}
    >
      {t(mayFill ? "walletEmpty" : "walletEmptyAsk")}
    </NoticeBar>
  );
}

/** Balance, spending and budgets of a team, and the next step of a new one. */
export function Overview(props: PartProps) {
  const t = useTexts();
  const language = useLanguage();
  const { team, rights } = props;
  const labels = printLabels(team.labels);
  return (
    <Stack gap="4">
      {team.quota <= 0 && <EmptyWallet {...props} />}
      {(team.description !== "" || labels !== "") && (
        <Text color="fg.muted" overflowWrap="anywhere">
          <bdi>{[team.description, labels].filter((text) => text !== "").join(" · ")}</bdi>
        </Text>
      )}
      <SimpleGrid columns={{ base: 2, md: 4 }} gap="3">
        <FigureCard label={t("balance")} hasTrend={false}>
          <Money quota={team.quota} />
        </FigureCard>
        <FigureCard label={t("spentEver")} hasTrend={false}>
          <Money quota={team.used_quota} />
        </FigureCard>
        <FigureCard label={t("members")} hasTrend={false}>
          {formatCount(team.members, language)}
        </FigureCard>
        <FigureCard label={t("keys")} hasTrend={false}>
          {formatCount(team.keys, language)}
        </FigureCard>
      </SimpleGrid>
      {team.keys === 0 && rights.makeKeys && (
        <EmptyTeach icon="key" title={t("firstKey")} body={t("firstKeyBody")}>
          <Button asChild>
            <Link to={`/team/${team.id}?tab=keys`}>{t("addKey")}</Link>
          </Button>
        </EmptyTeach>
      )}
      {rights.report && <Spending {...props} />}
      <BudgetsPanel {...props} />
    </Stack>
  );
}
