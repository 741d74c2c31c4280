import { Button } from "@chakra-ui/react";
import { useQuery } from "@tanstack/react-query";
import { useCallback, useMemo } from "react";
import { Link } from "react-router";
import { useLanguage } from "../../lib/i18n.ts";
import { useUrlState } from "../../lib/url-state.ts";
import { isAdmin as isAdminUser, useUser } from "../../session/session.ts";
import { Icon } from "../../ui/display/icon.tsx";
import { IconButton } from "../../ui/display/icon-button.tsx";
import { EmptyTeach } from "../../ui/feedback/empty.tsx";
import { FilterBar, FilterSelect, FilterText } from "../../ui/grid/filter-bar.tsx";
import { RangeFilter } from "../../ui/grid/range-filter.tsx";
import { LIST_DEFAULTS, useList } from "../../ui/grid/use-list.ts";
import { ListPage } from "../../ui/list/list-page.tsx";
import { BatchActions } from "./actions.tsx";
import type { Batch } from "@fairway/wire";
import { batchesQuery } from "./api.ts";
import "./batches.css";
import { batchColumns } from "./columns.tsx";
import { BatchDetail } from "./detail.tsx";
import { findState, PHASES } from "./state.ts";
import { ChannelFilter } from "../../shared/channels/channel-filter.tsx";
import { useTexts } from "./texts.ts";

const DEFAULTS = { ...LIST_DEFAULTS, model: "", channel: "", phase: "", range: "30d", from: "", to: "" };
const OPENED = { row: "" };

function Filters(props: {
  readonly list: ReturnType<typeof useList<typeof DEFAULTS>>;
  readonly isAdmin: boolean;
  onRefresh(): void;
}) {
  const t = useTexts();
  const { state, filter, isFiltered, clear } = props.list;
  return (
    <FilterBar
      main={<FilterText isMain label={t("searchModel")} value={state.model} onChange={(model) => filter({ model })} />}
      isActive={isFiltered}
      onClear={clear}
      aside={
        <IconButton variant="outline" label={t("refresh")} onClick={props.onRefresh}>
          <Icon name="refresh" />
        </IconButton>
      }
    >
      {props.isAdmin && (
        <ChannelFilter label={t("searchChannel")} value={state.channel} onChange={(channel) => filter({ channel })} />
      )}
      <FilterSelect
        label={t("state")}
        value={state.phase}
        choices={[
          { value: "", label: t("anyState") },
          ...Object.entries(PHASES).map(([value, text]) => ({ value, label: t(text) })),
        ]}
        onChange={(phase) => filter({ phase })}
      />
      <RangeFilter state={state} names={["today", "24h", "7d", "30d", "90d", "custom"]} usual="30d" change={filter} />
    </FilterBar>
  );
}

/** Batches of requests that providers answer within a day. */
export function BatchesPage() {
  const t = useTexts();
  const language = useLanguage();
  const isAdmin = isAdminUser(useUser());
  const list = useList(DEFAULTS);
  const { state, page, size } = list;
  const { model, channel, phase, range, from, to, sort } = state;
  const { data, error, isFetching, refetch } = useQuery(
    batchesQuery({ page, size, sort, model, channel, phase, range, from, to }, isAdmin),
  );
  // The opened batch is part of the address, so that a link shows the same.
  const [{ row: openedId }, change] = useUrlState(OPENED);
  const toggle = useCallback(({ id }: Batch) => change({ row: id === openedId ? "" : id }), [change, openedId]);
  const columns = useMemo(() => batchColumns({ t, language, isAdmin, onOpen: toggle }), [t, language, isAdmin, toggle]);
  return (
    <ListPage
      title={t("title")}
      filters={<Filters list={list} isAdmin={isAdmin} onRefresh={() => void refetch()} />}
      list={list}
      query={{ data, error, isFetching, refetch }}
      columns={columns}
      rowId={(row) => row.id}
      rowName={(row) => row.id}
      isMuted={(row) => findState(row).mark === "parked"}
      onOpen={toggle}
      opened={openedId}
      detail={(row) => <BatchDetail id={row.id} />}
      actions={(row) => <BatchActions row={row} isOpen={row.id === openedId} onToggle={() => toggle(row)} />}
      teach={
        <EmptyTeach icon="layers" title={t("emptyTitle")} body={t("emptyBody")}>
          <Button asChild variant="outline">
            <Link to="/token">{t("emptyAction")}</Link>
          </Button>
        </EmptyTeach>
      }
    />
  );
}
