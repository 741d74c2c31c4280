import { Box } from "@chakra-ui/react";
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "react-router";
import { useSelf } from "../../../session/self.ts";
import { OwnBudgets, useOwnBudgets } from "../../../shared/budgets/own-budgets.tsx";
import { logAddress } from "../../../shared/usage/log-link.ts";
import { RangeChoice } from "../../../shared/usage/range-choice.tsx";
import { SpendTrend } from "../../../shared/usage/usage-trends.tsx";
import { useUsage } from "../../../shared/usage/use-usage.ts";
import { Page } from "../../../ui/display/page.tsx";
import { LoadFailed } from "../../../ui/feedback/empty.tsx";
import { Placeholder } from "../../../ui/feedback/placeholder.tsx";
import { recentQuery } from "../api.ts";
import { renderNextSteps, useSteps } from "../next-steps.tsx";
import { Opening } from "../opening.tsx";
import { useTexts } from "../texts.ts";
import { Recent } from "./recent.tsx";
import { UserFigures } from "./user-figures.tsx";

/** Pixels of a chart without a key. */
const SPEND_HEIGHT = 252;

/** Returns whether the user has yet to make a first request or a payment; undefined while that is unknown. */
function useIsNew(): boolean | undefined {
  const { data: recent, isError } = useQuery(recentQuery);
  const balance = useSelf()?.quota;
  if (isError) return false;
  if (recent === undefined || balance === undefined) return undefined;
  return recent.items.length === 0 || balance <= 0;
}

/** A user's balance, spending, budgets and newest requests; before the first request, the next steps. */
export function UserOverview() {
  const t = useTexts();
  const navigate = useNavigate();
  const usage = useUsage({ by: "all", subject: "", isOwn: true }, "7d");
  const { data, error, refetch } = usage;
  const budgets = useOwnBudgets();
  const isNew = useIsNew();
  const steps = useSteps({ isAdmin: false, isOn: isNew !== false });
  const isBegun = data && data.now.total.calls > 0;
  const place = <Placeholder height={SPEND_HEIGHT} />;
  const first = isNew ? renderNextSteps(steps, SPEND_HEIGHT, place) : undefined;
  return (
    <Page title={t("title")} actions={<RangeChoice range={usage.range} choose={usage.choose} />}>
      <Opening isWaiting={budgets.isLoading}>
        {error && !data ? (
          <LoadFailed problem={error} onRetry={() => void refetch()} />
        ) : (
          <>
            <UserFigures usage={data} />
            {first}
            {!(first && !isBegun) && (
              <Box mb="3">
                {data && isNew !== undefined ? (
                  <SpendTrend usage={data} onOpen={(span) => void navigate(logAddress({ span, isErrors: false }))} />
                ) : (
                  place
                )}
              </Box>
            )}
          </>
        )}
        <Box mb="3" _empty={{ mb: "0" }}>
          <OwnBudgets query={budgets} />
        </Box>
        <Recent />
      </Opening>
    </Page>
  );
}
