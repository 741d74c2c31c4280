import { JOB_STATUS, jobGet, jobList, type Envelope, type Job } from "@fairway/wire";
import { implement, type Route } from "../../http/endpoint.ts";
import { Refusal } from "../../lib/refusal.ts";
import { openEventStream, pauseUnless, type EventStream } from "../event-stream.ts";
import type { JobStore } from "./store.ts";

const FOLLOW_MS = 500;

export function jobRoutes({ store }: { readonly store: JobStore }): Route[] {
  return [
    implement(jobList, () => store.latest()),
    implement(jobGet, async ({ params, request, response }): Promise<Envelope<Job> | undefined> => {
      const job = await store.get(params.id);
      if (!job) throw new Refusal("job_not_found");
      if (!String(request.headers.accept ?? "").includes("text/event-stream"))
        return { success: true, message: "", data: job };
      await follow(store, openEventStream(response), job);
      return undefined;
    }),
  ];
}

/** Sends the job whenever it changes, until it has finished. */
async function follow(store: JobStore, stream: EventStream, first: Job): Promise<void> {
  let sent = "";
  for (let job: Job | undefined = first; job && !stream.closed.aborted; job = await store.get(first.id)) {
    const text = JSON.stringify(job);
    if (text !== sent) stream.send("job", job);
    sent = text;
    if (job.status !== JOB_STATUS.running) break;
    await pauseUnless(stream.closed, FOLLOW_MS);
  }
  stream.end();
}
