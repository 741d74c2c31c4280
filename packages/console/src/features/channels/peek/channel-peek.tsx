import { splitList, type Channel, type ChannelType } from "@fairway/wire";
import { useQuery } from "@tanstack/react-query";
import { dollars, formatCount, seconds } from "../../../lib/format.ts";
import { useLanguage } from "../../../lib/i18n.ts";
import { TotalFacts } from "../../../shared/usage/total-facts.tsx";
import { Facts } from "../../../ui/display/facts.tsx";
import { Graded } from "../../../ui/display/mark.tsx";
import { Money } from "../../../ui/display/money.tsx";
import { When } from "../../../ui/display/when.tsx";
import { PeekActions } from "../../../ui/peek/peek-actions.tsx";
import { PeekPanel } from "../../../ui/peek/peek-panel.tsx";
import type { RowPeekState } from "../../../ui/peek/use-peek.ts";
import { typesQuery } from "../api.ts";
import { ManagedNote } from "../managed.tsx";
import { shownChannelQuery } from "../page/api.ts";
import { KeysPanel } from "../page/keys-panel.tsx";
import { responseGrade } from "../response-grade.ts";
import { StateMark } from "../state-mark.tsx";
import { useTexts } from "../texts.ts";
import { TypeIcon } from "../type-icon.tsx";

const MAX_MODELS = 12;
const MAX_KEYS = 6;

function Lead({ channel, type }: { readonly channel: Channel; readonly type: ChannelType | undefined }) {
  const label = type?.label ?? `#${channel.type}`;
  return (
    <>
      <StateMark channel={channel} />
      <span className="type-cell">
        <TypeIcon type={channel.type} id={type?.id} label={label} />
        {label}
      </span>
    </>
  );
}

function Models({ channel }: { readonly channel: Channel }) {
  const t = useTexts();
  const language = useLanguage();
  const models = splitList(channel.models);
  const rest = models.length - MAX_MODELS;
  return (
    <>
      {models.slice(0, MAX_MODELS).join(", ") || "–"}
      {rest > 0 && <span className="soft"> {t("moreModels", { count: formatCount(rest, language) })}</span>}
    </>
  );
}

function Routing({ channel }: { readonly channel: Channel }) {
  const t = useTexts();
  return (
    <Facts
      title={t("sectionRouting")}
      items={[
        [t("models"), <Models key="models" channel={channel} />],
        [t("groups"), splitList(channel.group).join(", ")],
        [t("priority"), channel.priority],
        [t("weight"), channel.weight],
        [t("tag"), channel.tag ?? ""],
        [t("baseUrl"), channel.base_url],
      ]}
    />
  );
}

function Health({ channel }: { readonly channel: Channel }) {
  const t = useTexts();
  const language = useLanguage();
  const { response_time: time, test_time: tested, balance_updated_time: asked } = channel;
  return (
    <Facts
      title={t("sectionHealth")}
      items={[
        [
          t("response"),
          <Graded key="response" grade={responseGrade(time)} text={time === 0 ? t("untested") : seconds(time)} />,
        ],
        [t("lastTest"), tested > 0 ? <When key="tested" at={tested} /> : ""],
        [
          t("balance"),
          asked > 0 ? (
            <span key="balance">
              {dollars(channel.balance, language)}{" "}
              <span className="soft">
                <When at={asked} />
              </span>
            </span>
          ) : (
            ""
          ),
        ],
        [t("used"), <Money key="used" quota={channel.used_quota} />],
      ]}
    />
  );
}

/** Shows a channel next to the list: whether it works, what it serves, and its last day. */
export function ChannelPeek({ peek }: { readonly peek: RowPeekState<Channel> }) {
  const t = useTexts();
  const { listed, id } = peek;
  const query = useQuery({ ...shownChannelQuery(id ?? 0), enabled: listed === undefined && id !== undefined });
  const types = useQuery(typesQuery).data;
  const findChannelType = (channel: Channel) => types?.find(({ type }) => type === channel.type);
  return (
    <PeekPanel
      peek={peek}
      row={listed ?? query.data?.rows[0]}
      query={query}
      unknown={t("title")}
      missing={{ key: "channel_not_found", body: t("missingTitle") }}
      title={(channel) => <bdi>{channel.name}</bdi>}
      lead={(channel) => <Lead channel={channel} type={findChannelType(channel)} />}
    >
      {(channel) => (
        <>
          <PeekActions
            edit={{ path: `/channel/edit/${channel.id}`, label: t("editRow") }}
            page={{ path: `/channel/${channel.id}`, label: t("openPage") }}
          />
          <ManagedNote channel={channel} />
          <div className="facts">
            <TotalFacts
              title={t("lastDay")}
              asked={{ by: "channel", subject: String(channel.id), range: "24h", isOwn: false }}
              part={{ channel: String(channel.id) }}
            />
            <Health channel={channel} />
            <Routing channel={channel} />
          </div>
          <KeysPanel id={channel.id} most={MAX_KEYS} />
        </>
      )}
    </PeekPanel>
  );
}
