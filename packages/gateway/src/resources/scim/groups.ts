import { randomUUID } from "node:crypto";
import type { Provider } from "../../identity/providers/provider.ts";
import type { GroupFacts, ScimGroup } from "../../identity/scim/group.ts";
import { ScimError } from "../../identity/scim/scim-error.ts";
import { inChunks } from "../../lib/chunks.ts";
import { seconds } from "../../lib/clock.ts";
import { transact } from "../../storage/transaction.ts";
import type { BindingDeps } from "../auth/bindings.ts";
import { refreshGrants } from "./grants.ts";
import { findGroup, type Trx } from "../../identity/scim/store.ts";
import { checkMembers, checkVersion } from "./users.ts";

const IDS_PER_STATEMENT = 500;

export function requireGroup(group: ScimGroup | undefined): ScimGroup {
  if (!group) throw new ScimError(404, "There is no such group.");
  return group;
}

function toColumns({ displayName, externalId }: GroupFacts) {
  return { display_name: displayName, display_key: displayName.toLowerCase(), external_id: externalId };
}

export async function createGroup(deps: BindingDeps, provider: Provider, facts: GroupFacts): Promise<ScimGroup> {
  const id = randomUUID();
  const now = seconds(deps.clock);
  const row = { id, provider_id: provider.id, ...toColumns(facts), version: 1, created_at: now, updated_at: now };
  await transact(deps.database.db, async (trx) => {
    await trx.insertInto("scim_groups").values(row).execute();
    await addMembers(trx, provider.id, { id, members: [...facts.members] });
  });
  await refreshGrants(deps, provider, facts.members);
  return requireGroup(await findGroup(deps.database.db, provider.id, id));
}

export interface GroupChange {
  readonly id: string;
  readonly change: (group: ScimGroup) => GroupFacts;
  readonly ifMatch?: string | undefined;
}

/** Changes a group; members who come or go, and with another name all of them, get what the rules give now. */
export async function updateGroup(
  deps: BindingDeps,
  provider: Provider,
  { id, change, ifMatch }: GroupChange,
): Promise<ScimGroup> {
  const { db } = deps.database;
  const concerned = await transact(db, async (trx) => {
    // The lock comes first, so that two changes of one group follow each other.
    await trx
      .updateTable("scim_groups")
      .set((eb) => ({ version: eb.ref("version") }))
      .where("id", "=", id)
      .execute();
    const group = requireGroup(await findGroup(trx, provider.id, id));
    checkVersion(group, ifMatch);
    const facts = change(group);
    const columns = { ...toColumns(facts), version: group.version + 1, updated_at: seconds(deps.clock) };
    await trx.updateTable("scim_groups").set(columns).where("id", "=", id).execute();
    const added = [...facts.members].filter((one) => !group.members.has(one));
    const removed = [...group.members].filter((one) => !facts.members.has(one));
    await addMembers(trx, provider.id, { id, members: added });
    await removeMembers(trx, { id, members: removed });
    return facts.displayName === group.displayName ? [...added, ...removed] : [...facts.members, ...removed];
  });
  await refreshGrants(deps, provider, concerned);
  return requireGroup(await findGroup(db, provider.id, id));
}

export async function removeGroup(deps: BindingDeps, provider: Provider, id: string, ifMatch?: string): Promise<void> {
  const { db } = deps.database;
  const members = await transact(db, async (trx) => {
    const group = requireGroup(await findGroup(trx, provider.id, id));
    checkVersion(group, ifMatch);
    await trx.deleteFrom("scim_members").where("group_id", "=", id).execute();
    await trx.deleteFrom("scim_groups").where("id", "=", id).execute();
    return group.members;
  });
  await refreshGrants(deps, provider, members);
}

interface Members {
  readonly id: string;
  readonly members: readonly string[];
}

async function addMembers(trx: Trx, providerId: number, { id, members }: Members): Promise<void> {
  for (const some of inChunks(members, IDS_PER_STATEMENT)) {
    await checkMembers(trx, providerId, some);
    await trx
      .insertInto("scim_members")
      .values(some.map((member_id) => ({ group_id: id, member_id })))
      .execute();
  }
}

async function removeMembers(trx: Trx, { id, members }: Members): Promise<void> {
  for (const some of inChunks(members, IDS_PER_STATEMENT))
    await trx.deleteFrom("scim_members").where("group_id", "=", id).where("member_id", "in", some).execute();
}
