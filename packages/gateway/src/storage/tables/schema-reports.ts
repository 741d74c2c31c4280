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
  /** JSON: ids of the people to whom it is mailed besides its owner. */
  receivers: Generated<string>;
  /** `csv` or `none` */
  attach: Generated<string>;
  /** Epoch seconds; 0 = not scheduled. */
  next_at: number;
  sent_at: number;
  created_at: number;
  updated_at: number;
}

/** Sums of calls of one account over an hour or a day. */
export interface ReportSumTable {
  cube: number;
  tag_key: string;
  span: number;
  owner_id: number;
  start: number;
  value: string;
  model: string;
  calls: number;
  errors: number;
  input_tokens: number;
  output_tokens: number;
  quota: number;
}

/** How many values of a tag, end users or models the sums of a day have. */
export interface ReportValueTable {
  cube: number;
  tag_key: string;
  owner_id: number;
  start: number;
  counted: number;
  left_out: number;
}
