import { ROLE, USER_STATUS, userGet, userManage, userUpdate, type UserAction } from "@fairway/wire";
import { call } from "../../../lib/http.ts";
import { readVersion } from "../../../lib/rows.ts";
import { readAsShown } from "../../../ui/bulk/plan.ts";
import type { UserChange, UserPatch } from "./plan.ts";

function act(id: number, action: UserAction, value?: number): Promise<unknown> {
  return call(userManage, { body: { id, action, ...(value !== undefined && { value }) } });
}

/** The balance moves all the time: only its difference is sent, and what it was when the preview was made is no matter. */
function withoutBalance(patch: UserPatch): UserPatch {
  return Object.fromEntries(Object.entries(patch).filter(([name]) => name !== "quota"));
}

/** Sends the changes of one user, unless the account is no longer as the preview showed it. */
export async function changeUser({ row: { id }, patch, undo }: UserChange): Promise<void> {
  const shown = { patch: withoutBalance(patch), undo: withoutBalance(undo) };
  const { row, tag } = await readAsShown(readVersion(userGet, { params: { id } }), shown);
  const { status = row.status, role = row.role, group = row.group, quota = 0 } = patch;
  if (group !== row.group) await call(userUpdate, { body: { id, group }, ifMatch: tag });
  if (role !== row.role) await act(id, role >= ROLE.admin ? "promote" : "demote");
  if (status !== row.status) await act(id, status === USER_STATUS.enabled ? "enable" : "disable");
  // Last, because another try of what failed would add it once more.
  if (patch.quota !== undefined) await act(id, "add_quota", quota - (undo.quota ?? 0));
}

export function deleteUser(id: number): Promise<unknown> {
  return act(id, "delete");
}
