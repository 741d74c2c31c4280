import { CHANNEL_STATUS, type ChannelKey } from "@fairway/wire";
import { Box, Button, Flex, Text } from "@chakra-ui/react";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { LoadFailed, Loading } from "../../../ui/feedback/empty.tsx";
import { FormSection } from "../../../ui/form/form-drawer.tsx";
import { Mark, type MarkKind } from "../../../ui/display/mark.tsx";
import { toastProblem } from "../../../ui/feedback/toaster.ts";
import { When } from "../../../ui/display/when.tsx";
import { keysQuery, setKeyStatus } from "../form-api.ts";
import { keyName } from "../key-name.ts";
import { sectionAnchor } from "./section-index.tsx";
import { useTexts } from "../texts.ts";

const STATES: Readonly<Record<number, { mark: MarkKind; text: "keyOn" | "keyOff" | "keyRefused" }>> = {
  [CHANNEL_STATUS.enabled]: { mark: "go", text: "keyOn" },
  [CHANNEL_STATUS.disabledByHand]: { mark: "parked", text: "keyOff" },
  [CHANNEL_STATUS.disabledBySystem]: { mark: "stop", text: "keyRefused" },
};

/** Shows the keys of a channel that has several: which are in use, and why others are not. Changes apply at once. */
export function Keys({ channelId }: { readonly channelId: number }) {
  const t = useTexts();
  const { data, error, refetch } = useQuery(keysQuery(channelId));
  const inUse = data?.filter((key) => key.status === CHANNEL_STATUS.enabled).length ?? 0;
  return (
    <FormSection
      title={t("sectionKeys")}
      anchor={sectionAnchor("sectionKeys")}
      aside={
        data && (
          <Text textStyle="xs" color="fg.muted">
            {t("keysInUse", { count: inUse, total: data.length })}
          </Text>
        )
      }
    >
      <Text textStyle="xs" color="fg.muted">
        {t("keysHelp")}
      </Text>
      {error && !data && <LoadFailed problem={error} onRetry={() => void refetch()} />}
      {!error && !data && <Loading />}
      {data && (
        <Box as="ul" listStyleType="none" maxH="72" overflowY="auto" tabIndex={0} aria-label={t("sectionKeys")}>
          {data.map((key) => (
            <KeyLine key={key.index} channelId={channelId} entry={key} />
          ))}
        </Box>
      )}
    </FormSection>
  );
}

function KeyLine({ channelId, entry }: { readonly channelId: number; readonly entry: ChannelKey }) {
  const t = useTexts();
  const [isSending, setSending] = useState(false);
  const state = STATES[entry.status] ?? { mark: "unknown" as const, text: "keyOff" as const };
  const isOn = entry.status === CHANNEL_STATUS.enabled;
  const name = keyName(entry);
  const toggle = () => {
    setSending(true);
    setKeyStatus(channelId, entry.index, !isOn)
      .catch(toastProblem)
      .finally(() => setSending(false));
  };
  return (
    <Flex as="li" align="center" gap="3" py="1.5" wrap="wrap">
      <Text as="code" fontFamily="mono" textStyle="sm" minW="24">
        {t("keyNamed", { name })}
      </Text>
      <Mark kind={state.mark} label={t(state.text)} />
      <Text textStyle="xs" color="fg.muted" flex="1" minW="8rem" overflowWrap="anywhere">
        {!isOn && entry.time > 0 && <When at={entry.time} />} {!isOn && entry.reason}
      </Text>
      <Button
        size="xs"
        variant="outline"
        loading={isSending}
        aria-label={t(isOn ? "disableKey" : "enableKey", { name })}
        onClick={toggle}
      >
        {t(isOn ? "disable" : "enable")}
      </Button>
    </Flex>
  );
}
