import { Box, Text } from "@chakra-ui/react";
import { JOB_STATUS, type Job, type Replica } from "@fairway/wire";
import { useQuery } from "@tanstack/react-query";
import { formatCount } from "../../../lib/format.ts";
import { useLanguage } from "../../../lib/i18n.ts";
import { Mark, type MarkKind } from "../../../ui/display/mark.tsx";
import { When } from "../../../ui/display/when.tsx";
import { LoadFailed } from "../../../ui/feedback/empty.tsx";
import { Panel, PanelRow } from "../../../ui/display/panel.tsx";
import { useTexts } from "../texts.ts";
import { jobsQuery, replicasQuery } from "./api.ts";

const MAX_JOBS = 5;

function ReplicaRow(props: { readonly replica: Replica; readonly isOther: boolean }) {
  const t = useTexts();
  const language = useLanguage();
  const { replica } = props;
  return (
    <PanelRow>
      <Mark kind={replica.is_lost ? "stop" : "go"} label={t(replica.is_lost ? "replicaLost" : "replicaAnswers")} />
      <Box flex="1" minW="0">
        <Text as="span" fontFamily="mono" overflowWrap="anywhere">
          {replica.instance}
        </Text>{" "}
        {replica.is_leader && <span className="soft">{t("leader")}</span>}
      </Box>
      <Text color={props.isOther ? "fg.warning" : "fg.muted"} title={props.isOther ? t("otherBuild") : undefined}>
        v{replica.version}
      </Text>
      <Text color="fg.muted" width="full">
        {replica.is_lost ? (
          <>
            {t("lastSeen")} <When at={replica.seen_at} />
          </>
        ) : (
          <>
            {t("since")} <When at={replica.started_at} /> ·{" "}
            {t("runningNow", { count: formatCount(replica.running, language) })}
          </>
        )}
      </Text>
    </PanelRow>
  );
}

/** The processes of this installation, and whether they run the same build. */
export function ReplicasPanel() {
  const t = useTexts();
  const { data, error, refetch } = useQuery(replicasQuery);
  if (error && !data) return <LoadFailed problem={error} onRetry={() => void refetch()} />;
  const newest = data?.toSorted((a, b) => b.started_at - a.started_at)[0]?.version;
  return (
    <Panel title={t("replicas")} count={data?.length} empty={t("replicasNone")}>
      {data?.map((replica) => (
        <ReplicaRow key={replica.instance} replica={replica} isOther={replica.version !== newest} />
      ))}
    </Panel>
  );
}

const JOB_MARKS: Record<Job["status"], MarkKind> = {
  [JOB_STATUS.running]: "underway",
  [JOB_STATUS.done]: "go",
  [JOB_STATUS.failed]: "stop",
  [JOB_STATUS.interrupted]: "caution",
};

const JOB_NAMES = {
  "channel-test": "jobChannelTest",
  "channel-balance": "jobChannelBalance",
  "log-retention": "jobLogRetention",
} as const;

function isKnown(name: string): name is keyof typeof JOB_NAMES {
  return Object.hasOwn(JOB_NAMES, name);
}

/** The latest background work. */
export function JobsPanel() {
  const t = useTexts();
  const language = useLanguage();
  const { data, error, refetch } = useQuery(jobsQuery);
  if (error && !data) return <LoadFailed problem={error} onRetry={() => void refetch()} />;
  const counts = (job: Job) => ({
    done: formatCount(job.done, language),
    total: formatCount(Math.max(job.total, job.done), language),
    failed: formatCount(job.failed, language),
  });
  return (
    <Panel title={t("jobs")} count={data?.length} empty={t("jobsNone")}>
      {data?.slice(0, MAX_JOBS).map((job) => (
        <PanelRow key={job.id}>
          <Mark
            kind={job.failed > 0 && job.status === JOB_STATUS.done ? "caution" : JOB_MARKS[job.status]}
            label={isKnown(job.name) ? t(JOB_NAMES[job.name]) : job.name}
          />
          <Text flex="1" color="fg.muted" minW="0" truncate title={job.message}>
            {t(job.failed > 0 ? "jobCountsFailed" : "jobCounts", counts(job))}
          </Text>
          <Text color="fg.muted" className="nowrap">
            <When at={job.finished_at || job.created_at} />
          </Text>
        </PanelRow>
      ))}
    </Panel>
  );
}
