import {
  characters,
  resolvePage,
  REDEMPTION_BATCH_CAP,
  REDEMPTION_STATUS,
  redemptionCreate,
  redemptionDelete,
  redemptionDeleteInvalid,
  redemptionGet,
  redemptionList,
  redemptionSearch,
  redemptionSetStatus,
  redemptionUpdate,
  SEARCH_CAP,
  type Redemption,
} from "@fairway/wire";
import type { ServerResponse } from "node:http";
import { implement, type Call, type Route } from "../../http/endpoint.ts";
import { setTag, tagCheck, type CheckTag } from "../../http/etag.ts";
import { Refusal } from "../../lib/refusal.ts";
import { redemptionTag, type RedemptionStore } from "./store.ts";

const NAME_LIMIT = 20;

export function redemptionRoutes({ store }: { readonly store: RedemptionStore }): Route[] {
  return [
    implement(redemptionList, (call) => answerPage(call, store, resolvePage(call.query))),
    implement(redemptionSearch, (call) => {
      const isPaged = call.query.page_size > 0 || call.query.p > 0;
      return answerPage(call, store, isPaged ? resolvePage(call.query) : { offset: 0, limit: SEARCH_CAP });
    }),
    implement(redemptionGet, async ({ params, response }) =>
      tagged(response, requireRedemption(await store.get(params.id))),
    ),
    implement(redemptionCreate, ({ body, caller }) => {
      const { name, quota } = checkNameAndQuota(body);
      return store.create({ userId: caller.userId, name, quota, count: checkCount(body.count ?? 1) });
    }),
    implement(redemptionSetStatus, async ({ body, request, response }) => {
      const code = unused(await store.get(body.id ?? 0));
      const { status } = body;
      if (status !== REDEMPTION_STATUS.unused && status !== REDEMPTION_STATUS.disabled) {
        throw new Refusal("status_not_settable", { field: "status" });
      }
      return tagged(response, await changed(store, code.id, { status }, tagCheck(request)));
    }),
    implement(redemptionUpdate, async ({ body, request, response }) => {
      const code = unused(await store.get(body.id ?? 0));
      return tagged(response, await changed(store, code.id, checkNameAndQuota(body), tagCheck(request)));
    }),
    implement(redemptionDelete, async ({ params }) => {
      if (!(await store.remove(params.id))) throw new Refusal("code_not_found");
    }),
    implement(redemptionDeleteInvalid, () => store.removeInvalid()),
  ];
}

type ListCall = Call<typeof redemptionList>;

async function answerPage(call: ListCall, store: RedemptionStore, page: { offset: number; limit: number }) {
  const { rows, total } = await store.page({ ...call.query, ...page });
  call.setTotal(total);
  return rows;
}

/** Changes a code. The condition of the update decides: a code redeemed between reading and writing stays used. */
async function changed(
  store: RedemptionStore,
  id: number,
  values: Parameters<RedemptionStore["change"]>[1],
  check: CheckTag | undefined,
): Promise<Redemption> {
  const isChanged = await store.change(id, values, check);
  const code = requireRedemption(await store.get(id));
  return isChanged ? code : unused(code);
}

function tagged(response: ServerResponse, code: Redemption): Redemption {
  setTag(response, redemptionTag(code));
  return code;
}

function checkNameAndQuota(body: { readonly name?: string | undefined; readonly quota?: number | undefined }) {
  const { name = "", quota = 0 } = body;
  const length = characters(name);
  if (length === 0 || length > NAME_LIMIT) throw new Refusal("code_name_invalid", { field: "name" });
  if (!Number.isSafeInteger(quota) || quota <= 0) throw new Refusal("code_quota_invalid", { field: "quota" });
  return { name, quota };
}

function checkCount(count: number): number {
  if (!Number.isSafeInteger(count) || count <= 0) throw new Refusal("code_count_too_small", { field: "count" });
  if (count > REDEMPTION_BATCH_CAP) throw new Refusal("code_count_too_large", { field: "count" });
  return count;
}

function requireRedemption(code: Redemption | undefined): Redemption {
  if (!code) throw new Refusal("code_not_found");
  return code;
}

function unused(code: Redemption | undefined): Redemption {
  const found = requireRedemption(code);
  if (found.status === REDEMPTION_STATUS.used) throw new Refusal("code_already_used");
  return found;
}
