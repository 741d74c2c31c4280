import { ROLE, USER_STATUS, userGet, userManage, userUpdate, type UserAction } from "@fairway/wire";
import { call } from "../../../lib/http.ts";
import { readVersion } from "../../../lib/rows.ts";
import { readAsShown } from "../../../ui/bulk/plan.ts";
import { getChangeKey } from "../../../lib/change-keys.ts";
import { parseLimits, formatLimits, type UserChange, type UserPatch } from "./plan.ts";

function act(id: number, action: UserAction): Promise<unknown> {
  return call(userManage, { body: { id, action } });
}

/** The balance changes constantly: only the difference is sent, so its value in the preview does not matter. */
function withoutBalance(patch: UserPatch): UserPatch {
  return Object.fromEntries(Object.entries(patch).filter(([name]) => name !== "quota"));
}

async function readComparable(id: number) {
  const { row, tag } = await readVersion(userGet, { params: { id } });
  return { row: { ...row, limits: formatLimits(row.limits) }, tag };
}

type Comparable = Awaited<ReturnType<typeof readComparable>>;

async function changeProfile(
  { group, limits }: { readonly group: string; readonly limits: string },
  { row, tag }: Comparable,
): Promise<void> {
  const changed = {
    ...(group !== row.group && { group }),
    ...(limits !== row.limits && { limits: parseLimits(limits) }),
  };
  if (Object.keys(changed).length > 0) await call(userUpdate, { body: { id: row.id, ...changed }, ifMatch: tag });
}

/** Sends the changes of one user, unless the account differs from the preview. */
export async function changeUser(change: UserChange): Promise<void> {
  const { row, patch, undo } = change;
  const { id } = row;
  const shown = { patch: withoutBalance(patch), undo: withoutBalance(undo) };
  const { row: current, tag } = await readAsShown(readComparable(id), shown);
  const {
    status = current.status,
    role = current.role,
    group = current.group,
    limits = current.limits,
    quota = 0,
  } = patch;
  await changeProfile({ group, limits }, { row: current, tag });
  if (role !== current.role) await act(id, role >= ROLE.admin ? "promote" : "demote");
  if (status !== current.status) await act(id, status === USER_STATUS.enabled ? "enable" : "disable");
  if (patch.quota === undefined) return;
  const body = { id, action: "add_quota", value: quota - (undo.quota ?? 0) };
  // A retry after a lost answer adds nothing more.
  await call(userManage, { body, idempotencyKey: getChangeKey(change) });
}

export function deleteUser(id: number): Promise<unknown> {
  return act(id, "delete");
}
