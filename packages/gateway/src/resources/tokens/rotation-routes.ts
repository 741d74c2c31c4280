import { DEFAULT_GRACE_SECONDS, tokenOfUserRotate, tokenOldKeyEnd, tokenOldKeys, tokenRotate } from "@fairway/wire";
import { implement, type Route } from "../../http/endpoint.ts";
import { tagCheck } from "../../http/etag.ts";
import { canChange } from "../../identity/accounts/roles.ts";
import { Refusal } from "../../lib/refusal.ts";
import { readFacts, requireOwner } from "./read-facts.ts";
import type { TokenRotations } from "./rotation.ts";
import type { TokenStore } from "./store.ts";

export interface TokenRotationDeps {
  readonly rotations: TokenRotations;
  readonly store: TokenStore;
}

/** Creates the routes that replace the key of a token, and those for the keys that were replaced. */
export function tokenRotationRoutes({ rotations, store }: TokenRotationDeps): Route[] {
  return [
    implement(tokenRotate, async ({ params: { id }, body, caller, request }) => {
      const { grace_seconds: graceSeconds = DEFAULT_GRACE_SECONDS } = body;
      const { userId, username: by } = caller;
      const rotated = await rotations.rotate({ userId, id, graceSeconds, by, check: tagCheck(request) });
      if (!rotated) throw new Refusal("token_not_found");
      return rotated;
    }),
    implement(tokenOfUserRotate, async ({ params: { id }, body, caller, request, response }) => {
      const owner = await requireOwner(store, id, caller);
      if (owner.id !== caller.userId && !canChange(caller, owner)) throw new Refusal("user_change_not_permitted");
      const { grace_seconds: graceSeconds = 0 } = body;
      const asked = { userId: owner.id, id, graceSeconds, by: caller.username, check: tagCheck(request) };
      if (!(await rotations.rotate(asked))) throw new Refusal("token_not_found");
      return readFacts(store, { owner, id, caller, response });
    }),
    implement(tokenOldKeys, async ({ params, caller }) => {
      const keys = await rotations.listOld(caller.userId, params.id);
      if (!keys) throw new Refusal("token_not_found");
      return keys;
    }),
    implement(tokenOldKeyEnd, async ({ params, caller }) => {
      if (!(await rotations.endOld(caller.userId, params.id, params.key_id))) throw new Refusal("token_not_found");
    }),
  ];
}
