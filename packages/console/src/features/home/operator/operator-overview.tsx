import { SimpleGrid, Skeleton, Stack, Text } from "@chakra-ui/react";
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "react-router";
import { useUrlState } from "../../../lib/url-state.ts";
import { usageOverTimeQuery, type UsageOverTime } from "../../../shared/usage/api.ts";
import { logAddress } from "../../../shared/usage/log-link.ts";
import { usageRangeOf } from "../../../shared/usage/period.ts";
import { RangeChoice } from "../../../shared/usage/range-choice.tsx";
import { UsageFigures } from "../../../shared/usage/usage-figures.tsx";
import { UsageTrends } from "../../../shared/usage/usage-trends.tsx";
import { When } from "../../../ui/display/when.tsx";
import { LoadFailed } from "../../../ui/feedback/empty.tsx";
import { Page } from "../../../ui/display/page.tsx";
import { Announcement } from "../announcement.tsx";
import { DemoNotice } from "../demo-notice.tsx";
import { NextSteps } from "../next-steps.tsx";
import { useTexts } from "../texts.ts";
import { BudgetsPanel } from "./budgets-panel.tsx";
import { JobsPanel, ReplicasPanel } from "./system-panels.tsx";
import { TroublePanel } from "./trouble-panel.tsx";

const DEFAULTS = { range: "" };
/** Height of a chart with title and legend, so that nothing moves when it arrives. */
const TRENDS_HEIGHT = "290px";
/** Sums that are older than this are said to be. */
const LATE_SECONDS = 600;

/** Sums follow the log by a minute; where they do not, the figures are older than they seem. */
function Complete({ usage }: { readonly usage: UsageOverTime }) {
  const t = useTexts();
  const { complete_until: until } = usage.now;
  if (until === 0 || usage.period.to - until < LATE_SECONDS) return null;
  return (
    <Text textStyle="sm" color="fg.warning" mb="3">
      {t("sumsLate")} <When at={until} />
    </Text>
  );
}

/** What an operator wants to know first: figures with the time before, and what needs a hand. */
export function OperatorOverview() {
  const t = useTexts();
  const navigate = useNavigate();
  const [state, change] = useUrlState(DEFAULTS);
  const range = usageRangeOf(state.range);
  const { data, error, refetch } = useQuery(usageOverTimeQuery({ by: "all", subject: "", range, isOwn: false }));
  const isNew = data !== undefined && data.now.total.calls + data.before.total.calls === 0;
  return (
    <Page
      title={t("title")}
      actions={<RangeChoice range={range} choose={(next) => change({ range: next === "24h" ? "" : next })} />}
    >
      <Announcement />
      <DemoNotice />
      {isNew && <NextSteps isAdmin />}
      {error && !data ? (
        <LoadFailed problem={error} onRetry={() => void refetch()} />
      ) : (
        <>
          {data && <Complete usage={data} />}
          <UsageFigures usage={data} />
          {data ? (
            <UsageTrends usage={data} onOpen={(span, isErrors) => void navigate(logAddress({ span, isErrors }))} />
          ) : (
            <SimpleGrid columns={{ base: 1, lg: 2 }} gap="3" mb="3" aria-busy="true">
              <Skeleton height={TRENDS_HEIGHT} borderRadius="l3" />
              <Skeleton height={TRENDS_HEIGHT} borderRadius="l3" />
            </SimpleGrid>
          )}
        </>
      )}
      <SimpleGrid columns={{ base: 1, lg: 2 }} gap="3" alignItems="start">
        <Stack gap="3" minW="0">
          <TroublePanel />
          <ReplicasPanel />
        </Stack>
        <Stack gap="3" minW="0">
          <BudgetsPanel />
          <JobsPanel />
        </Stack>
      </SimpleGrid>
    </Page>
  );
}
