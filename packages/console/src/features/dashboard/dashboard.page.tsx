import { Button, Flex } from "@chakra-ui/react";
import { useQuery } from "@tanstack/react-query";
import { Suspense, useMemo } from "react";
import { Link, useNavigate } from "react-router";
import { isAdmin as isAdminUser, useUser } from "../../session/session.ts";
import { useStatus } from "../../session/status.ts";
import { useLanguage } from "../../lib/i18n.ts";
import { nowSeconds } from "../../lib/now.ts";
import type { Bounds } from "../../lib/range.ts";
import { useUrlState } from "../../lib/url-state.ts";
import { EmptyTeach, LoadFailed } from "../../ui/feedback/empty.tsx";
import { FilterBar, FilterSelect } from "../../ui/grid/filter-bar.tsx";
import { Icon } from "../../ui/display/icon.tsx";
import { IconButton } from "../../ui/display/icon-button.tsx";
import { Page } from "../../ui/display/page.tsx";
import { RangeFilter } from "../../ui/grid/range-filter.tsx";
import { Placeholder } from "../../ui/feedback/placeholder.tsx";
import { late } from "../../ui/late/late.tsx";
import { SwitchedOff } from "../../ui/feedback/switched-off.tsx";
import { AccountFilter } from "../../shared/names/name-filter.tsx";
import { logAddress } from "../../shared/usage/log-link.ts";
import { comparisonQuery, dimensionQuery, refreshUsage, type UsageFilter } from "./api.ts";
import "./dashboard.css";
import {
  buildFigures,
  formatSubjectLabel,
  listDimensions,
  findLogPart,
  type Dimension,
  type SubjectFigures,
} from "./dimension.ts";
import { Figures } from "./figures.tsx";
import { ModelsTable } from "./models-table.tsx";
import { listBuckets, listUsage, METRICS, readAmounts, buildSeries, sumUnlisted } from "./series.ts";
import { findFirstDay, resolveSpan, resolveStep, usualRange } from "./span.ts";
import { useTexts } from "./texts.ts";
import { UsagePanel, VIEWS } from "./usage-panel.tsx";

/** Below the fold: its code and its requests come after the chart. */
const Savings = late(async () => (await import("./savings/savings.tsx")).Savings);

const PANEL_HEIGHT = 352;
const SAVINGS_HEIGHT = 280;
const DEFAULTS = { range: "", from: "", to: "", by: "", of: "model", user: "", metric: "quota", view: "overTime" };

type State = Record<keyof typeof DEFAULTS, string>;

function useSpan(state: State) {
  const usual = usualRange(useStatus().data_export_default_time);
  // Resolved when the call is made, so that a relative range moves with time.
  return { usual, span: () => resolveSpan(state.range, usual, nowSeconds(), state) };
}

function isSingleUser({ isAdmin, user }: UsageFilter): boolean {
  return !isAdmin || user !== "";
}

function dimensionNamed(text: string, filter: UsageFilter): Dimension {
  return listDimensions(isSingleUser(filter)).find((name) => name === text) ?? "model";
}

/** Loads one answer for everything that is drawn, and the sums that it is compared with. */
function useSums(state: State, filter: UsageFilter) {
  const { usual, span } = useSpan(state);
  const dimension = dimensionNamed(state.of, filter);
  const name = [state.range || usual, state.from, state.to, state.by].join(" ");
  const asked = { ...filter, dimension, resolveStep: (bounds: Bounds) => resolveStep(state.by, bounds) };
  const query = useQuery(dimensionQuery(name, span, asked));
  const comparison = useQuery(comparisonQuery(name, span, asked)).data;
  return { usual, dimension, query, comparison, period: { name, span } };
}

const NO_FIGURES: ReadonlyMap<string, SubjectFigures> = new Map();

function useUsage(state: State, filter: UsageFilter) {
  const t = useTexts();
  const language = useLanguage();
  const { query, dimension, ...rest } = useSums(state, filter);
  const metric = METRICS.find((one) => one === state.metric) ?? "quota";
  const { answer, bounds } = query.data ?? {};
  const figures = useMemo(() => (answer ? buildFigures(answer) : NO_FIGURES), [answer]);
  const shown = useMemo(() => {
    if (!answer || !bounds) return undefined;
    const step = resolveStep(state.by, bounds);
    const models = listUsage(answer, metric);
    const unlisted = { count: answer.more_subjects, ...sumUnlisted(answer, models) };
    return {
      bounds,
      models,
      unlisted,
      series: buildSeries(models, metric, { label: t("others"), unlisted }, (key) =>
        formatSubjectLabel(dimension, key, figures),
      ),
      buckets: listBuckets(answer, bounds, { step, firstDay: findFirstDay(language) }),
      total: readAmounts(answer.total),
    };
  }, [answer, bounds, figures, dimension, metric, state.by, language, t]);
  return { ...rest, query, dimension, figures, metric, shown };
}

