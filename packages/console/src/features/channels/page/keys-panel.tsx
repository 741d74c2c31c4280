import { CHANNEL_STATUS, type Channel, type ChannelHealth } from "@fairway/wire";
import { Box, Button, Text } from "@chakra-ui/react";
import { useQuery } from "@tanstack/react-query";
import { Suspense, useMemo, useState, type ReactNode } from "react";
import { formatElapsed } from "../../../lib/format.ts";
import { Mark, type MarkKind } from "../../../ui/display/mark.tsx";
import { Panel, PanelRow } from "../../../ui/display/panel.tsx";
import { When } from "../../../ui/display/when.tsx";
import { LoadFailed } from "../../../ui/feedback/empty.tsx";
import { lateOverlay } from "../../../ui/late/late.tsx";
import { keysQuery } from "../form-api.ts";
import { useTexts as useChannelTexts } from "../texts.ts";
import { useTexts } from "./texts.ts";
import { healthQuery } from "./api.ts";
import { keyName } from "../key-name.ts";
import { KeyMenu } from "./key-menu.tsx";
import { keyLines, type KeyLine } from "./key-state.ts";

const MOST = 50;

const TROUBLES: Record<ChannelHealth["state"], { mark: MarkKind; text: TroubleText }> = {
  open: { mark: "stop", text: "healthOpen" },
  "half-open": { mark: "caution", text: "healthHalfOpen" },
  failing: { mark: "caution", text: "healthFailing" },
  resting: { mark: "caution", text: "healthResting" },
  "doubtful-usage": { mark: "caution", text: "healthDoubtful" },
  "chat-only": { mark: "parked", text: "healthChatOnly" },
};

type TroubleText =
  | "healthOpen"
  | "healthHalfOpen"
  | "healthFailing"
  | "healthResting"
  | "healthDoubtful"
  | "healthChatOnly";

const STATES: Readonly<Record<number, { mark: MarkKind; text: "keyOn" | "keyOff" | "keyRefused" }>> = {
  [CHANNEL_STATUS.enabled]: { mark: "go", text: "keyOn" },
  [CHANNEL_STATUS.disabledByHand]: { mark: "parked", text: "keyOff" },
  [CHANNEL_STATUS.disabledBySystem]: { mark: "stop", text: "keyRefused" },
};

function Trouble({ one }: { readonly one: ChannelHealth }) {
  const t = useTexts();
  const { mark, text } = TROUBLES[one.state];
  const parts = [
    ...(one.model === "" ? [] : [one.model]),
    ...(one.consecutive_failures > 0 ? [t("healthFailures", { count: one.consecutive_failures })] : []),
    ...(one.wait_ms > 0 ? [t("healthWait", { wait: formatElapsed(one.wait_ms / 1000) })] : []),
  ];
  return (
    <Box width="full">
      <Mark kind={mark} label={t(text)} />{" "}
      <Text as="span" color="fg.muted">
        {parts.join(" · ")}
      </Text>
    </Box>
  );
}

function Line({ line, menu }: { readonly line: KeyLine; readonly menu: ReactNode }) {
  const t = useChannelTexts();
  const state = STATES[line.status] ?? { mark: "unknown" as const, text: "keyOff" as const };
  return (
    <PanelRow>
      <Text as="code" fontFamily="mono" minW="24">
        {t("keyNamed", { name: keyName(line) })}
      </Text>
      <Box flex="1" />
      <Mark kind={state.mark} label={t(state.text)} />
      {menu}
      {line.status !== CHANNEL_STATUS.enabled && (line.reason !== "" || line.time > 0) && (
        <Text color="fg.muted" width="full" overflowWrap="anywhere">
          {line.reason} {line.time > 0 && <When at={line.time} />}
        </Text>
      )}
      {line.troubles.map((one) => (
        <Trouble key={`${one.state} ${one.model}`} one={one} />
      ))}
    </PanelRow>
  );
}

const ReplaceKey = lateOverlay(async () => (await import("./replace-key.tsx")).ReplaceKey);

interface KeysPanelProps {
  readonly id: number;
  /** How many keys are shown, those in trouble first. */
  readonly most?: number;
  /** Offers to test, switch, remove and replace keys of this channel. */
  readonly actions?: { readonly channel: Channel; readonly canTest: boolean };
}

/** The keys of the channel: in use, off, skipped or resting. */
export function KeysPanel({ id, most = MOST, actions }: KeysPanelProps) {
  const t = useTexts();
  const [isReplacing, setReplacing] = useState(false);
  const keys = useQuery(keysQuery(id));
  const health = useQuery(healthQuery);
  const lines = useMemo(() => keys.data && keyLines(id, keys.data, health.data ?? []), [id, keys.data, health.data]);
  if (keys.error && !keys.data) return <LoadFailed problem={keys.error} onRetry={() => void keys.refetch()} />;
  const good = lines?.filter(({ status, troubles }) => status === CHANNEL_STATUS.enabled && troubles.length === 0);
  return (
    <Panel
      title={t("keysPanel")}
      count={lines?.length}
      empty={t("keysNone")}
      link={
        lines && (
          <>
            <Text textStyle="sm" color="fg.muted">
              {t("keysFine", { count: good?.length ?? 0, total: lines.length })}
            </Text>
            {actions && lines.length > 0 && (
              <Button size="xs" variant="outline" onClick={() => setReplacing(true)}>
                {t("replaceKey")}
              </Button>
            )}
          </>
        )
      }
    >
      {lines?.slice(0, most).map((line) => (
        <Line
          key={line.index}
          line={line}
          menu={actions && <KeyMenu id={id} line={line} isOneOfSeveral={lines.length > 1} canTest={actions.canTest} />}
        />
      ))}
      {actions && keys.data && isReplacing && (
        <Suspense>
          <ReplaceKey
            channel={actions.channel}
            keys={keys.data}
            canTest={actions.canTest}
            onClose={() => setReplacing(false)}
          />
        </Suspense>
      )}
    </Panel>
  );
}
