import {
  serviceAccountCreate,
  serviceAccountDelete,
  serviceAccountList,
  serviceAccountUpdate,
  serviceTokenCreate,
  serviceTokenDelete,
  serviceTokenList,
  type Input,
  type ServiceAccount,
} from "@fairway/wire";
import { queryOptions } from "@tanstack/react-query";
import { call } from "../../../lib/http.ts";
import { queryKeys } from "../../../lib/query-keys.ts";
import { andRefresh } from "../api.ts";

export function serviceAccountsQuery(team: number) {
  return queryOptions({
    queryKey: queryKeys.teams.inside(team, "service-accounts"),
    queryFn: ({ signal }) => call(serviceAccountList, { params: { id: team }, signal }),
  });
}

export function serviceTokensQuery(team: number, account: number) {
  return queryOptions({
    queryKey: queryKeys.teams.inside(team, "service-tokens", { account }),
    queryFn: ({ signal }) => call(serviceTokenList, { params: { id: team, sid: account }, signal }),
  });
}

export function createServiceAccount(
  team: number,
  body: Input<typeof serviceAccountCreate.body>,
): Promise<ServiceAccount> {
  return andRefresh(call(serviceAccountCreate, { params: { id: team }, body }));
}

export function switchServiceAccount(team: number, account: number, status: number): Promise<ServiceAccount> {
  return andRefresh(call(serviceAccountUpdate, { params: { id: team, sid: account }, body: { status } }));
}

export function deleteServiceAccount(team: number, account: number): Promise<unknown> {
  return andRefresh(call(serviceAccountDelete, { params: { id: team, sid: account } }));
}

/** Returns the text of the new token, which is not shown again. */
export async function createServiceToken(
  team: number,
  account: number,
  body: Input<typeof serviceTokenCreate.body>,
): Promise<string> {
  return (await andRefresh(call(serviceTokenCreate, { params: { id: team, sid: account }, body }))).token;
}

export function deleteServiceToken(team: number, account: number, token: number): Promise<unknown> {
  return andRefresh(call(serviceTokenDelete, { params: { id: team, sid: account, aid: token } }));
}
