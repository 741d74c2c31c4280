import { Text } from "@chakra-ui/react";
import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { useUrlState } from "../../lib/url-state.ts";
import { parseUsageRange } from "../../shared/usage/period.ts";
import { RangeChoice } from "../../shared/usage/range-choice.tsx";
import { assignColours } from "../../ui/chart/colours.ts";
import { Page } from "../../ui/display/page.tsx";
import { LoadFailed } from "../../ui/feedback/empty.tsx";
import { Placeholder } from "../../ui/feedback/placeholder.tsx";
import { FilterBar, FilterSelect, FilterText } from "../../ui/grid/filter-bar.tsx";
import { COMPARED, comparisonQuery, type Compared, type Comparison } from "./api.ts";
import { CompareChart } from "./compare-chart.tsx";
import { CompareTable } from "./compare-table.tsx";
import "./compare.css";
import { chooseLines, MAX_LINES, parseSort, sortSubjects } from "./measures.ts";
import { useTexts } from "./texts.ts";

const DEFAULTS = { range: "24h", by: "channel", sort: "-p95", q: "" };
const TEXT = { channel: "byChannel", model: "byModel" } as const;
const HEIGHT = 320;

interface ShownProps {
  readonly by: Compared;
  readonly comparison: Comparison;
  readonly sort: string;
  readonly text: string;
  onSort(sort: string): void;
}

function Shown({ by, comparison, sort: sortText, text, onSort }: ShownProps) {
  const t = useTexts();
  const { period, answer } = comparison;
  const sort = parseSort(sortText);
  const measure = sort.key === "name" ? "p95" : sort.key;
  const seconds = period.to - period.from;
  const rows = useMemo(() => {
    const wanted = text.trim().toLowerCase();
    const found = answer.subjects.filter(({ name, subject }) => (name || subject).toLowerCase().includes(wanted));
    return sortSubjects(found, parseSort(sortText), seconds);
  }, [answer, text, sortText, seconds]);
  const lines = useMemo(() => chooseLines(rows, measure, seconds), [rows, measure, seconds]);
  const colours = useMemo(() => assignColours(lines.map(({ subject }) => subject)), [lines]);
  return (
    <>
      <CompareChart {...{ by, period, lines, measure, colours }} />
      {lines.length === MAX_LINES && (
        <Text textStyle="sm" color="fg.muted" mt="1">
          {t("drawn", { count: MAX_LINES })}
        </Text>
      )}
      <CompareTable {...{ by, rows, sort, colours, onSort }} bounds={period} />
      {rows.length === 0 && <Text p="4">{t(answer.subjects.length === 0 ? "empty" : "noRows")}</Text>}
      {answer.more_subjects > 0 && (
        <Text textStyle="sm" color="fg.muted" mt="2">
          {t("more", { count: answer.more_subjects })}
        </Text>
      )}
    </>
  );
}

/** Channels or models side by side: which one is slow or failing, and since when. */
export function ComparePage() {
  const t = useTexts();
  const [state, change] = useUrlState(DEFAULTS);
  const by = COMPARED.find((name) => name === state.by) ?? "channel";
  const range = parseUsageRange(state.range);
  const { data, error, refetch } = useQuery(comparisonQuery(by, range));
  const isActive = state.q !== "" || by !== "channel";
  return (
    <Page title={t("title")} actions={<RangeChoice range={range} choose={(next) => change({ range: next })} />}>
      <FilterBar
        main={<FilterText isMain label={t("filter")} value={state.q} onChange={(q) => change({ q })} />}
        isActive={isActive}
        onClear={() => change({ q: "", by: "" })}
      >
        <FilterSelect
          label={t("by")}
          value={by}
          unset="channel"
          choices={COMPARED.map((name) => ({ value: name, label: t(TEXT[name]) }))}
          onChange={(next) => change({ by: next })}
        />
      </FilterBar>
      {error && !data && <LoadFailed problem={error} onRetry={() => void refetch()} />}
      {!data && !error && <Placeholder height={HEIGHT} label={t("title")} />}
      {data && <Shown by={by} comparison={data} sort={state.sort} text={state.q} onSort={(sort) => change({ sort })} />}
    </Page>
  );
}
