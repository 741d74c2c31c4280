import {
  orderList,
  orderListSelf,
  resolvePage,
  topUpInfo,
  type OptionValues,
  type Order,
  type OrderPage,
} from "@fairway/wire";
import { implement, type Call, type Route } from "../../http/endpoint.ts";
import type { Database } from "../../storage/database.ts";
import { containing, likeAnyCase } from "../../storage/like.ts";
import { calculateMinimum } from "./amounts.ts";
import { isPaymentConfigured } from "./notice.ts";
import type { WalletOptions } from "./routes.ts";

export interface OrderRoutesDeps {
  readonly database: Pick<Database, "db">;
  readonly options: () => WalletOptions & Pick<OptionValues, "TopUpLink">;
}

const COLUMNS = [
  "id",
  "user_id",
  "amount",
  "money",
  "quota",
  "trade_no",
  "payment_method",
  "create_time",
  "complete_time",
  "status",
] as const satisfies readonly (keyof Order)[];

/** Creates the routes for orders and payment methods. */
export function orderRoutes({ database, options }: OrderRoutesDeps): Route[] {
  return [
    implement(orderListSelf, ({ query, caller }) => readOrders(database, query, caller.userId)),
    implement(orderList, ({ query }) => readOrders(database, query, query.user_id > 0 ? query.user_id : undefined)),
    implement(topUpInfo, () => {
      const values = options();
      const isOnline = isPaymentConfigured(values);
      const min = calculateMinimum(values);
      const method = (name: string, type: string, color: string) => ({ name, type, color, min_topup: String(min) });
      return {
        enable_online_topup: isOnline,
        enable_stripe_topup: false as const,
        enable_creem_topup: false as const,
        pay_methods: isOnline ? [method("Alipay", "alipay", "#1677FF"), method("WeChat Pay", "wxpay", "#07C160")] : [],
        min_topup: min,
        amount_options: [],
        discount: {},
        topup_link: values.TopUpLink,
      };
    }),
  ];
}

async function readOrders(
  { db }: Pick<Database, "db">,
  { p, page_size, keyword }: Call<typeof orderListSelf>["query"],
  ownerId: number | undefined,
): Promise<OrderPage> {
  const page = Math.max(1, p);
  const { offset, limit } = resolvePage({ p: page - 1, page_size });
  let orders = db.selectFrom("top_ups");
  if (ownerId !== undefined) orders = orders.where("user_id", "=", ownerId);
  if (keyword !== "") orders = orders.where(likeAnyCase("trade_no", containing(keyword)));
  const { total } = await orders.select((eb) => eb.fn.countAll<number>().as("total")).executeTakeFirstOrThrow();
  const rows = await orders.select(COLUMNS).orderBy("id", "desc").offset(offset).limit(limit).execute();
  const items = rows.map((row) => ({ ...row, money: Number(row.money) }));
  return { items, total: Number(total), page, page_size: limit };
}
