import { useStore } from "../../../lib/store.ts";
import { failedTests } from "../api.ts";
import { LOWEST_PRIORITY, splitList, type Channel, type ChannelType } from "@fairway/wire";
import { useState } from "react";
import { Link, useLocation } from "react-router";
import { dollars, formatCount, formatShare, formatWhen, seconds } from "../../../lib/format.ts";
import { currentLanguage, useLanguage } from "../../../lib/i18n.ts";
import { useNow } from "../../../lib/now.ts";
import type { Column } from "../../../ui/grid/grid-props.ts";
import { InlineNumber } from "../../../ui/grid/inline-number.tsx";
import { Graded, Mark } from "../../../ui/display/mark.tsx";
import { Money } from "../../../ui/display/money.tsx";
import { toastProblem, toastUndo } from "../../../ui/feedback/toaster.ts";
import { patchChannel, refreshBalance } from "../api.ts";
import { ManagedTag } from "../managed.tsx";
import { responseGrade } from "../response-grade.ts";
import { StateMark } from "../state-mark.tsx";
import { useTexts } from "../texts.ts";
import { gradeTraffic, type Traffic, type TrafficState } from "./traffic.ts";
import { TypeIcon } from "../type-icon.tsx";

const MAX_GROUPS = 2;

function NameCell({ channel }: { readonly channel: Channel }) {
  const { search } = useLocation();
  return (
    <span className="name-and-note channel-name">
      <Link className="link cut" to={{ pathname: `/channel/edit/${channel.id}`, search }}>
        <bdi>{channel.name}</bdi>
      </Link>
      <ManagedTag channel={channel} />
      {channel.tag && (
        <span className="group-tag cut">
          <bdi>{channel.tag}</bdi>
        </span>
      )}
    </span>
  );
}

function TrafficCell({ traffic, state }: { readonly traffic: Traffic; readonly state: TrafficState }) {
  const t = useTexts();
  const language = useLanguage();
  const { grade, typical, errorShare } = state;
  const failed = errorShare === undefined ? "" : t("trafficFailed", { share: formatShare(errorShare, 1, language) });
  const text = [typical === undefined ? "" : seconds(typical), failed].filter((part) => part !== "").join(" · ");
  const { calls, errors, latency } = traffic;
  const counts = { calls: formatCount(calls, language), errors: formatCount(errors, language) };
  return <Graded grade={grade} text={text} title={t("trafficHelp", { ...counts, p95: seconds(latency.p95) })} />;
}

interface ResponseProps {
  readonly channel: Channel;
  readonly isTesting: boolean;
  readonly traffic: Traffic | undefined;
}

/** Shows a failed test with its age, otherwise what real requests showed, otherwise the last test. */
function ResponseCell(props: ResponseProps) {
  const t = useTexts();
  const now = useNow();
  const language = useLanguage();
  const { response_time: time, test_time: tested } = props.channel;
  const stored = props.channel.test_error ?? "";
  const isFailed = useStore(failedTests).has(props.channel.id) || stored !== "";
  if (props.isTesting) return <Mark kind="underway" label={t("testing")} />;
  const age = tested > 0 ? formatWhen(tested, now, language) : "";
  if (isFailed) {
    return (
      <Graded
        grade="red"
        text={stored === "" || age === "" ? t("testFailed") : `${t("testFailed")}, ${age}`}
        title={stored}
      />
    );
  }
  const state = gradeTraffic(props.traffic);
  if (state && props.traffic) return <TrafficCell traffic={props.traffic} state={state} />;
  if (time === 0) return <Graded grade="grey" text={t("untested")} title={t("untestedHelp")} />;
  return <Graded grade={responseGrade(time)} text={seconds(time)} title={age && t("testedHelp", { age })} />;
}

/** Shows the first groups; the tooltip has all of them, so that rows have the same height. */
function GroupTags({ names }: { readonly names: readonly string[] }) {
  const rest = names.length - MAX_GROUPS;
  return (
    <span className="group-tags" title={names.join(", ")}>
      {names.slice(0, MAX_GROUPS).map((name) => (
        <span key={name} className="group-tag">
          {name}
        </span>
      ))}
      {rest > 0 && <span className="soft">+{rest}</span>}
    </span>
  );
}

