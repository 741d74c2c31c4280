import {
  batchReserve,
  orderListSelf,
  selfInviteCode,
  selfInviteTransfer,
  stripeAmount,
  stripeInfo,
  stripePay,
  walletAmount,
  walletPay,
  walletRedeem,
} from "@fairway/wire";
import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { formatDecimal } from "../../lib/format.ts";
import { call, request } from "../../lib/http.ts";
import { currentLanguage } from "../../lib/i18n.ts";
import { ApiProblem } from "../../lib/problems.ts";
import { queryKeys } from "../../lib/query-keys.ts";
import { FRESH_STATIC_MS, queryClient } from "../../lib/query.ts";

export type Way = "zfb" | "wx" | "card";

export function refreshSelf(): Promise<void> {
  return queryClient.invalidateQueries({ queryKey: queryKeys.self.all });
}

/** Credits the code; resolves to the quota that was added. */
export async function redeem(key: string): Promise<number> {
  const quota = await call(walletRedeem, { body: { key } });
  await refreshSelf();
  return quota;
}

export const batchReserveQuery = queryOptions({
  queryKey: queryKeys.batches.reserve,
  queryFn: ({ signal }) => call(batchReserve, { signal }),
  // A figure that cannot be read is left out.
  retry: false,
});

export const inviteQuery = queryOptions({
  queryKey: queryKeys.self.invite,
  queryFn: ({ signal }) => call(selfInviteCode, { signal }),
});

export async function moveReward(quota: number): Promise<void> {
  await call(selfInviteTransfer, { body: { quota } });
  await refreshSelf();
}

export const cardQuery = queryOptions({
  queryKey: queryKeys.wallet.card,
  queryFn: ({ signal }) => call(stripeInfo, { signal }),
  staleTime: FRESH_STATIC_MS,
});

const ORDERS = 10;

export const ordersQuery = infiniteQueryOptions({
  queryKey: queryKeys.self.orders,
  queryFn: ({ pageParam, signal }) => call(orderListSelf, { query: { p: pageParam, page_size: ORDERS }, signal }),
  initialPageParam: 1,
  getNextPageParam: ({ page, total }) => (page * ORDERS < total ? page + 1 : undefined),
});

/** These calls report failures in `data`, as compatible consoles expect. */
async function moneyCall<T>(send: () => Promise<T>): Promise<T> {
  try {
    return await send();
  } catch (problem) {
    if (problem instanceof ApiProblem && problem.message === "error") {
      throw new ApiProblem(String(problem.data), problem.key);
    }
    throw problem;
  }
}

/** Formats thousands separators, with as many decimals as the currency has. */
function printMoney(money: string): string {
  return formatDecimal(Number(money), currentLanguage(), money.split(".")[1]?.length ?? 0);
}

/** The price of an amount with this payment method, with its currency sign. */
export function priceQuery(amount: number, way: Way) {
  return queryOptions({
    queryKey: queryKeys.wallet.price(amount, way === "card"),
    queryFn: async ({ signal }): Promise<string> => {
      if (way === "card") {
        const { money, currency } = await call(stripeAmount, { body: { amount }, signal });
        return `${printMoney(money)} ${currency.toUpperCase()}`;
      }
      const { data } = await moneyCall(() => request(walletAmount, { body: { amount, top_up_code: "" }, signal }));
      return `¥${printMoney(String(data))}`;
    },
    retry: false,
    staleTime: FRESH_STATIC_MS,
  });
}

/** Opens an order and its payment page in a new tab. */
export async function pay(amount: number, way: Way): Promise<void> {
  if (way === "card") {
    const { url } = await call(stripePay, { body: { amount } });
    submitForm(url, {}, "get");
    return;
  }
  const body = { amount, top_up_code: "", payment_method: way };
  const { data, siblings } = await moneyCall(() => request(walletPay, { body }));
  submitForm(String(siblings.url), data as unknown as Record<string, string>, "post");
}

function submitForm(action: string, fields: Readonly<Record<string, string>>, method: "get" | "post"): void {
  const form = document.createElement("form");
  Object.assign(form, { action, method, target: "_blank" });
  for (const [name, value] of Object.entries(fields)) {
    form.append(Object.assign(document.createElement("input"), { type: "hidden", name, value }));
  }
  document.body.append(form);
  form.submit();
  form.remove();
}
