import { ROLE, type Event, type EventTypeInfo } from "@fairway/wire";
import { Button } from "@chakra-ui/react";
import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { Link } from "react-router";
import { useUser } from "../../session/session.ts";
import { Icon } from "../../ui/display/icon.tsx";
import { IconButton } from "../../ui/display/icon-button.tsx";
import { When } from "../../ui/display/when.tsx";
import { EmptyTeach } from "../../ui/feedback/empty.tsx";
import { DetailToggle } from "../../ui/grid/detail-toggle.tsx";
import { FilterBar, FilterSelect } from "../../ui/grid/filter-bar.tsx";
import type { Column } from "../../ui/grid/grid-props.ts";
import { RangeFilter } from "../../ui/grid/range-filter.tsx";
import { LIST_DEFAULTS, useList } from "../../ui/grid/use-list.ts";
import { useOpened } from "../../ui/grid/use-opened.ts";
import { ListPage } from "../../ui/list/list-page.tsx";
import { eventsQuery, typesQuery, USUAL_RANGE } from "./api.ts";
import "./events.css";
import { SeverityMark } from "./severity.tsx";
import { describeType, useTexts, type Texts } from "./texts.ts";

const DEFAULTS = { ...LIST_DEFAULTS, whose: "own", type: "", range: USUAL_RANGE, from: "", to: "" };

type List = ReturnType<typeof useList<typeof DEFAULTS>>;

/** Members of the data that name what an event is about, the clearest first. */
const NAMES = ["name", "username", "provider", "order", "id"];

function findSubject({ data }: Event): string {
  const name = NAMES.map((member) => data[member]).find(
    (value) => typeof value === "string" || typeof value === "number",
  );
  return name === undefined ? "" : String(name);
}

function buildColumns(t: Texts, types: readonly EventTypeInfo[], hasOwner: boolean): Column<Event>[] {
  const sentences = new Map(types.map((info) => [info.type, describeType(info)]));
  const owner: Column<Event> = {
    id: "user",
    header: t("user"),
    width: 80,
    align: "end",
    isMinor: true,
    cell: (row) =>
      row.user_id > 0 ? (
        <Link className="link" to={`/user/${row.user_id}`}>
          #{row.user_id}
        </Link>
      ) : (
        <span className="soft">–</span>
      ),
  };
  return [
    { id: "when", header: t("when"), width: 104, cell: (row) => <When at={Math.floor(row.at_ms / 1_000)} /> },
    { id: "severity", header: t("severity"), width: 100, cell: (row) => <SeverityMark severity={row.severity} /> },
    {
      id: "what",
      header: t("what"),
      width: 260,
      isTitle: true,
      isElastic: true,
      rank: 0,
      cell: (row) => sentences.get(row.type) ?? <code>{row.type}</code>,
    },
    {
      id: "subject",
      header: t("subject"),
      width: 150,
      cell: (row) => (
        <span className="cut">
          <bdi>{findSubject(row)}</bdi>
        </span>
      ),
    },
    {
      id: "type",
      header: t("type"),
      width: 180,
      isMinor: true,
      cell: (row) => <code className="cut">{row.type}</code>,
    },
    ...(hasOwner ? [owner] : []),
  ];
}

interface FilterProps {
  readonly list: List;
  readonly types: readonly EventTypeInfo[];
  readonly isRoot: boolean;
  onRefresh(): void;
}

function Filters({ list, types, isRoot, onRefresh }: FilterProps) {
  const t = useTexts();
  const { state, filter } = list;
  const offered = types.filter(({ audience }) => isRoot || audience === "owner");
  return (
    <FilterBar
      main={
        <FilterSelect
          isMain
          label={t("type")}
          width="220px"
          value={state.type}
          choices={[{ value: "", label: t("anyType") }, ...offered.map(({ type }) => ({ value: type, label: type }))]}
          onChange={(type) => filter({ type })}
        />
      }
      isActive={list.isFiltered}
      onClear={list.clear}
      aside={
        <IconButton variant="outline" label={t("refresh")} onClick={onRefresh}>
          <Icon name="refresh" />
        </IconButton>
      }
    >
      {isRoot && (
        <FilterSelect
          label={t("whose")}
          value={state.whose}
          choices={[
            { value: "own", label: t("whoseOwn") },
            { value: "all", label: t("whoseAll") },
          ]}
          onChange={(whose) => filter({ whose })}
        />
      )}
      <RangeFilter state={state} names={["24h", "7d", "30d", "90d"]} usual={USUAL_RANGE} change={filter} />
    </FilterBar>
  );
}

/** What happened lately: the reader's events, or those of all accounts for the super administrator. */
export function EventsPage() {
  const t = useTexts();
  const isRoot = (useUser()?.role ?? ROLE.guest) >= ROLE.root;
  const list = useList(DEFAULTS);
  const { type, range } = list.state;
  const whose = isRoot && list.state.whose === "all" ? "all" : "own";
  const types = useQuery(typesQuery).data;
  const query = useQuery(eventsQuery({ whose, type, range }, list));
  const { opened, toggle } = useOpened<Event>();
  const columns = useMemo(() => buildColumns(t, types ?? [], whose === "all"), [t, types, whose]);
  return (
    <ListPage
      title={t("title")}
      pageActions={
        <Button asChild variant="outline">
          <Link to={whose === "all" ? "/operator-webhook" : "/webhook"}>
            <Icon name="send" />
            {t(whose === "all" ? "operatorTitle" : "ownTitle")}
          </Link>
        </Button>
      }
      filters={<Filters list={list} types={types ?? []} isRoot={isRoot} onRefresh={() => void query.refetch()} />}
      list={list}
      query={query}
      columns={columns}
      rowId={(row) => row.id}
      rowName={(row) => `${row.type} ${findSubject(row)}`}
      density="compact"
      onOpen={toggle}
      opened={opened}
      detail={(row) => <pre className="event-data">{JSON.stringify(row.data, undefined, 2)}</pre>}
      actions={(row) => <DetailToggle isOpen={opened === row.id} onToggle={() => toggle(row)} />}
      teach={<EmptyTeach icon="bell" title={t("eventsEmpty")} body={t("eventsEmptyBody")} />}
    />
  );
}
