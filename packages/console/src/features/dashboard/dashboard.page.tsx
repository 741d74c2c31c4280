import { Button, Flex } from "@chakra-ui/react";
import type { UsageStatistics } from "@fairway/wire";
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
import { Placeholder } from "../../ui/feedback/placeholder.tsx";
import { SwitchedOff } from "../../ui/feedback/switched-off.tsx";
import { logAddress } from "../../shared/usage/log-link.ts";
import { dimensionQuery, refreshUsage, usageQuery, type UsageFilter } from "./api.ts";
import "./dashboard.css";
import {
  dimensionsOf,
  figuresOf,
  labelOf,
  logPartOf,
  rowsOf,
  type Dimension,
  type SubjectFigures,
} from "./dimension.ts";
import { Figures } from "./figures.tsx";
import { ModelsTable } from "./models-table.tsx";
import { bucketsOf, METRICS, modelsOf, seriesOf, sumOf, type Amounts } from "./series.ts";
import { firstDayOf, spanBefore, spanOf, stepOf, usualRange } from "./span.ts";
import { useTexts } from "./texts.ts";
import { UsagePanel, VIEWS } from "./usage-panel.tsx";

const PANEL_HEIGHT = 352;
const DEFAULTS = { range: "", from: "", to: "", by: "", of: "model", user: "", metric: "quota", view: "overTime" };

type State = Record<keyof typeof DEFAULTS, string>;

function useSpan(state: State) {
  const usual = usualRange(useStatus().data_export_default_time);
  // Resolved when the call is made, so that a relative range moves with time.
  return { usual, span: () => spanOf(state.range, usual, nowSeconds(), state) };
}

function dimensionNamed(text: string, isAdmin: boolean): Dimension {
  return dimensionsOf(isAdmin).find((name) => name === text) ?? "model";
}

/** The sums by model, of one user where a name is given, or the statistics of another dimension. */
function useRows(state: State, filter: UsageFilter) {
  const { usual, span } = useSpan(state);
  const { isAdmin } = filter;
  const dimension = dimensionNamed(state.of, isAdmin);
  const name = [state.range || usual, state.from, state.to, state.by].join(" ");
  const isModel = dimension === "model";
  const before = () => spanBefore(span());
  const asked = { dimension, isAdmin, stepOf: (bounds: Bounds) => stepOf(state.by, bounds) };
  const models = useQuery(usageQuery(name, span, { ...filter, isOn: isModel }));
  const modelsBefore = useQuery(usageQuery(`before ${name}`, before, { ...filter, isOn: isModel })).data;
  const subjects = useQuery(dimensionQuery(name, span, { ...asked, isOn: !isModel }));
  const subjectsBefore = useQuery(
    dimensionQuery(`before ${name}`, before, { ...asked, stepOf: undefined, isOn: !isModel }),
  ).data;
  const figures = useQuery(
    dimensionQuery(name, span, { ...asked, stepOf: undefined, isOn: isModel && filter.user === "" }),
  ).data;
  const answer = isModel ? figures?.answer : subjects.data?.answer;
  const rows = isModel ? models.data?.rows : answer && rowsOf(answer);
  const bounds = isModel ? models.data?.bounds : subjects.data?.bounds;
  const total = isModel ? modelsBefore && sumOf(modelsBefore.rows) : subjectsBefore && totalOf(subjectsBefore.answer);
  return {
    usual,
    dimension,
    data: rows && bounds && { rows, bounds },
    figures: answer && (filter.user === "" || !isModel) ? figuresOf(answer) : undefined,
    before: total,
    query: isModel ? models : subjects,
  };
}

function totalOf({ total }: UsageStatistics): Amounts {
  return { quota: total.quota, tokens: total.input_tokens + total.output_tokens, requests: total.calls };
}

const NO_FIGURES: ReadonlyMap<string, SubjectFigures> = new Map();

function useUsage(state: State, filter: UsageFilter) {
  const t = useTexts();
  const language = useLanguage();
  const { data, figures = NO_FIGURES, dimension, ...rest } = useRows(state, filter);
  const metric = METRICS.find((one) => one === state.metric) ?? "quota";
  const { rows, bounds } = data ?? {};
  const shown = useMemo(() => {
    if (!rows || !bounds) return undefined;
    const step = stepOf(state.by, bounds);
    const models = modelsOf(rows, metric);
    return {
      bounds,
      models,
      series: seriesOf(models, metric, t("others"), (key) => labelOf(dimension, key, figures)),
      buckets: bucketsOf(rows, bounds, { step, firstDay: firstDayOf(language) }),
      sums: sumOf(rows),
    };
  }, [rows, bounds, figures, dimension, metric, state.by, language, t]);
  return { ...rest, dimension, figures, metric, shown };
}

function Filters(props: {
  readonly state: State;
  readonly usual: ReturnType<typeof usualRange>;
  readonly isAdmin: boolean;
  readonly dimension: Dimension;
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
          <FilterText isMain label={t("user")} value={state.user} onChange={(user) => change({ user, of: "model" })} />
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
        choices={dimensionsOf(isAdmin).map((name) => ({ value: name, label: t(DIMENSION_TEXT[name]) }))}
        onChange={(of) => change({ of, user: "" })}
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
  const { usual, metric, dimension, figures, shown, before, query } = useUsage(state, filter);
  const view = VIEWS.find((name) => name === state.view) ?? "overTime";
  const title = t(DIMENSION_TEXT[dimension]);
  const logOf = (span: Bounds, key?: string) => {
    const part = key === undefined ? {} : logPartOf(dimension, key, figures);
    return part && logAddress({ span, isErrors: false, user: filter.user, ...part });
  };
  const open = (span: Bounds, key?: string) => void navigate(logOf(span, key) ?? logOf(span) ?? "/log");
  const zoom = ({ from, to }: Bounds) => change({ range: "custom", from: String(from), to: String(to), by: "" });
  return (
    <>
      <Filters {...{ state, usual, isAdmin, dimension, change }} onRefresh={() => void refreshUsage()} />
      {query.error && !shown ? (
        <LoadFailed problem={query.error} onRetry={() => void query.refetch()} />
      ) : (
        <>
          <Figures now={shown?.sums} before={before} buckets={shown?.buckets ?? []} filter={filter} />
          {!shown && <Placeholder height={PANEL_HEIGHT} label={title} />}
          {shown?.models.length === 0 && (
            <Nothing onWiden={() => change({ range: "30d", from: "", to: "", by: "", of: "", user: "" })} />
          )}
          {shown && shown.models.length > 0 && (
            <>
              <UsagePanel
                {...shown}
                title={title}
                metric={metric}
                view={view}
                change={change}
                onOpen={open}
                onZoom={zoom}
              />
              <ModelsTable
                models={shown.models}
                metric={metric}
                title={title}
                figures={figures}
                labelOf={(key) => labelOf(dimension, key, figures)}
                logOf={(key) => logOf(shown.bounds, key)}
              />
            </>
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
