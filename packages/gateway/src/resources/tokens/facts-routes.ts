import {
  resolvePage,
  TOKEN_STATUS,
  tokenActivity,
  tokenFacts,
  tokenFind,
  tokenListOfUser,
  tokenOfUserSetStatus,
  type TokenActivity,
} from "@fairway/wire";
import { implement, type Route } from "../../http/endpoint.ts";
import { tagCheck } from "../../http/etag.ts";
import { canChange, canView } from "../../identity/accounts/roles.ts";
import { seconds, type Clock } from "../../lib/clock.ts";
import { Refusal } from "../../lib/refusal.ts";
import type { ActivityQuery } from "../logs/token-activity.ts";
import { checkEnabling, resolveSwitcher } from "./input.ts";
import { keyForms } from "./key-forms.ts";
import { buildTokenFacts, readFacts, requireOwner, requireToken } from "./read-facts.ts";
import type { TokenStore } from "./store.ts";

export interface TokenFactsDeps {
  readonly store: TokenStore;
  readonly clock: Clock;
  readonly readActivity: (asked: ActivityQuery) => Promise<TokenActivity>;
}

/** Creates the routes for tokens without their keys, for owners and administrators. */
export function tokenFactsRoutes({ store, clock, readActivity }: TokenFactsDeps): Route[] {
  return [
    implement(tokenFacts, async ({ params, caller, response }) => {
      const owner = await requireOwner(store, params.id, caller);
      return readFacts(store, { owner, id: params.id, caller, response });
    }),
    implement(tokenFind, async ({ body, caller, response }) => {
      const id = await store.findId(keyForms(body.key));
      if (id === undefined) throw new Refusal("token_not_found");
      const owner = await requireOwner(store, id, caller);
      return readFacts(store, { owner, id, caller, response });
    }),
    implement(tokenActivity, async ({ params, query, caller }) => {
      const owner = await requireOwner(store, params.id, caller);
      return readActivity({ ...query, ownerId: owner.id, tokenId: params.id });
    }),
    implement(tokenListOfUser, async ({ params, query, caller, setTotal }) => {
      const owner = await store.owner(params.id);
      if (!owner) throw new Refusal("user_not_found");
      if (!canView(caller, owner)) throw new Refusal("user_view_not_permitted");
      const { rows, total } = await store.page({ ...EVERY, ...query, ...resolvePage(query), userId: owner.id });
      setTotal(total);
      return rows.map((token) => buildTokenFacts(token, owner, caller));
    }),
    implement(tokenOfUserSetStatus, async ({ params, body: { status }, caller, request, response }) => {
      const owner = await requireOwner(store, params.id, caller);
      if (owner.id !== caller.userId && !canChange(caller, owner)) throw new Refusal("user_change_not_permitted");
      if (status !== TOKEN_STATUS.enabled && status !== TOKEN_STATUS.disabled)
        throw new Refusal("status_not_settable", { field: "status" });
      const token = requireToken(await store.get(owner.id, params.id));
      if (status === TOKEN_STATUS.enabled)
        checkEnabling({ ...token, unlimited: token.unlimited_quota }, seconds(clock));
      const by = resolveSwitcher(caller, owner, status);
      requireToken(await store.setStatus(owner.id, token.id, { status, by }, { check: tagCheck(request) }));
      return readFacts(store, { owner, id: token.id, caller, response });
    }),
  ];
}

/** A query of a token list without filters. */
const EVERY = { keyword: "", keyPart: "", status: [], group: "", expiringWithin: 0 } as const;
