import { Box, Button, Flex, SimpleGrid, Skeleton, Stack, Text } from "@chakra-ui/react";
import { CHANNEL_STATUS, type Channel } from "@fairway/wire";
import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { Link, useNavigate, useParams } from "react-router";
import { ApiProblem } from "../../../lib/problems.ts";
import { statusInfo } from "../../../lib/status-info.ts";
import { useUrlState } from "../../../lib/url-state.ts";
import { usageOverTimeQuery } from "../../../shared/usage/api.ts";
import { logAddress } from "../../../shared/usage/log-link.ts";
import { usageRangeOf } from "../../../shared/usage/period.ts";
import { RangeChoice } from "../../../shared/usage/range-choice.tsx";
import { UsageFigures } from "../../../shared/usage/usage-figures.tsx";
import { SpendTrend, UsageTrends } from "../../../shared/usage/usage-trends.tsx";
import { Mark, type MarkKind } from "../../../ui/display/mark.tsx";
import { Page } from "../../../ui/display/page.tsx";
import { When } from "../../../ui/display/when.tsx";
import { EmptyTeach, LoadFailed } from "../../../ui/feedback/empty.tsx";
import { NoticeBar } from "../../../ui/feedback/notice-bar.tsx";
import { toastProblem } from "../../../ui/feedback/toaster.ts";
import { ManagedNote } from "../managed.tsx";
import { typesQuery } from "../api.ts";
import { useTexts } from "../texts.ts";
import { shownChannelQuery, switchChannel } from "./api.ts";
import { FactsPanel } from "./facts-panel.tsx";
import { FailuresPanel } from "./failures-panel.tsx";
import { KeysPanel } from "./keys-panel.tsx";
import { TestMatrix } from "./test-matrix.tsx";

const DEFAULTS = { range: "" };

const STATES: Readonly<Record<number, { mark: MarkKind; text: "enabled" | "disabledByHand" | "disabledBySystem" }>> = {
  [CHANNEL_STATUS.enabled]: { mark: "go", text: "enabled" },
  [CHANNEL_STATUS.disabledByHand]: { mark: "parked", text: "disabledByHand" },
  [CHANNEL_STATUS.disabledBySystem]: { mark: "stop", text: "disabledBySystem" },
};

function State(props: { readonly status: number }) {
  const t = useTexts();
  const { mark, text } = STATES[props.status] ?? { mark: "unknown", text: "disabledByHand" };
  return <Mark kind={mark} label={t(text)} />;
}

/** Why the system disabled the channel. */
function Disabled({ channel }: { readonly channel: Channel }) {
  const t = useTexts();
  if (channel.status !== CHANNEL_STATUS.disabledBySystem) return null;
  const { reason, at } = statusInfo(channel.other_info);
  return (
    <Box mb="3">
      <NoticeBar icon="warning" hue="cardinal">
        {t("systemReason", { reason: reason || "–" })} {at !== undefined && <When at={at} />}
      </NoticeBar>
    </Box>
  );
}

function Numbers({ channel }: { readonly channel: Channel }) {
  const navigate = useNavigate();
  const [state, change] = useUrlState(DEFAULTS);
  const range = usageRangeOf(state.range);
  const subject = String(channel.id);
  const { data, error, refetch } = useQuery(usageOverTimeQuery({ by: "channel", subject, range, isOwn: false }));
  return (
    <>
      <Flex justify="flex-end" mb="3">
        <RangeChoice range={range} choose={(next) => change({ range: next === "24h" ? "" : next })} />
      </Flex>
      {error && !data ? (
        <LoadFailed problem={error} onRetry={() => void refetch()} />
      ) : (
        <>
          <UsageFigures usage={data} />
          {data ? (
            <UsageTrends
              usage={data}
              onOpen={(span, isErrors) => void navigate(logAddress({ span, isErrors, channel: subject }))}
            />
          ) : (
            <Skeleton height="252px" mb="3" borderRadius="l3" aria-busy="true" />
          )}
        </>
      )}
    </>
  );
}

function Spend({ channel }: { readonly channel: Channel }) {
  const navigate = useNavigate();
  const [state] = useUrlState(DEFAULTS);
  const subject = String(channel.id);
  const asked = { by: "channel", subject, range: usageRangeOf(state.range), isOwn: false } as const;
  const { data } = useQuery(usageOverTimeQuery(asked));
  if (!data) return null;
  return (
    <SpendTrend
      usage={data}
      onOpen={(span) => void navigate(logAddress({ span, isErrors: false, channel: subject }))}
    />
  );
}

function Shown({ channel }: { readonly channel: Channel }) {
  const t = useTexts();
  const types = useQuery(typesQuery).data;
  const type = useMemo(() => types?.find((one) => one.type === channel.type), [types, channel.type]);
  const isOn = channel.status === CHANNEL_STATUS.enabled;
  return (
    <Page
      title={channel.name}
      aside={<State status={channel.status} />}
      actions={
        <>
          <Button variant="outline" onClick={() => void switchChannel(channel).catch(toastProblem)}>
            {t(isOn ? "disable" : "enable")}
          </Button>
          <Button asChild>
            <Link to={`/channel/edit/${channel.id}`}>{t("editRow")}</Link>
          </Button>
        </>
      }
    >
      <ManagedNote channel={channel} />
      <Disabled channel={channel} />
      <Numbers channel={channel} />
      <SimpleGrid columns={{ base: 1, lg: 2 }} gap="3" alignItems="start">
        <Stack gap="3" minW="0">
          <KeysPanel id={channel.id} />
          <FailuresPanel id={channel.id} />
        </Stack>
        <Stack gap="3" minW="0">
          <TestMatrix channel={channel} canTest={type?.can_test !== false} />
          <Spend channel={channel} />
          <FactsPanel channel={channel} type={type} />
        </Stack>
      </SimpleGrid>
    </Page>
  );
}

/** One channel: how it does, why it fails, and what its keys are doing. */
export function ChannelPage() {
  const t = useTexts();
  const id = Number(useParams()["id"]);
  const { data, error, refetch } = useQuery({ ...shownChannelQuery(id), enabled: Number.isSafeInteger(id) && id > 0 });
  const channel = data?.rows[0];
  if (channel) return <Shown channel={channel} />;
  const isMissing = !(id > 0) || (error instanceof ApiProblem && error.key === "channel_not_found");
  return (
    <Page title={t("title")}>
      {isMissing && (
        <EmptyTeach icon="channel" title={t("missingTitle")} body={<Text>{t("missingBody")}</Text>}>
          <Button asChild variant="outline">
            <Link to="/channel">{t("allChannels")}</Link>
          </Button>
        </EmptyTeach>
      )}
      {error && !isMissing && <LoadFailed problem={error} onRetry={() => void refetch()} />}
      {!error && !isMissing && <Skeleton height="160px" borderRadius="l3" aria-busy="true" />}
    </Page>
  );
}
