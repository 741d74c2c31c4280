import {
  teamConversion,
  teamConvert,
  userCreate,
  userGet,
  userList,
  userManage,
  userSearch,
  userTwoFactorReset,
  userUpdate,
  type Input,
  type TeamView,
  type User,
  type UserAction,
} from "@fairway/wire";
import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { call, request } from "../../lib/http.ts";
import type { Limits } from "../../lib/limits.ts";
import { queryKeys } from "../../lib/query-keys.ts";
import { queryClient } from "../../lib/query.ts";
import { readRows, readVersion, sortQuery, type Rows, type Version } from "../../lib/rows.ts";
import { getChangeKey } from "../../lib/change-keys.ts";

export interface UserFilter {
  readonly page: number;
  readonly size: number;
  readonly sort: string;
  readonly q: string;
  readonly group: string;
  readonly role: string;
  readonly status: string;
}

export function usersQuery(filter: UserFilter) {
  const { q, group, role, status } = filter;
  return queryOptions({
    queryKey: queryKeys.users.list(filter),
    queryFn: ({ signal }): Promise<Rows<User>> =>
      readRows(q === "" && group === "" ? userList : userSearch, {
        query: {
          p: filter.page - 1,
          page_size: filter.size,
          keyword: q,
          group,
          role,
          status,
          ...sortQuery(filter.sort),
        },
        signal,
      }),
    placeholderData: keepPreviousData,
  });
}

export function userQuery(id: number) {
  return queryOptions({
    queryKey: queryKeys.users.one(id),
    queryFn: ({ signal }) => readVersion(userGet, { params: { id }, signal }),
    // A form starts from the server's current version, not from an older visit.
    gcTime: 0,
    staleTime: Infinity,
  });
}

/** Reloads the list. One of the users may be the signed-in one. */
export async function refreshUsers(): Promise<void> {
  await Promise.all([
    queryClient.invalidateQueries({ queryKey: queryKeys.users.lists }),
    queryClient.invalidateQueries({ queryKey: queryKeys.users.allShown }),
    queryClient.invalidateQueries({ queryKey: queryKeys.self.all }),
  ]);
}

export interface UserInput {
  readonly username: string;
  readonly display_name: string;
  readonly password: string;
}

export async function createUser(input: UserInput): Promise<void> {
  await call(userCreate, { body: { ...input } });
  await refreshUsers();
}

/** An amount to add to a balance; every attempt to save it uses the same object. */
export interface Addition {
  readonly quota: number;
}

/** Saves profile, group and limits, then adds to the balance by a difference, which does not race with spending. */
export async function saveUser(
  { row: { id }, tag }: Version<User>,
  input: UserInput & { group: string; limits: Limits; tag_limits: User["tag_limits"] },
  addition: Addition,
): Promise<void> {
  const saved = await request(userUpdate, { body: { ...input, id }, ifMatch: tag });
  // If the amount is refused, the next attempt starts from what was saved here.
  queryClient.setQueryData(userQuery(id).queryKey, (read) => read && { ...read, tag: saved.tag });
  if (addition.quota !== 0) {
    const body = { id, action: "add_quota", value: addition.quota };
    await call(userManage, { body, idempotencyKey: getChangeKey(addition) });
  }
  await refreshUsers();
}

export async function manageUser(user: User, action: UserAction): Promise<void> {
  await call(userManage, { body: { id: user.id, action } });
  await refreshUsers();
}

/** For users who lost their devices: password sign-in no longer needs a code, and passkeys are deleted. */
export async function resetSecondFactor(user: User): Promise<void> {
  await call(userTwoFactorReset, { params: { id: user.id } });
}

/** What would become of an account that is converted into a team, as it is now. */
export function conversionQuery(id: number) {
  return queryOptions({
    queryKey: queryKeys.users.conversion(id),
    queryFn: ({ signal }) => call(teamConversion, { params: { user_id: id }, signal }),
    gcTime: 0,
  });
}

export async function convertUser(body: Input<typeof teamConvert.body>): Promise<TeamView> {
  const team = await call(teamConvert, { body });
  await Promise.all([refreshUsers(), queryClient.invalidateQueries({ queryKey: queryKeys.teams.all })]);
  return team;
}
