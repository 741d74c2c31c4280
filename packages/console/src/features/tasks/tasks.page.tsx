import type { AsyncTask } from "@fairway/wire";
import { Button, Flex } from "@chakra-ui/react";
import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { Link } from "react-router";
import { isAdmin as isAdminUser, useUser } from "../../session/session.ts";
import { useStatus } from "../../session/status.ts";
import { TaskFilters } from "../../shared/tasks/task-filters.tsx";
import { DetailToggle } from "../../ui/grid/detail-toggle.tsx";
import { EmptyTeach } from "../../ui/feedback/empty.tsx";
import { FilterSelect } from "../../ui/grid/filter-bar.tsx";
import { Page } from "../../ui/display/page.tsx";
import { SwitchedOff } from "../../ui/feedback/switched-off.tsx";
import { ListPage } from "../../ui/list/list-page.tsx";
import { LIST_DEFAULTS, useList } from "../../ui/grid/use-list.ts";
import { useOpened } from "../../ui/grid/use-opened.ts";
import { tasksQuery } from "./api.ts";
import { taskColumns } from "./columns.tsx";
import { TaskDetail } from "./detail.tsx";
import { STATUSES } from "./state.ts";
import "./tasks.css";
import { useTexts } from "./texts.ts";

const DEFAULTS = { ...LIST_DEFAULTS, id: "", channel: "", status: "", range: "today", from: "", to: "" };

function StatusFilter(props: { readonly list: ReturnType<typeof useList<typeof DEFAULTS>> }) {
  const t = useTexts();
  const { state, filter } = props.list;
  const statuses = Object.entries(STATUSES).map(([value, { text }]) => ({ value, label: t(text) }));
  return (
    <FilterSelect
      label={t("status")}
      value={state.status}
      choices={[{ value: "", label: t("anyStatus") }, ...statuses]}
      onChange={(status) => filter({ status })}
    />
  );
}

function Tasks() {
  const t = useTexts();
  const isAdmin = isAdminUser(useUser());
  const list = useList(DEFAULTS);
  const { state, page, size } = list;
  const { id, channel, status, range, from, to, sort } = state;
  const { data, error, isFetching, refetch } = useQuery(
    tasksQuery({ page, size, sort, id, channel, status, range, from, to }, isAdmin),
  );
  const { opened, toggle } = useOpened<AsyncTask>();
  const columns = useMemo(() => taskColumns(t, isAdmin, toggle), [t, isAdmin, toggle]);
  return (
    <ListPage
      title={t("title")}
      filters={
        <TaskFilters list={list} isAdmin={isAdmin} usual="today" onRefresh={() => void refetch()}>
          <StatusFilter list={list} />
        </TaskFilters>
      }
      list={list}
      query={{ data, error, isFetching, refetch }}
      columns={columns}
      rowId={(row) => row.id}
      rowName={(row) => row.task_id}
      onOpen={toggle}
      opened={opened}
      detail={(row) => <TaskDetail row={row} />}
      actions={(row) => <DetailToggle isOpen={opened === row.id} onToggle={() => toggle(row)} />}
      teach={
        <EmptyTeach icon="clock" title={t("emptyTitle")} body={t("emptyBody")}>
          <Flex gap="2" wrap="wrap" justify="center">
            <Button onClick={() => list.filter({ range: "30d" })}>{t("emptyOlder")}</Button>
            <Button asChild variant="outline">
              <Link to="/token">{t("emptyAction")}</Link>
            </Button>
          </Flex>
        </EmptyTeach>
      }
    />
  );
}

/** Songs, videos and other work that takes minutes. */
export function TasksPage() {
  const t = useTexts();
  const { enable_task: isOn } = useStatus();
  if (isOn) return <Tasks />;
  return (
    <Page title={t("title")}>
      <SwitchedOff name={t("title")} icon="clock" />
    </Page>
  );
}
