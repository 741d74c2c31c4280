import { Box, Skeleton } from "@chakra-ui/react";
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "react-router";
import { useUrlState } from "../../../lib/url-state.ts";
import { useSelf } from "../../../session/self.ts";
import { usageOverTimeQuery } from "../../../shared/usage/api.ts";
import { logAddress } from "../../../shared/usage/log-link.ts";
import { usageRangeOf } from "../../../shared/usage/period.ts";
import { RangeChoice } from "../../../shared/usage/range-choice.tsx";
import { SpendTrend } from "../../../shared/usage/usage-trends.tsx";
import { Page } from "../../../ui/display/page.tsx";
import { LoadFailed } from "../../../ui/feedback/empty.tsx";
import { Announcement } from "../announcement.tsx";
import { recentQuery } from "../api.ts";
import { NextSteps } from "../next-steps.tsx";
import { useTexts } from "../texts.ts";
import { Recent } from "./recent.tsx";
import { UserFigures } from "./user-figures.tsx";

const USUAL = "7d";
const DEFAULTS = { range: USUAL };

/** A user's balance, spending and newest requests; before the first request, what to do. */
export function UserOverview() {
  const t = useTexts();
  const navigate = useNavigate();
  const [state, change] = useUrlState(DEFAULTS);
  const range = usageRangeOf(state.range);
  const { data, error, refetch } = useQuery(usageOverTimeQuery({ by: "all", subject: "", range, isOwn: true }));
  const recent = useQuery(recentQuery).data;
  const balance = useSelf()?.quota;
  const isNew = recent?.items.length === 0 || (balance !== undefined && balance <= 0);
  return (
    <Page title={t("title")} actions={<RangeChoice range={range} choose={(next) => change({ range: next })} />}>
      <Announcement />
      {isNew && <NextSteps isAdmin={false} />}
      {error && !data ? (
        <LoadFailed problem={error} onRetry={() => void refetch()} />
      ) : (
        <>
          <UserFigures usage={data} />
          <Box mb="3">
            {data ? (
              <SpendTrend usage={data} onOpen={(span) => void navigate(logAddress({ span, isErrors: false }))} />
            ) : (
              <Skeleton height="252px" borderRadius="l3" aria-busy="true" />
            )}
          </Box>
        </>
      )}
      <Recent />
    </Page>
  );
}
