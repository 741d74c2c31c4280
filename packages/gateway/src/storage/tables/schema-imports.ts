import type { Generated } from "kysely";

/** Row type of imports that were started in the console; the rules of `Schema` apply. */
export interface ImportRunTable {
  id: Generated<number>;
  /** 0 until the job has begun. */
  job_id: number;
  source: string;
  /** Name of the file, or host of the gateway. */
  place: string;
  dry_run: number;
  started_by: number;
  created_at: number;
  /** JSON: counts and notes; "" until there are some. */
  report: string;
}
