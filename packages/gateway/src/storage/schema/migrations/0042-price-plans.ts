import { ascii, bigint, id, index, longText, text } from "../columns.ts";
import { tables, type Migration } from "../migration.ts";

/** Prices of models that apply from a time on. */
export const pricePlans: Migration = {
  version: 42,
  name: "planned prices",
  steps: tables({
    price_plans: {
      columns: {
        id: id(),
        created_at: bigint(),
        user_id: bigint(0),
        username: text(191),
        starts_at: bigint(),
        prices: longText(),
        ended_at: bigint(0),
        ended_how: ascii(16),
      },
      indexes: [index("ended_at", "starts_at")],
    },
  }),
};
