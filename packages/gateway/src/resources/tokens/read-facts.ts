import { keyHint, ROLE, type Token, type TokenFacts } from "@fairway/wire";
import type { ServerResponse } from "node:http";
import type { Principal } from "../../http/endpoint.ts";
import { setTag } from "../../http/etag.ts";
import { canView } from "../../identity/accounts/roles.ts";
import { Refusal } from "../../lib/refusal.ts";
import type { TokenOwner, TokenStore } from "./store.ts";
import { tokenTag } from "./token-rows.ts";

/** Returns the owner of a token; for a user without a role, the token of another user does not exist. */
export async function requireOwner(store: TokenStore, id: number, caller: Principal): Promise<TokenOwner> {
  const owner = await store.findOwner(id);
  if (!owner || (owner.id !== caller.userId && caller.role < ROLE.admin)) throw new Refusal("token_not_found");
  if (!canView(caller, owner)) throw new Refusal("user_view_not_permitted");
  return owner;
}

export function requireToken(token: Token | undefined): Token {
  if (!token) throw new Refusal("token_not_found");
  return token;
}

export function buildTokenFacts({ key, ...token }: Token, owner: TokenOwner, caller: Principal): TokenFacts {
  return { ...token, username: owner.username, key_hint: owner.id === caller.userId ? keyHint(key) : "" };
}

interface Asked {
  readonly owner: TokenOwner;
  readonly id: number;
  readonly caller: Principal;
  readonly response: ServerResponse;
}

/** Returns the facts of a token of the owner, with their tag in the response. */
export async function readFacts(store: TokenStore, { owner, id, caller, response }: Asked): Promise<TokenFacts> {
  const facts = buildTokenFacts(requireToken(await store.get(owner.id, id)), owner, caller);
  setTag(response, tokenTag(facts));
  return facts;
}
