import { channelBalanceAll, channelTestAll, JOB_STATUS, jobList, type Job } from "@fairway/wire";
import { useQuery } from "@tanstack/react-query";
import { useEffect } from "react";
import { call, request } from "../../../lib/http.ts";
import { queryKeys } from "../../../lib/query-keys.ts";
import { queryClient } from "../../../lib/query.ts";
import { toast } from "../../../ui/feedback/toaster.ts";
import { refreshChannels } from "../api.ts";
import { useTexts } from "../texts.ts";

const POLL_MS = 2_000;

/** The jobs on all channels that can be started here, by their names on the server. */
export type ChannelJob = "channel-test" | "channel-balance";

/** The texts of each job, while it runs and when it ends. */
export const JOB_TEXTS = {
  "channel-test": { running: "testingAll", done: "testedAll" },
  "channel-balance": { running: "updatingBalances", done: "updatedBalances" },
  import: { running: "importing", done: "importEnded" },
} as const;

function isChannelJob(job: Job): job is Job & { readonly name: keyof typeof JOB_TEXTS } {
  return Object.hasOwn(JOB_TEXTS, job.name);
}

/** Jobs that were seen running or were started here; their end is announced. */
const followed = new Set<number>();

export async function startJob(name: ChannelJob): Promise<void> {
  const { siblings } = await request(name === "channel-test" ? channelTestAll : channelBalanceAll, {});
  followed.add(Number(siblings.job_id));
  await queryClient.invalidateQueries({ queryKey: queryKeys.jobs.channels });
}

/**
 * Returns the jobs that run on all channels, no matter who started them. Rows update while one runs, and its end is
 * announced.
 */
export function useChannelJobs() {
  const t = useTexts();
  const { data } = useQuery({
    queryKey: queryKeys.jobs.channels,
    queryFn: async ({ signal }) => (await call(jobList, { signal })).filter(isChannelJob),
    refetchInterval: (query) => (query.state.data?.some(isRunning) ? POLL_MS : false),
    retry: false,
  });
  const running = data?.filter(isRunning) ?? [];
  useEffect(() => {
    for (const job of data ?? []) {
      if (isRunning(job)) {
        followed.add(job.id);
        void queryClient.invalidateQueries({ queryKey: queryKeys.channels.lists });
      } else if (followed.delete(job.id)) {
        const counts = { count: job.done - job.failed, failed: job.failed };
        if (job.status === JOB_STATUS.done)
          toast(job.failed > 0 ? "info" : "success", t(JOB_TEXTS[job.name].done, counts));
        else toast("error", t("jobBroken", { done: job.done, total: job.total }));
        void refreshChannels();
      }
    }
  }, [data, t]);
  return running;
}

function isRunning(job: Job): boolean {
  return job.status === JOB_STATUS.running;
}
