import {
  resolvePage,
  fill,
  REASONS,
  SEARCH_CAP,
  TOKEN_BATCH_CAP,
  TOKEN_PAGE_CAP,
  TOKEN_STATUS,
  tokenBatchDelete,
  tokenCreate,
  tokenDelete,
  tokenGet,
  tokenKey,
  tokenKeys,
  tokenList,
  tokenSearch,
  tokenSetStatus,
  tokenUpdate,
  type Token,
} from "@fairway/wire";
import type { ServerResponse } from "node:http";
import { implement, type Call, type Principal, type Route } from "../../http/endpoint.ts";
import { seconds, type Clock } from "../../lib/clock.ts";
import { Refusal } from "../../lib/refusal.ts";
import { setTag, tagCheck } from "../../http/etag.ts";
import type { Database } from "../../storage/database.ts";
import { calculateDifference, movedBy } from "./quota-change.ts";
import { checkEnabling, checkSwitch, resolveSwitcher, tokenFields, type SwitchedBy } from "./input.ts";
import type { TokenQuery, TokenStore } from "./store.ts";
import { planTokenBudget } from "./token-budget.ts";
import { tokenTag } from "./token-rows.ts";

export interface TokenRoutesDeps {
  readonly store: TokenStore;
  readonly clock: Clock;
  /** Returns the groups that a caller may set on a token. */
  readonly usableGroups: (ownGroup: string) => ReadonlySet<string>;
  readonly maxTokens: number;
  /** The kind of the database, for the budgets of new tokens. */
  readonly kind: Database["kind"];
  /** Makes a new budget known on this and on the other replicas. */
  readonly spreadBudgets: () => Promise<void>;
}

export function tokenRoutes(deps: TokenRoutesDeps): Route[] {
  const { store, clock, maxTokens } = deps;
  return [
    implement(tokenList, async (call) => answerPage(call, store, resolvePage(sizedQuery(call), TOKEN_PAGE_CAP))),
    implement(tokenSearch, async (call) => {
      const query = sizedQuery(call);
      const isPaged = query.page_size > 0 || query.p > 0;
      return answerPage(call, store, isPaged ? resolvePage(query, TOKEN_PAGE_CAP) : { offset: 0, limit: SEARCH_CAP });
    }),
    implement(tokenGet, async ({ params, caller, response }) =>
      tagged(response, requireToken(await store.get(caller.userId, params.id))),
    ),
    implement(tokenCreate, async ({ body, caller }) => {
      const { budget, ...input } = body;
      const fields = tokenFields(input, mayUse(deps, caller));
      const checkCount = (count: number) => {
        if (count >= maxTokens) throw new Refusal("too_many_tokens", { values: { n: maxTokens } });
      };
      if (!budget) return store.create(caller.userId, fields, checkCount);
      const token = await store.create(caller.userId, fields, checkCount, planTokenBudget(budget, deps));
      await deps.spreadBudgets();
      return token;
    }),
    implement(tokenSetStatus, async ({ body, caller, request, response }) => {
      const token = requireToken(await store.get(caller.userId, body.id ?? 0));
      const { status } = body;
      if (status !== TOKEN_STATUS.enabled && status !== TOKEN_STATUS.disabled)
        throw new Refusal("status_not_settable", { field: "status" });
      if (status === TOKEN_STATUS.enabled)
        checkEnabling({ ...token, unlimited: token.unlimited_quota }, seconds(clock));
      const by = ownSwitcher(caller, status);
      const changed = await store.setStatus(caller.userId, token.id, { status, by }, { check: tagCheck(request) });
      return tagged(response, requireToken(changed));
    }),
    implement(tokenUpdate, async ({ body, caller, request, response }) => {
      const token = requireToken(await store.get(caller.userId, body.id ?? 0));
      const by = calculateDifference(body, token);
      const left = by === undefined ? body.remain_quota : Math.max(0, token.remain_quota + by);
      const fields = tokenFields({ ...body, remain_quota: left }, mayUse(deps, caller));
      const unlimited = fields.unlimited_quota !== 0;
      if (body.status === TOKEN_STATUS.enabled) {
        checkEnabling({ ...fields, status: token.status, unlimited }, seconds(clock));
        checkSwitch(token.disabled_by_admin, ownSwitcher(caller, body.status), body.status);
      }
      const update = { check: tagCheck(request), remainFrom: by === undefined ? undefined : movedBy(by) };
      return tagged(response, requireToken(await store.update(caller.userId, token.id, fields, update)));
    }),
    implement(tokenDelete, async ({ params, caller }) => {
      requireToken(await store.remove(caller.userId, params.id));
    }),
    implement(tokenBatchDelete, ({ body, caller }) => store.removeAll(caller.userId, requireIds(body.ids))),
    implement(tokenKey, async ({ params, caller }) => ({
      key: requireToken(await store.get(caller.userId, params.id)).key,
    })),
    implement(tokenKeys, async ({ body, caller }) => ({ keys: await store.keys(caller.userId, requireIds(body.ids)) })),
  ];
}

type ListCall = Call<typeof tokenList>;

/** Maps the page size, which compatible gateways call `size`. */
function sizedQuery({ query }: ListCall): ListCall["query"] {
  return { ...query, page_size: query.size > 0 ? query.size : query.page_size };
}

async function answerPage(
  call: ListCall,
  store: TokenStore,
  page: { offset: number; limit: number },
): Promise<Token[]> {
  const { rows, total } = await store.page({ ...buildTokenQuery(call), ...page });
  call.setTotal(total);
  return rows;
}

function buildTokenQuery({ query, caller }: ListCall): Omit<TokenQuery, "offset" | "limit"> {
  return {
    userId: caller.userId,
    keyword: query.keyword,
    keyPart: query.token.replace(/^sk-/, ""),
    status: query.status,
    group: query.group,
    expiringWithin: query.expiring,
    sort: query.sort,
    order: query.order,
  };
}

function requireIds(ids: readonly number[] | undefined): readonly number[] {
  if (!ids || ids.length === 0) throw new Refusal("invalid_parameter", { field: "ids" });
  if (ids.length > TOKEN_BATCH_CAP)
    throw new Refusal("invalid_field", {
      field: "ids",
      values: { field: "ids", reason: fill(REASONS.tooMany, { n: TOKEN_BATCH_CAP }) },
    });
  return [...new Set(ids)];
}

function mayUse({ usableGroups }: TokenRoutesDeps, caller: Principal): (group: string) => boolean {
  const groups = usableGroups(caller.group);
  return (group) => groups.has(group);
}

function tagged(response: ServerResponse, token: Token): Token {
  setTag(response, tokenTag(token));
  return token;
}

function ownSwitcher(caller: Principal, status: number): SwitchedBy {
  return resolveSwitcher(caller, { id: caller.userId, role: caller.role }, status);
}

function requireToken(token: Token | undefined): Token {
  if (!token) throw new Refusal("token_not_found");
  return token;
}
