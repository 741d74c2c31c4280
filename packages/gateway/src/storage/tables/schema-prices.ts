import type { Generated } from "kysely";

/** Row type of planned prices; the rules of `Schema` apply. */
export interface PricePlanTable {
  id: Generated<number>;
  created_at: number;
  user_id: number;
  /** The user's name at that time. */
  username: string;
  /** Epoch seconds from which the prices apply. */
  starts_at: number;
  /** JSON: a list of `PlannedPrice`. */
  prices: string;
  /** 0 = not yet written into the options, and not cancelled. */
  ended_at: number;
  /** `applied` or `cancelled`; "" before. */
  ended_how: string;
}
