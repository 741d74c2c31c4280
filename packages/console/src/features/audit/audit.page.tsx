import type { AuditRow } from "@fairway/wire";
import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import type { Column } from "../../ui/grid/grid-props.ts";
import { DetailToggle } from "../../ui/grid/detail-toggle.tsx";
import { EmptyTeach } from "../../ui/feedback/empty.tsx";
import { FilterBar, FilterText } from "../../ui/grid/filter-bar.tsx";
import { Icon } from "../../ui/display/icon.tsx";
import { IconButton } from "../../ui/display/icon-button.tsx";
import { Mark } from "../../ui/display/mark.tsx";
import { RangeFilter } from "../../ui/grid/range-filter.tsx";
import { ListPage } from "../../ui/list/list-page.tsx";
import { LIST_DEFAULTS, useList } from "../../ui/grid/use-list.ts";
import { useOpened } from "../../ui/grid/use-opened.ts";
import { When } from "../../ui/display/when.tsx";
import { useSentence, useTarget } from "../../shared/audit/words.ts";
import { auditQuery, USUAL_RANGE } from "./api.ts";
import "./audit.css";
import { diffMembers } from "./changes.ts";
import { AuditDetail } from "./row-detail.tsx";
import { useTexts } from "./texts.ts";

const DEFAULTS = { ...LIST_DEFAULTS, user: "", action: "", target: "", range: USUAL_RANGE, from: "", to: "" };
const MAX_NAMES = 3;

type List = ReturnType<typeof useList<typeof DEFAULTS>>;

/** A value that filters the list by itself when clicked. */
function Pick(props: {
  readonly text: string;
  readonly label?: string;
  onPick(text: string): void;
  readonly isMono?: boolean;
}) {
  const t = useTexts();
  if (props.text === "") return <span className="soft">–</span>;
  return (
    <button
      type="button"
      className={props.isMono ? "audit-pick mono" : "audit-pick"}
      title={t("only", { name: props.text })}
      onClick={() => props.onPick(props.text)}
    >
      {props.label ?? props.text}
    </button>
  );
}

/** The target of a call: kind and number, in the reader's language. */
function TargetCell({ row, onPick }: { readonly row: AuditRow; onPick(text: string): void }) {
  const target = useTarget();
  return <Pick text={row.target} label={target(row.target)} onPick={onPick} />;
}

/** What happened, as a sentence: "ann created token build-bot". */
function SentenceCell({ row }: { readonly row: AuditRow }) {
  const sentence = useSentence()(row);
  if (sentence === undefined) return <span className="soft">{`${row.username} · ${row.action}`}</span>;
  return (
    <span className="cut">
      <bdi>{row.username}</bdi> {sentence}
    </span>
  );
}

/** Names the members that differ; the detail has the values. */
function ChangedCell({ row }: { readonly row: AuditRow }) {
  const t = useTexts();
  const { rows, isUnfinished } = diffMembers(row.old_value, row.new_value);
  const names = rows.filter(({ name, before, after }) => name !== "" && before !== after).map(({ name }) => name);
  const rest = names.length - MAX_NAMES;
  return (
    <span className="cut">
      {isUnfinished && <Mark kind="caution" label="" title={t("unfinished")} />}
      <span className="mono">{names.slice(0, MAX_NAMES).join(", ")}</span>
      {rest > 0 && <span className="soft"> {t("more", { count: rest })}</span>}
    </span>
  );
}

function auditColumns(t: ReturnType<typeof useTexts>, filter: List["filter"]): Column<AuditRow>[] {
  return [
    { id: "when", header: t("when"), width: 104, cell: (row) => <When at={row.created_at} /> },
    {
      id: "what",
      header: t("what"),
      width: 230,
      isTitle: true,
      isElastic: true,
      rank: 0,
      cell: (row) => <SentenceCell row={row} />,
    },
    {
      id: "who",
      header: t("who"),
      width: 96,
      cell: (row) => <Pick text={row.username} onPick={(user) => filter({ user })} />,
    },
    {
      id: "action",
      header: t("action"),
      width: 170,
      cell: (row) => <Pick isMono text={row.action} onPick={(action) => filter({ action })} />,
    },
    {
      id: "target",
      header: t("target"),
      width: 130,
      cell: (row) => <TargetCell row={row} onPick={(target) => filter({ target })} />,
    },
    { id: "changed", header: t("changed"), width: 190, isElastic: true, cell: (row) => <ChangedCell row={row} /> },
    {
      id: "ip",
      header: t("address"),
      width: 110,
      isMinor: true,
      cell: (row) => <span className="mono">{row.ip}</span>,
    },
  ];
}

function Filters({ list, onRefresh }: { readonly list: List; onRefresh(): void }) {
  const t = useTexts();
  const { state, filter } = list;
  return (
    <FilterBar
      main={<FilterText isMain label={t("user")} value={state.user} onChange={(user) => filter({ user })} />}
      isActive={list.isFiltered}
      onClear={list.clear}
      aside={
        <IconButton variant="outline" label={t("refresh")} onClick={onRefresh}>
          <Icon name="refresh" />
        </IconButton>
      }
    >
      <FilterText label={t("action")} value={state.action} onChange={(action) => filter({ action })} />
      <FilterText label={t("target")} value={state.target} onChange={(target) => filter({ target })} />
      <RangeFilter state={state} names={["24h", "7d", "30d", "90d", "custom"]} usual={USUAL_RANGE} change={filter} />
    </FilterBar>
  );
}

export function AuditPage() {
  const t = useTexts();
  const list = useList(DEFAULTS);
  const { page, size, filter } = list;
  const { user, action, target, range, from, to } = list.state;
  const { data, error, isFetching, refetch } = useQuery(
    auditQuery({ user, action, target, range, from, to }, { page, size }),
  );
  const { opened, toggle } = useOpened<AuditRow>(data?.rows);
  const columns = useMemo(() => auditColumns(t, filter), [t, filter]);
  return (
    <ListPage
      title={t("title")}
      filters={<Filters list={list} onRefresh={() => void refetch()} />}
      list={list}
      query={{ data, error, isFetching, refetch }}
      columns={columns}
      rowId={(row) => row.id}
      rowName={(row) => `${row.action} ${row.target}`}
      density="compact"
      onOpen={toggle}
      opened={opened}
      detail={(row) => <AuditDetail row={row} />}
      actions={(row) => <DetailToggle isOpen={opened === row.id} onToggle={() => toggle(row)} />}
      teach={<EmptyTeach icon="audit" title={t("emptyTitle")} body={t("emptyBody")} />}
    />
  );
}
