import type { Generated } from "kysely";

/** Row type of saved reports; the rules of `Schema` apply. */
export interface SavedReportTable {
  id: Generated<number>;
  user_id: number;
  name: string;
  /** JSON: `ReportQuestion`. */
  question: string;
  /** `ReportCadence` */
  cadence: string;
  hour: number;
  mail: number;
  /** Epoch seconds; 0 = not scheduled. */
  next_at: number;
  sent_at: number;
  created_at: number;
  updated_at: number;
}
