import type { UsageRow } from "@fairway/wire";
import type { Database } from "../../storage/database.ts";

/** A period in seconds, including both ends; 0 = no limit. */
export interface UsagePeriod {
  readonly from: number;
  readonly to: number;
}

export type UsageStore = ReturnType<typeof createUsageStore>;

/** More rows than any chart draws; prevents a call without a period from filling the memory. */
const ROW_LIMIT = 100_000;

/** Creates the SQL of the hourly sums for charts. */
export function createUsageStore({ database: { db } }: { readonly database: Database }) {
  const inPeriod = ({ from, to }: UsagePeriod) => {
    const rows = db.selectFrom("quota_data").where("created_at", ">=", from);
    return to > 0 ? rows.where("created_at", "<=", to) : rows;
  };
  const read = (rows: ReturnType<typeof inPeriod>): Promise<UsageRow[]> =>
    rows.selectAll().orderBy("created_at").orderBy("model_name").limit(ROW_LIMIT).execute();

  return {
    ofName: (username: string, period: UsagePeriod) => read(inPeriod(period).where("username", "=", username)),

    ofUser: (userId: number, period: UsagePeriod) => read(inPeriod(period).where("user_id", "=", userId)),

    /** Returns one sum per model and hour over all users. */
    async ofAll(period: UsagePeriod): Promise<UsageRow[]> {
      const rows = await inPeriod(period)
        .select((eb) => [
          "model_name",
          "created_at",
          eb.fn.sum<number>("token_used").as("token_used"),
          eb.fn.sum<number>("count").as("count"),
          eb.fn.sum<number>("quota").as("quota"),
        ])
        .groupBy(["created_at", "model_name"])
        .orderBy("created_at")
        .orderBy("model_name")
        .limit(ROW_LIMIT)
        .execute();
      return rows.map((row) => ({
        id: 0,
        user_id: 0,
        username: "",
        model_name: row.model_name,
        created_at: row.created_at,
        token_used: Number(row.token_used),
        count: Number(row.count),
        quota: Number(row.quota),
      }));
    },
  };
}