function Filters(props: {
  readonly state: State;
  readonly usual: ReturnType<typeof usualRange>;
  readonly filter: UsageFilter;
  readonly dimension: Dimension;
  change(change: Partial<State>): void;
  onRefresh(): void;
}) {
  const t = useTexts();
  const { state, change, filter } = props;
  const { isAdmin } = filter;
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
          <AccountFilter
            isMain
            width="200px"
            label={t("user")}
            value={state.user}
            onChange={(user) => change({ user })}
          />
        ) : (
          range
        )
      }
      isActive={state.of !== "model" || ["range", "by", "user"].some((name) => state[name as keyof State] !== "")}
      onClear={() => change({ range: "", from: "", to: "", by: "", of: "", user: "" })}
      aside={
        <IconButton variant="outline" label={t("refresh")} onClick={props.onRefresh}>
          <Icon name="refresh" />
        </IconButton>
      }
    >
      {isAdmin && range}
      <FilterSelect
        label={t("dimension")}
        value={props.dimension}
        unset="model"
        width="168px"
        choices={listDimensions(isSingleUser(filter)).map((name) => ({ value: name, label: t(DIMENSION_TEXT[name]) }))}
        onChange={(of) => change({ of })}
      />
      <FilterSelect
        width="160px"
        label={t("step")}
        value={state.by}
        choices={steps}
        onChange={(by) => change({ by })}
      />
    </FilterBar>
  );
}

const DIMENSION_TEXT = {
  model: "byModel",
  user: "byUser",
  token: "byToken",
  channel: "byChannel",
  group: "byGroup",
} as const;

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
  const { usual, metric, dimension, figures, shown, comparison, query, period } = useUsage(state, filter);
  const view = VIEWS.find((name) => name === state.view) ?? "overTime";
  const title = t(DIMENSION_TEXT[dimension]);
  const buildLogAddress = (span: Bounds, key?: string) => {
    const part = key === undefined ? {} : findLogPart(dimension, key, figures);
    return part && logAddress({ span, isErrors: false, user: filter.user, ...part });
  };
  const open = (span: Bounds, key?: string) =>
    void navigate(buildLogAddress(span, key) ?? buildLogAddress(span) ?? "/log");
  const zoom = ({ from, to }: Bounds) => change({ range: "custom", from: String(from), to: String(to), by: "" });
  return (
    <>
      <Filters {...{ state, usual, filter, dimension, change }} onRefresh={() => void refreshUsage()} />
      {query.error && !shown ? (
        <LoadFailed problem={query.error} onRetry={() => void query.refetch()} />
      ) : (
        <>
          <Figures
            now={shown?.total}
            comparison={comparison ?? undefined}
            buckets={shown?.buckets ?? []}
            filter={filter}
            dimension={dimension}
          />
          {!shown && <Placeholder height={PANEL_HEIGHT} label={title} />}
          {shown?.models.length === 0 && (
            <Nothing onWiden={() => change({ range: "30d", from: "", to: "", by: "", of: "", user: "" })} />
          )}
          {shown && shown.models.length > 0 && (
            <>
              <UsagePanel
                {...shown}
                title={title}
                dimension={dimension}
                metric={metric}
                view={view}
                change={change}
                onOpen={open}
                onZoom={zoom}
              />
              <ModelsTable
                models={shown.models}
                unlisted={shown.unlisted}
                total={shown.total}
                metric={metric}
                title={title}
                dimension={dimension}
                figures={figures}
                formatLabel={(key) => formatSubjectLabel(dimension, key, figures)}
                buildLogAddress={(key) => buildLogAddress(shown.bounds, key)}
              />
            </>
          )}
          {shown && (
            <Suspense fallback={<Placeholder height={SAVINGS_HEIGHT} />}>
              <Savings asked={{ ...filter, ...period }} />
            </Suspense>
          )}
        </>
      )}
    </>
  );
}

/** The usage dashboard. */
export function DashboardPage() {
  const t = useTexts();
  const { enable_data_export: isOn } = useStatus();
  return <Page title={t("title")}>{isOn ? <Dashboard /> : <SwitchedOff name={t("title")} icon="chart" />}</Page>;
}
