import {
  keyHint,
  resolvePage,
  ROLE,
  TOKEN_STATUS,
  tokenActivity,
  tokenFacts,
  tokenFind,
  tokenListOfUser,
  tokenOfUserSetStatus,
  type Token,
  type TokenActivity,
  type TokenFacts,
} from "@fairway/wire";
import type { ServerResponse } from "node:http";
import { implement, type Principal, type Route } from "../../http/endpoint.ts";
import { setTag, tagCheck } from "../../http/etag.ts";
import { canChange, canView } from "../../identity/accounts/roles.ts";
import { parseApiKey } from "../../identity/keys/api-key.ts";
import { seconds, type Clock } from "../../lib/clock.ts";
import { Refusal } from "../../lib/refusal.ts";
import { hashedForms, importedKey } from "../../storage/secrets/token-key-forms.ts";
import type { ActivityQuery } from "../logs/token-activity.ts";
import { checkEnabling, resolveSwitcher } from "./input.ts";
import { tokenTag, type TokenOwner, type TokenStore } from "./store.ts";

export interface TokenFactsDeps {
  readonly store: TokenStore;
  readonly clock: Clock;
  readonly readActivity: (asked: ActivityQuery) => Promise<TokenActivity>;
}

/** Creates the routes for tokens without their keys, for owners and administrators. */
export function tokenFactsRoutes({ store, clock, readActivity }: TokenFactsDeps): Route[] {
  return [
    implement(tokenFacts, async ({ params, caller, response }) => {
      const owner = visible(await store.findOwner(params.id), caller);
      return tagged(response, buildTokenFacts(requireToken(await store.get(owner.id, params.id)), owner, caller));
    }),
    implement(tokenFind, async ({ body, caller, response }) => {
      const id = await store.findId(keyForms(body.key));
      if (id === undefined) throw new Refusal("token_not_found");
      const owner = visible(await store.findOwner(id), caller);
      return tagged(response, buildTokenFacts(requireToken(await store.get(owner.id, id)), owner, caller));
    }),
    implement(tokenActivity, async ({ params, query, caller }) => {
      const owner = visible(await store.findOwner(params.id), caller);
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
      const owner = visible(await store.findOwner(params.id), caller);
      if (owner.id !== caller.userId && !canChange(caller, owner)) throw new Refusal("user_change_not_permitted");
      if (status !== TOKEN_STATUS.enabled && status !== TOKEN_STATUS.disabled)
        throw new Refusal("status_not_settable", { field: "status" });
      const token = requireToken(await store.get(owner.id, params.id));
      if (status === TOKEN_STATUS.enabled)
        checkEnabling({ ...token, unlimited: token.unlimited_quota }, seconds(clock));
      const by = resolveSwitcher(caller, owner, status);
      const changed = await store.setStatus(owner.id, token.id, { status, by }, { check: tagCheck(request) });
      return tagged(response, buildTokenFacts(requireToken(changed), owner, caller));
    }),
  ];
}

/** Returns the texts that are hashed for a key as a person pastes it, such as `Bearer sk-…` or with a pinned channel. */
function keyForms(pasted: string): readonly string[] {
  const text = pasted.trim().replace(/^Bearer\s+/i, "");
  const own = parseApiKey(text);
  return own === "malformed" ? [importedKey(text)] : [...hashedForms(own.key), importedKey(text)];
}

/** A query of a token list without filters. */
const EVERY = { keyword: "", keyPart: "", status: [], group: "", expiringWithin: 0 } as const;

/** Checks the owner: for a user without a role, the token of another user does not exist. */
function visible(owner: TokenOwner | undefined, caller: Principal): TokenOwner {
  if (!owner || (owner.id !== caller.userId && caller.role < ROLE.admin)) throw new Refusal("token_not_found");
  if (!canView(caller, owner)) throw new Refusal("user_view_not_permitted");
  return owner;
}

function requireToken(token: Token | undefined): Token {
  if (!token) throw new Refusal("token_not_found");
  return token;
}

function buildTokenFacts({ key, ...token }: Token, owner: TokenOwner, caller: Principal): TokenFacts {
  return { ...token, username: owner.username, key_hint: owner.id === caller.userId ? keyHint(key) : "" };
}

function tagged(response: ServerResponse, facts: TokenFacts): TokenFacts {
  setTag(response, tokenTag(facts));
  return facts;
}
