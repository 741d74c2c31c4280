import type { UsageReport } from "@fairway/wire";
import { Button, Text } from "@chakra-ui/react";
import { useQuery } from "@tanstack/react-query";
import { Suspense } from "react";
import { nowSeconds } from "../../lib/now.ts";
import { useUrlState } from "../../lib/url-state.ts";
import { isAdmin as isAdminUser, useUser } from "../../session/session.ts";
import { Page } from "../../ui/display/page.tsx";
import { EmptyTeach, LoadFailed } from "../../ui/feedback/empty.tsx";
import { Placeholder } from "../../ui/feedback/placeholder.tsx";
import { late } from "../../ui/late/late.tsx";
import { DEFAULTS, reportQuery, type Question } from "./api.ts";
import { DownloadButton } from "./download-button.tsx";
import { Filters } from "./filters.tsx";
import { ReportChart } from "./report-chart.tsx";
import { ReportTable } from "./report-table.tsx";
import { SavedBar } from "./saved/saved-bar.tsx";
import type { Holders } from "./names.ts";
import { EVERYONE, SELF, type Reader } from "./reader.ts";
import { INTERVALS, METRICS } from "./shape.ts";
import { readSharing } from "./shared-cost/sharing.ts";
import { useTexts } from "./texts.ts";

const SharedCost = late(async () => (await import("./shared-cost/shared-cost.tsx")).SharedCost);

const HEIGHT = 420;
const STATE = { ...DEFAULTS, metric: METRICS[0] as string, saved: "" };

interface ShownProps {
  readonly report: UsageReport;
  readonly state: Question & { readonly metric: string };
  readonly reader: Reader;
  readonly holders: Holders;
  change(change: Partial<typeof STATE>): void;
}

function Shown({ report, state, reader, holders, change }: ShownProps) {
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
        {...{ report, interval, metric, holders }}
        choose={(name) => change({ metric: name })}
        onZoom={(from, to) => change({ range: "custom", from: String(from), to: String(to) })}
      />
      <ReportTable
        key={`${state.by} ${report.start}`}
        {...{ report, interval, metric, reader, holders, question: state }}
      />
      {report.end > nowSeconds() && (
        <Text textStyle="sm" color="fg.muted" mt="2">
          {t("lately")}
        </Text>
      )}
    </>
  );
}

const NO_HOLDERS: Holders = new Map();

interface ReportsProps {
  readonly title: string;
  readonly reader: Reader;
  /** Names of who holds keys of a team. */
  readonly holders?: Holders;
}

/** A question, its answer, and the saved questions of a reader. */
export function Reports({ title, reader, holders = NO_HOLDERS }: ReportsProps) {
  const [state, change] = useUrlState(STATE);
  const { metric: _metric, saved, ...question } = state;
  const sharing = readSharing(question, reader);
  const { data, error, refetch } = useQuery(reportQuery(question, reader));
  return (
    <Page title={title} actions={data && <DownloadButton report={data} question={question} reader={reader} />}>
      {reader.saved !== "none" && <SavedBar question={question} reader={reader} open={saved} change={change} />}
      <Filters question={question} reader={reader} change={change} />
      {sharing && (
        <Suspense>
          <SharedCost {...{ sharing, reader, change }} report={data} />
        </Suspense>
      )}
      {error && !data && <LoadFailed problem={error} onRetry={() => void refetch()} />}
      {!data && !error && <Placeholder height={HEIGHT} label={title} />}
      {data && <Shown {...{ reader, holders, state, change }} report={data} />}
    </Page>
  );
}

/** What applications, customers, keys and models used and cost, to the unit. */
export function ReportsPage() {
  const t = useTexts();
  const isAdmin = isAdminUser(useUser());
  return <Reports title={t("title")} reader={isAdmin ? EVERYONE : SELF} />;
}
