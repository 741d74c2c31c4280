import * as z from "zod/mini";
import { endpoint } from "../core/endpoint.ts";
import { idParams } from "../core/envelope.ts";

export const JOB_STATUS = { running: "running", done: "done", failed: "failed", interrupted: "interrupted" } as const;
export type JobStatus = (typeof JOB_STATUS)[keyof typeof JOB_STATUS];

/** Background work that a user started. */
export const Job = z.object({
  id: z.int(),
  name: z.string(),
  status: z.enum(["running", "done", "failed", "interrupted"]),
  done: z.int(),
  /** 0 = not known yet. */
  total: z.int(),
  failed: z.int(),
  message: z.string(),
  started_by: z.int(),
  created_at: z.int(),
  updated_at: z.int(),
  /** 0 = still running. */
  finished_at: z.int(),
});
export type Job = z.output<typeof Job>;

export const jobList = endpoint({
  name: "jobList",
  method: "GET",
  path: "/api/job/",
  access: "admin",
  summary: "The latest 50 jobs, newest first.",
  data: z.array(Job),
});

/** With `Accept: text/event-stream`, the response is a stream of `job` events that ends with the job. */
export const jobGet = endpoint({
  name: "jobGet",
  method: "GET",
  path: "/api/job/{id}",
  access: "admin",
  summary: "Follows one job: JSON once, or server-sent events while it runs.",
  params: idParams,
  answer: "raw",
  fails: ["job_not_found"],
});
