import { findIdentityByUser, planGrants } from "../../identity/providers/identities.ts";
import { evaluateMapping, isIncomplete } from "../../identity/providers/mapping.ts";
import type { Provider } from "../../identity/providers/provider.ts";
import { endSessions } from "../../identity/sessions/sessions.ts";
import { rawOn } from "../../storage/transaction.ts";
import { lockedUser } from "../users/store.ts";
import type { BindingDeps } from "../auth/bindings.ts";
import { readDirectoryClaims } from "../../identity/scim/claims.ts";
import { findUser } from "../../identity/scim/store.ts";

/** Gives people of the directory what the rules give now; who has never signed in gets it at the first sign-in. */
export async function refreshGrants(deps: BindingDeps, provider: Provider, members: Iterable<string>): Promise<void> {
  if (provider.mapping.length === 0) return;
  for (const member of members) {
    const user = await findUser(deps.database.db, provider.id, member);
    if (user) await refreshOne(deps, provider, user.userId);
  }
}

async function refreshOne({ users, database }: BindingDeps, provider: Provider, userId: number): Promise<void> {
  if (!(await findIdentityByUser(database.db, provider.id, userId))) return;
  await users.write(userId, async (trx) => {
    const tx = rawOn(trx, database.kind);
    const user = await lockedUser(tx, userId);
    const identity = await findIdentityByUser(trx, provider.id, userId);
    if (!user || !identity) return;
    const claims = { ...identity.claims, ...(await readDirectoryClaims(trx, provider.id, userId)) };
    if (isIncomplete(provider.mapping, claims)) return;
    const { grants } = evaluateMapping(provider.mapping, claims);
    const granted = JSON.stringify({ ...grants, claims: identity.claims });
    await trx.updateTable("user_identities").set({ granted }).where("id", "=", identity.id).execute();
    const change = planGrants({ user, before: identity.granted, grants });
    if (Object.keys(change).length > 0) await users.update(trx, userId, change);
    if (change.role !== undefined && change.role < user.role) await endSessions(tx, userId);
  });
}