/** Shows the balance that the provider reports; a click refreshes it. */
function BalanceCell({ channel, canRefresh }: { readonly channel: Channel; readonly canRefresh: boolean }) {
  const t = useTexts();
  const [isAsking, setAsking] = useState(false);
  const isKnown = channel.balance_updated_time > 0;
  const text = isKnown ? dollars(channel.balance, currentLanguage()) : "–";
  if (!canRefresh) return <span className={isKnown ? undefined : "soft"}>{text}</span>;
  const ask = () => {
    setAsking(true);
    void refreshBalance(channel)
      .catch(toastProblem)
      .finally(() => setAsking(false));
  };
  const label = t("balanceOf", { name: channel.name, balance: text });
  return (
    <button
      type="button"
      className={isKnown ? "link" : "soft"}
      aria-label={label}
      title={label}
      disabled={isAsking}
      onClick={ask}
    >
      {text}
    </button>
  );
}

function NumberCell(props: { readonly channel: Channel; readonly field: "priority" | "weight" }) {
  const t = useTexts();
  const { channel, field } = props;
  const value = channel[field];
  const save = (next: number) => {
    patchChannel(channel, { [field]: next }).then(() => {
      const text = t("changedValue", { name: channel.name, field: t(field), value: next });
      toastUndo(text, () => void patchChannel({ ...channel, [field]: next }, { [field]: value }).catch(toastProblem));
    }, toastProblem);
  };
  return (
    <InlineNumber
      value={value}
      least={field === "priority" ? LOWEST_PRIORITY : 0}
      label={t(field === "priority" ? "editPriority" : "editWeight", { name: channel.name, value })}
      onSave={save}
    />
  );
}

interface ColumnContext {
  readonly t: ReturnType<typeof useTexts>;
  readonly types: ReadonlyMap<number, ChannelType>;
  readonly testing: ReadonlySet<number>;
  /** Undefined while it is unknown. */
  readonly traffic: ReadonlyMap<number, Traffic> | undefined;
}

export function channelColumns({ t, types, testing, traffic }: ColumnContext): Column<Channel>[] {
  const findTypeLabel = (channel: Channel) => types.get(channel.type)?.label ?? String(channel.type);
  return [
    {
      id: "id",
      header: t("id"),
      width: 46,
      rank: 5,
      sort: "id",
      isMinor: true,
      cell: (row) => <span className="soft">{row.id}</span>,
    },
    {
      id: "name",
      header: t("name"),
      width: 180,
      sort: "name",
      isTitle: true,
      isElastic: true,
      cell: (row) => <NameCell channel={row} />,
    },
    {
      id: "type",
      header: t("type"),
      width: 140,
      rank: 6,
      sort: "type",
      isMinor: true,
      cell: (row) => (
        <span className="type-cell">
          <TypeIcon type={row.type} id={types.get(row.type)?.id} label={findTypeLabel(row)} />
          {findTypeLabel(row)}
        </span>
      ),
    },
    { id: "state", header: t("state"), width: 104, sort: "status", cell: (row) => <StateMark channel={row} /> },
    {
      id: "models",
      header: t("models"),
      width: 68,
      rank: 7,
      align: "end",
      isMinor: true,
      cell: (row) => (
        <span title={row.models.replaceAll(",", ", ")}>
          {formatCount(splitList(row.models).length, currentLanguage())}
        </span>
      ),
    },
    {
      id: "group",
      header: t("group"),
      width: 112,
      rank: 4,
      isMinor: true,
      cell: (row) => <GroupTags names={splitList(row.group)} />,
    },
    {
      id: "response",
      header: t("response"),
      width: 124,
      sort: "response_time",
      cell: (row) => <ResponseCell channel={row} isTesting={testing.has(row.id)} traffic={traffic?.get(row.id)} />,
    },
    {
      id: "used",
      header: t("used"),
      width: 82,
      rank: 0,
      sort: "used_quota",
      align: "end",
      cell: (row) => <Money quota={row.used_quota} />,
    },
    {
      id: "balance",
      header: t("balance"),
      width: 80,
      rank: 8,
      sort: "balance",
      align: "end",
      isMinor: true,
      cell: (row) => <BalanceCell channel={row} canRefresh={types.get(row.type)?.can_balance ?? false} />,
    },
    {
      id: "priority",
      header: t("priority"),
      width: 70,
      rank: 2,
      sort: "priority",
      align: "end",
      isMinor: true,
      cell: (row) => <NumberCell channel={row} field="priority" />,
    },
    {
      id: "weight",
      header: t("weight"),
      width: 68,
      rank: 3,
      sort: "weight",
      align: "end",
      isMinor: true,
      cell: (row) => <NumberCell channel={row} field="weight" />,
    },
  ];
}
