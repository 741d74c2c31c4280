import { LOG_TYPE, type LogRow } from "@fairway/wire";
import { Button, Flex } from "@chakra-ui/react";
import { useQuery } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { Link } from "react-router";
import { isAdmin as isAdminUser, useUser } from "../../session/session.ts";
import { formatCount } from "../../lib/format.ts";
import { useLanguage } from "../../lib/i18n.ts";
import { DetailToggle } from "../../ui/grid/detail-toggle.tsx";
import { EmptyTeach } from "../../ui/feedback/empty.tsx";
import { FilterBar, FilterSelect, FilterText } from "../../ui/grid/filter-bar.tsx";
import { Icon } from "../../ui/display/icon.tsx";
import { IconButton } from "../../ui/display/icon-button.tsx";
import { Money } from "../../ui/display/money.tsx";
import { RangeFilter } from "../../ui/grid/range-filter.tsx";
import { ListPage } from "../../ui/grid/list-page.tsx";
import { LIST_DEFAULTS, useList } from "../../ui/grid/use-list.ts";
import { logsQuery, refreshLogs, statQuery, type LogFilter } from "./api.ts";
import { logColumns } from "./columns.tsx";
import { ExportButton } from "./export-button.tsx";
import "./logs.css";
import { RowDetail } from "./row-detail.tsx";
import { useTexts } from "./texts.ts";

const DEFAULTS = {
  ...LIST_DEFAULTS,
  type: "0",
  token: "",
  model: "",
  user: "",
  channel: "",
  range: "today",
  from: "",
  to: "",
  request: "",
};

type List = ReturnType<typeof useList<typeof DEFAULTS>>;

function Filters(props: {
  readonly list: List;
  readonly isAdmin: boolean;
  readonly isLive: boolean;
  onLive(isLive: boolean): void;
  onRefresh(): void;
}) {
  const t = useTexts();
  const { state, filter, isFiltered, clear } = props.list;
  const types = [
    { value: "0", label: t("all") },
    { value: String(LOG_TYPE.topup), label: t("topup") },
    { value: String(LOG_TYPE.consume), label: t("consume") },
    { value: String(LOG_TYPE.manage), label: t("manage") },
    { value: String(LOG_TYPE.system), label: t("system") },
    { value: String(LOG_TYPE.error), label: t("failedCall") },
  ];
  return (
    <FilterBar
      main={<FilterText isMain label={t("searchModel")} value={state.model} onChange={(model) => filter({ model })} />}
      isActive={isFiltered}
      onClear={clear}
      aside={
        <>
          <Button
            variant="outline"
            aria-pressed={props.isLive}
            title={t(props.isLive ? "liveOn" : "liveOff")}
            color={props.isLive ? "fairway.fg" : "fg"}
            onClick={() => props.onLive(!props.isLive)}
          >
            <Icon name={props.isLive ? "pause" : "play"} size={14} />
            {t("live")}
          </Button>
          <IconButton variant="outline" label={t("refresh")} onClick={props.onRefresh}>
            <Icon name="refresh" />
          </IconButton>
        </>
      }
    >
      <FilterText label={t("searchToken")} width="110px" value={state.token} onChange={(token) => filter({ token })} />
      {props.isAdmin && (
        <>
          <FilterText label={t("searchUser")} width="105px" value={state.user} onChange={(user) => filter({ user })} />
          <FilterText
            label={t("searchChannel")}
            width="100px"
            value={state.channel}
            onChange={(channel) => filter({ channel })}
          />
        </>
      )}
      <FilterText
        label={t("requestId")}
        width="110px"
        value={state.request}
        onChange={(request) => filter({ request })}
      />
      <FilterSelect label={t("type")} value={state.type} choices={types} onChange={(type) => filter({ type })} />
      <RangeFilter state={state} names={["today", "1h", "24h", "7d", "30d", "custom"]} change={filter} />
    </FilterBar>
  );
}

function Totals(props: { readonly filter: LogFilter; readonly isAdmin: boolean; readonly isLive: boolean }) {
  const t = useTexts();
  const language = useLanguage();
  const { data } = useQuery(statQuery(props.filter, props));
  if (!data) return null;
  return (
    <div className="log-totals">
      <span>
        {t("spend")}{" "}
        <strong>
          <Money quota={data.quota} />
        </strong>
      </span>
      <span title={t("rpmHelp")}>
        {t("rpm")} <strong>{formatCount(data.rpm, language)}</strong>
      </span>
      <span title={t("tpmHelp")}>
        {t("tpm")} <strong>{formatCount(data.tpm, language)}</strong>
      </span>
    </div>
  );
}

export function LogsPage() {
  const t = useTexts();
  const isAdmin = isAdminUser(useUser());
  const list = useList(DEFAULTS);
  const { state, page, size } = list;
  const [isLive, setLive] = useState(false);
  const [opened, setOpened] = useState<number>();
  const { type, token, model, user, channel, range, from, to, request } = state;
  const filter = { type, token, model, user, channel, range, from, to, request };
  const { data, error, isFetching, refetch } = useQuery(
    logsQuery(filter, { page, size }, { isAdmin, isLive: isLive && page === 1 }),
  );
  const columns = useMemo(() => logColumns(t, isAdmin), [t, isAdmin]);
  const toggle = (row: LogRow) => setOpened((current) => (current === row.id ? undefined : row.id));

  return (
    <ListPage
      title={t("title")}
      aside={<Totals filter={filter} isAdmin={isAdmin} isLive={isLive} />}
      pageActions={<ExportButton filter={filter} isAdmin={isAdmin} />}
      filters={
        <Filters list={list} isAdmin={isAdmin} isLive={isLive} onLive={setLive} onRefresh={() => void refreshLogs()} />
      }
      list={list}
      query={{ data: data && { rows: data.items, total: data.total }, error, isFetching, refetch }}
      gridClass={isAdmin ? "log-grid-wide" : undefined}
      columns={columns}
      rowId={(row) => row.id}
      rowName={(row) => row.request_id || row.content}
      density="compact"
      onOpen={toggle}
      opened={opened}
      detail={(row) => <RowDetail row={row} />}
      actions={(row) => <DetailToggle isOpen={opened === row.id} onToggle={() => toggle(row)} />}
      teach={
        <EmptyTeach icon="log" title={t("emptyTitle")} body={t("emptyBody")}>
          <Flex gap="2" wrap="wrap" justify="center">
            <Button asChild>
              <Link to="/token">{t("emptyAction")}</Link>
            </Button>
            <Button variant="outline" onClick={() => list.filter({ range: "30d" })}>
              {t("emptyOlder")}
            </Button>
          </Flex>
        </EmptyTeach>
      }
    />
  );
}
