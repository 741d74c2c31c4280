import {
  batchAbandon,
  batchCancel,
  batchGet,
  batchItem,
  batchList,
  batchListSelf,
  batchReserve,
  batchSettle,
  batchTotals,
  batchTotalsSelf,
  resolvePage,
  ROLE,
  type Batch,
  type BatchDetail,
} from "@fairway/wire";
import { describePrices } from "../../batches/management/describe-prices.ts";
import type { BatchManagement } from "../../batches/management/management.ts";
import type { BatchRow } from "../../batches/row.ts";
import { implement, type Principal, type Route } from "../../http/endpoint.ts";
import { Refusal } from "../../lib/refusal.ts";
import { isObject, parseObject } from "../../lib/text/json.ts";
import { toBatch, type BatchStore } from "./store.ts";

export interface BatchRoutesDeps {
  readonly store: BatchStore;
  readonly batches: BatchManagement;
  readonly statistics: { findUserId(username: string): Promise<number | undefined> };
}

export function batchRoutes({ store, batches, statistics }: BatchRoutesDeps): Route[] {
  /** Another user's batch is as unknown as one that does not exist. */
  const require = async (id: string, caller: Principal): Promise<BatchRow> => {
    const row = await batches.find(id);
    if (row && (isAdmin(caller) || row.user_id === caller.userId)) return row;
    throw new Refusal("batch_not_found");
  };
  return [
    implement(batchList, async (call) => {
      const { rows, total } = await store.page({ ...call.query, ...resolvePage(call.query) });
      call.setTotal(total);
      return rows;
    }),
    implement(batchListSelf, async (call) => {
      const own = { ...call.query, ...resolvePage(call.query), user_id: call.caller.userId, channel_id: 0 };
      const { rows, total } = await store.page(own);
      call.setTotal(total);
      return rows.map((row) => ({ ...row, channel_id: 0 }));
    }),
    implement(batchReserve, ({ caller }) => store.reserve(caller.userId)),
    implement(batchTotals, async ({ query }) => {
      // No user has the id 0, so an unknown name has no batches.
      const userId = query.username === "" ? undefined : ((await statistics.findUserId(query.username)) ?? 0);
      return store.totals({ ...query, userId });
    }),
    implement(batchTotalsSelf, ({ query, caller }) => store.totals({ ...query, userId: caller.userId })),
    implement(batchGet, async ({ params, caller }) =>
      describe(await batches.refresh(await require(params.id, caller)), caller),
    ),
    implement(batchItem, async ({ params, query, caller }) =>
      batches.readItem(await require(params.id, caller), query.custom_id),
    ),
    implement(batchCancel, async ({ params, caller }) =>
      show(await batches.cancel(await require(params.id, caller)), caller),
    ),
    implement(batchSettle, async ({ params, caller }) =>
      show(await batches.settle(await require(params.id, caller)), caller),
    ),
    implement(batchAbandon, async ({ params, caller }) =>
      show(await batches.abandon(await require(params.id, caller)), caller),
    ),
  ];
}

function isAdmin({ role }: Principal): boolean {
  return role >= ROLE.admin;
}

/** Users do not learn which channel serves them. */
function show(row: BatchRow, caller: Principal): Batch {
  const batch = toBatch(row);
  return isAdmin(caller) ? batch : { ...batch, channel_id: 0 };
}

function describe(row: BatchRow, caller: Principal): BatchDetail {
  return { ...show(row, caller), errors: readErrors(row), prices: describePrices(row) };
}

/** Returns the faults of lines, as the batch's client reads them. */
function readErrors({ wire }: BatchRow): BatchDetail["errors"] {
  const errors = parseObject(wire)?.["errors"];
  const data = isObject(errors) ? errors["data"] : undefined;
  return (Array.isArray(data) ? data : []).filter(isObject).map(({ code, line, message, param }) => ({
    code: typeof code === "string" ? code : "",
    line: typeof line === "number" && Number.isSafeInteger(line) ? line : null,
    message: typeof message === "string" ? message : "",
    param: typeof param === "string" ? param : null,
  }));
}
