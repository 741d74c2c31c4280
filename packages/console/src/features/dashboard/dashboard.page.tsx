import { Button, Flex, Skeleton } from "@chakra-ui/react";
import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { Link, useNavigate } from "react-router";
import { isAdmin as isAdminUser, useUser } from "../../session/session.ts";
import { useStatus } from "../../session/status.ts";
import { useLanguage } from "../../lib/i18n.ts";
import { nowSeconds } from "../../lib/now.ts";
import type { Bounds } from "../../lib/range.ts";
import { useUrlState } from "../../lib/url-state.ts";
import { EmptyTeach, LoadFailed } from "../../ui/feedback/empty.tsx";
import { FilterBar, FilterSelect, FilterText } from "../../ui/grid/filter-bar.tsx";
import { Icon } from "../../ui/display/icon.tsx";
import { IconButton } from "../../ui/display/icon-button.tsx";
import { Page } from "../../ui/display/page.tsx";
import { RangeFilter } from "../../ui/grid/range-filter.tsx";
import { SwitchedOff } from "../../ui/feedback/switched-off.tsx";
import { refreshUsage, usageQuery, type UsageFilter } from "./api.ts";
import "./dashboard.css";
import { Figures } from "./figures.tsx";
import { ModelsTable } from "./models-table.tsx";
import { bucketsOf, METRICS, modelsOf, seriesOf, sumOf } from "./series.ts";
import { firstDayOf, spanBefore, spanOf, stepOf, usualRange } from "./span.ts";
import { useTexts } from "./texts.ts";
import { UsagePanel, VIEWS } from "./usage-panel.tsx";

const DEFAULTS = { range: "", from: "", to: "", by: "", user: "", metric: "quota", view: "overTime" };

type State = Record<keyof typeof DEFAULTS, string>;

function useSpan(state: State) {
  const usual = usualRange(useStatus().data_export_default_time);
  // Resolved when the call is made, so that a relative range moves with time.
  return { usual, span: () => spanOf(state.range, usual, nowSeconds(), state) };
}

function useUsage(state: State, filter: UsageFilter) {
  const t = useTexts();
  const language = useLanguage();
  const { usual, span } = useSpan(state);
  const name = [state.range || usual, state.from, state.to].join(" ");
  const current = useQuery(usageQuery(name, span, filter));
  const before = useQuery(usageQuery(`before ${name}`, () => spanBefore(span()), filter)).data;
  const { data } = current;
  const metric = METRICS.find((one) => one === state.metric) ?? "quota";
  const shown = useMemo(() => {
    if (!data) return undefined;
    const step = stepOf(state.by, data.bounds);
    const models = modelsOf(data.rows, metric);
    return {
      bounds: data.bounds,
      models,
      series: seriesOf(models, metric, t("others")),
      buckets: bucketsOf(data.rows, data.bounds, { step, firstDay: firstDayOf(language) }),
      sums: sumOf(data.rows),
    };
  }, [data, metric, state.by, language, t]);
  return { usual, metric, shown, before: before && sumOf(before.rows), query: current };
}

function Filters(props: {
  readonly state: State;
  readonly usual: ReturnType<typeof usualRange>;
  readonly isAdmin: boolean;
  change(change: Partial<State>): void;
  onRefresh(): void;
}) {
  const t = useTexts();
  const { state, change, isAdmin } = props;
  const steps = [
    { value: "", label: t("stepAuto") },
    { value: "hour", label: t("stepHour") },
    { value: "day", label: t("stepDay") },
    { value: "week", label: t("stepWeek") },
  ];
  const range = (
    <RangeFilter
      state={state}
      names={isAdmin ? ["24h", "7d", "30d", "90d", "custom"] : ["24h", "7d", "30d", "custom"]}
      usual={props.usual}
      isMain={!isAdmin}
      change={change}
    />
  );
  return (
    <FilterBar
      main={
        isAdmin ? (
          <FilterText isMain label={t("user")} value={state.user} onChange={(user) => change({ user })} />
        ) : (
          range
        )
      }
      isActive={["range", "by", "user"].some((name) => state[name as keyof State] !== "")}
      onClear={() => change({ range: "", from: "", to: "", by: "", user: "" })}
      aside={
        <IconButton variant="outline" label={t("refresh")} onClick={props.onRefresh}>
          <Icon name="refresh" />
        </IconButton>
      }
    >
      {isAdmin && range}
      <FilterSelect label={t("step")} value={state.by} choices={steps} onChange={(by) => change({ by })} />
    </FilterBar>
  );
}

/** The log that lies behind a part of the page. */
function logAddress(state: State, part: { from: number; to: number; model?: string | undefined }): string {
  const query = new URLSearchParams({ type: "2", range: "custom", from: String(part.from), to: String(part.to) });
  if (part.model !== undefined) query.set("model", part.model);
  if (state.user !== "") query.set("user", state.user);
  return `/log?${query}`;
}

function Nothing(props: { onWiden(): void }) {
  const t = useTexts();
  return (
    <EmptyTeach icon="chart" title={t("emptyTitle")} body={t("emptyBody")}>
      <Flex gap="2" wrap="wrap" justify="center">
        <Button onClick={props.onWiden}>{t("emptyAction")}</Button>
        <Button asChild variant="outline">
          <Link to="/token">{t("emptyToken")}</Link>
        </Button>
      </Flex>
    </EmptyTeach>
  );
}

function Dashboard() {
  const t = useTexts();
  const navigate = useNavigate();
  const isAdmin = isAdminUser(useUser());
  const [state, change] = useUrlState(DEFAULTS);
  const filter = { isAdmin, user: isAdmin ? state.user : "" };
  const { usual, metric, shown, before, query } = useUsage(state, filter);
  const view = VIEWS.find((name) => name === state.view) ?? "overTime";
  const open = (span: Bounds, model?: string) => void navigate(logAddress(state, { ...span, model }));
  const zoom = ({ from, to }: Bounds) => change({ range: "custom", from: String(from), to: String(to), by: "" });
  return (
    <>
      <Filters state={state} usual={usual} isAdmin={isAdmin} change={change} onRefresh={() => void refreshUsage()} />
      {query.error && !shown ? (
        <LoadFailed problem={query.error} onRetry={() => void query.refetch()} />
      ) : (
        <>
          <Figures now={shown?.sums} before={before} buckets={shown?.buckets ?? []} filter={filter} />
          {!shown && <Skeleton height="352px" borderRadius="l3" aria-busy="true" aria-label={t("chartTitle")} />}
          {shown?.models.length === 0 && (
            <Nothing onWiden={() => change({ range: "30d", from: "", to: "", by: "", user: "" })} />
          )}
          {shown && shown.models.length > 0 && (
            <>
              <UsagePanel {...shown} metric={metric} view={view} change={change} onOpen={open} onZoom={zoom} />
              <ModelsTable
                models={shown.models}
                metric={metric}
                logOf={(model) => logAddress(state, { ...shown.bounds, model })}
              />
            </>
          )}
        </>
      )}
    </>
  );
}

/** What was used, when, by which model. */
export function DashboardPage() {
  const t = useTexts();
  const { enable_data_export: isOn } = useStatus();
  return <Page title={t("title")}>{isOn ? <Dashboard /> : <SwitchedOff name={t("title")} icon="chart" />}</Page>;
}
