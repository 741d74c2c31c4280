import type { UsageReport } from "@fairway/wire";
import { Button, Text } from "@chakra-ui/react";
import { useQuery } from "@tanstack/react-query";
import { nowSeconds } from "../../lib/now.ts";
import { useUrlState } from "../../lib/url-state.ts";
import { isAdmin as isAdminUser, useUser } from "../../session/session.ts";
import { Page } from "../../ui/display/page.tsx";
import { EmptyTeach, LoadFailed } from "../../ui/feedback/empty.tsx";
import { Placeholder } from "../../ui/feedback/placeholder.tsx";
import { DEFAULTS, reportQuery, type Question } from "./api.ts";
import { DownloadButton } from "./download-button.tsx";
import { Filters } from "./filters.tsx";
import { ReportChart } from "./report-chart.tsx";
import { ReportTable } from "./report-table.tsx";
import { SavedBar } from "./saved/saved-bar.tsx";
import { INTERVALS, METRICS } from "./shape.ts";
import { useTexts } from "./texts.ts";

const HEIGHT = 420;
const STATE = { ...DEFAULTS, metric: METRICS[0] as string, saved: "" };

interface ShownProps {
  readonly report: UsageReport;
  readonly state: Question & { readonly metric: string };
  change(change: Partial<typeof STATE>): void;
}

function Shown({ report, state, change }: ShownProps) {
  const t = useTexts();
  const metric = METRICS.find((name) => name === state.metric) ?? METRICS[0];
  const interval = INTERVALS.find((name) => name === state.interval) ?? "day";
  if (report.total.calls === 0)
    return (
      <EmptyTeach icon="chart" title={t("emptyTitle")} body={t("emptyBody")}>
        <Button onClick={() => change({ ...DEFAULTS, by: state.by, range: "90d" })}>{t("emptyAction")}</Button>
      </EmptyTeach>
    );
  return (
    <>
      {report.bounded && (
        <Text role="status" textStyle="sm" color="fg.warning" mb="2">
          {t("bounded", { count: report.other_groups })}
        </Text>
      )}
      <ReportChart
        {...{ report, interval, metric }}
        choose={(name) => change({ metric: name })}
        onZoom={(from, to) => change({ range: "custom", from: String(from), to: String(to) })}
      />
      <ReportTable key={`${state.by} ${report.start}`} {...{ report, interval, metric, question: state }} />
      {report.end > nowSeconds() && (
        <Text textStyle="sm" color="fg.muted" mt="2">
          {t("lately")}
        </Text>
      )}
    </>
  );
}

/** What applications, customers, keys and models used and cost, to the unit. */
export function ReportsPage() {
  const t = useTexts();
  const isAdmin = isAdminUser(useUser());
  const [state, change] = useUrlState(STATE);
  const { metric: _metric, saved, ...question } = state;
  const { data, error, refetch } = useQuery(reportQuery(question, isAdmin));
  return (
    <Page title={t("title")} actions={data && <DownloadButton report={data} question={question} />}>
      <SavedBar question={question} isAdmin={isAdmin} open={saved} change={change} />
      <Filters question={question} isAdmin={isAdmin} change={change} />
      {error && !data && <LoadFailed problem={error} onRetry={() => void refetch()} />}
      {!data && !error && <Placeholder height={HEIGHT} label={t("title")} />}
      {data && <Shown report={data} state={state} change={change} />}
    </Page>
  );
}
