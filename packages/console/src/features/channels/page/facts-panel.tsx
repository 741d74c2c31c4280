import { Text } from "@chakra-ui/react";
import type { Channel, ChannelType } from "@fairway/wire";
import type { ReactNode } from "react";
import { dollars } from "../../../lib/format.ts";
import { useLanguage } from "../../../lib/i18n.ts";
import { Money } from "../../../ui/display/money.tsx";
import { Panel, PanelRow } from "../../../ui/display/panel.tsx";
import { When } from "../../../ui/display/when.tsx";
import { useTexts } from "../texts.ts";

function Fact(props: { readonly name: string; readonly children: ReactNode }) {
  return (
    <PanelRow>
      <Text color="fg.muted" width="32" flex="none">
        {props.name}
      </Text>
      <Text as="div" flex="1" minW="0" overflowWrap="anywhere">
        {props.children}
      </Text>
    </PanelRow>
  );
}

/** Facts about the channel: provider, routing and spending. */
export function FactsPanel({ channel, type }: { readonly channel: Channel; readonly type: ChannelType | undefined }) {
  const t = useTexts();
  const language = useLanguage();
  return (
    <Panel title={t("facts")} count={1} empty="">
      <Fact name={t("type")}>{type?.label ?? `#${channel.type}`}</Fact>
      {channel.base_url !== "" && <Fact name={t("baseUrl")}>{channel.base_url}</Fact>}
      <Fact name={t("groups")}>{channel.group.replaceAll(",", ", ")}</Fact>
      <Fact name={t("priority")}>
        {channel.priority} · {t("weight")} {channel.weight}
      </Fact>
      {channel.tag && <Fact name={t("tag")}>{channel.tag}</Fact>}
      <Fact name={t("used")}>
        <Money quota={channel.used_quota} />
      </Fact>
      {channel.balance_updated_time > 0 && (
        <Fact name={t("balance")}>
          {dollars(channel.balance, language)}{" "}
          <span className="soft">
            <When at={channel.balance_updated_time} />
          </span>
        </Fact>
      )}
    </Panel>
  );
}
