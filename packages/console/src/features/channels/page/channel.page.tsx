import { Box, Button, SimpleGrid, Stack } from "@chakra-ui/react";
import { CHANNEL_STATUS, type Channel } from "@fairway/wire";
import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { Link, useNavigate, useParams } from "react-router";
import { statusInfo } from "../../../lib/text/status-info.ts";
import { isRowId, RowPage } from "../../../shared/row/row-page.tsx";
import { logAddress } from "../../../shared/usage/log-link.ts";
import { RangeChoice } from "../../../shared/usage/range-choice.tsx";
import { UsageBlock } from "../../../shared/usage/usage-block.tsx";
import { SpendTrend } from "../../../shared/usage/usage-trends.tsx";
import { useUsage, type Usage } from "../../../shared/usage/use-usage.ts";
import { HistoryButton } from "../../../ui/menu/history-button.tsx";
import { Page } from "../../../ui/display/page.tsx";
import { When } from "../../../ui/display/when.tsx";
import { NoticeBar } from "../../../ui/feedback/notice-bar.tsx";
import { toastProblem } from "../../../ui/feedback/toaster.ts";
import { ManagedNote } from "../managed.tsx";
import { typesQuery } from "../api.ts";
import { StatusMark } from "../state-mark.tsx";
import { useTexts } from "../texts.ts";
import { useTexts as usePageTexts } from "./texts.ts";
import { shownChannelQuery, switchChannel } from "./api.ts";
import { FactsPanel } from "./facts-panel.tsx";
import { FailuresPanel } from "./failures-panel.tsx";
import { FiltersPanel } from "./filters-panel.tsx";
import { KeysPanel } from "./keys-panel.tsx";
import { TestMatrix } from "./test-matrix.tsx";

/** Shows why the system disabled the channel. */
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

function Spend(props: { readonly usage: Usage; readonly channel: string }) {
  const navigate = useNavigate();
  const { channel } = props;
  const { data } = props.usage;
  if (!data) return null;
  return <SpendTrend usage={data} onOpen={(span) => void navigate(logAddress({ span, isErrors: false, channel }))} />;
}

function Shown({ channel }: { readonly channel: Channel }) {
  const t = useTexts();
  const types = useQuery(typesQuery).data;
  const type = useMemo(() => types?.find((one) => one.type === channel.type), [types, channel.type]);
  const subject = String(channel.id);
  const usage = useUsage({ by: "channel", subject, isOwn: false }, "24h");
  const isOn = channel.status === CHANNEL_STATUS.enabled;
  return (
    <Page
      title={channel.name}
      aside={<StatusMark status={channel.status} />}
      actions={
        <>
          <RangeChoice range={usage.range} choose={usage.choose} />
          <HistoryButton target={`channel ${channel.id}`} />
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
      <UsageBlock usage={usage} part={{ channel: subject }} />
      <SimpleGrid columns={{ base: 1, lg: 2 }} gap="3" alignItems="start">
        <Stack gap="3" minW="0">
          <KeysPanel id={channel.id} actions={{ channel, canTest: type?.can_test !== false }} />
          <FailuresPanel id={channel.id} />
          <FiltersPanel id={channel.id} />
        </Stack>
        <Stack gap="3" minW="0">
          <TestMatrix channel={channel} canTest={type?.can_test !== false} />
          <Spend usage={usage} channel={subject} />
          <FactsPanel channel={channel} type={type} />
        </Stack>
      </SimpleGrid>
    </Page>
  );
}

/** Shows one channel: how it works, why it fails, and the state of its keys. */
export function ChannelPage() {
  const t = useTexts();
  const ofPage = usePageTexts();
  const id = Number(useParams()["id"]);
  const query = useQuery({ ...shownChannelQuery(id), enabled: isRowId(id) });
  const missing = {
    key: "channel_not_found",
    icon: "channel",
    title: t("missingTitle"),
    body: ofPage("missingBody"),
    list: { path: "/channel", label: ofPage("allChannels") },
  } as const;
  return (
    <RowPage title={t("title")} id={id} row={query.data?.rows[0]} query={query} missing={missing}>
      {(channel) => <Shown channel={channel} />}
    </RowPage>
  );
}
