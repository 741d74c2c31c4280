import { SimpleGrid, Stack, Text } from "@chakra-ui/react";
import type { UsageOverTime } from "../../../shared/usage/api.ts";
import { RangeChoice } from "../../../shared/usage/range-choice.tsx";
import { TREND_HEIGHT, TrendPlaces, UsageBlock } from "../../../shared/usage/usage-block.tsx";
import { useUsage } from "../../../shared/usage/use-usage.ts";
import { When } from "../../../ui/display/when.tsx";
import { Page } from "../../../ui/display/page.tsx";
import { DemoNotice } from "../demo-notice.tsx";
import { renderNextSteps, useSteps } from "../next-steps.tsx";
import { Opening } from "../opening.tsx";
import { useTexts } from "../texts.ts";
import { BudgetsPanel } from "./budgets-panel.tsx";
import { RunsOutPanel } from "./runs-out-panel.tsx";
import { JobsPanel, ReplicasPanel } from "./system-panels.tsx";
import { TroublePanel } from "./trouble-panel.tsx";

/** Older sums are marked as outdated. */
const LATE_SECONDS = 600;

/** Sums follow the log by a minute; if they do not, the figures are older than they seem. */
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

/** The operator's overview: figures compared with the previous period, and what needs attention. */
export function OperatorOverview() {
  const t = useTexts();
  const usage = useUsage({ by: "all", subject: "", isOwn: false }, "24h");
  const { data } = usage;
  const isNew = data !== undefined && data.now.total.calls + data.before.total.calls === 0;
  const steps = useSteps({ isAdmin: true, isOn: data === undefined || isNew });
  return (
    <Page title={t("title")} actions={<RangeChoice range={usage.range} choose={usage.choose} />}>
      <Opening hasDemo>
        <DemoNotice />
        {data && <Complete usage={data} />}
        <UsageBlock usage={usage} instead={isNew ? renderNextSteps(steps, TREND_HEIGHT, <TrendPlaces />) : undefined} />
        <SimpleGrid columns={{ base: 1, lg: 2 }} gap="3" alignItems="start">
          <Stack gap="3" minW="0">
            <TroublePanel />
            <ReplicasPanel />
          </Stack>
          <Stack gap="3" minW="0">
            <RunsOutPanel />
            <BudgetsPanel />
            <JobsPanel />
          </Stack>
        </SimpleGrid>
      </Opening>
    </Page>
  );
}
