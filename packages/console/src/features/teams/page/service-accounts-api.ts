import {
  INSTALLATION_TEAM,
  operatorAccountCreate,
  operatorAccountDelete,
  operatorAccountList,
  operatorAccountUpdate,
  operatorTokenCreate,
  operatorTokenDelete,
  operatorTokenList,
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

// The calls about a team with those of the installation, which is team 0 here.

export function serviceAccountsQuery(team: number) {
  return queryOptions({
    queryKey: queryKeys.teams.inside(team, "service-accounts"),
    queryFn: ({ signal }) =>
      team === INSTALLATION_TEAM
        ? call(operatorAccountList, { signal })
        : call(serviceAccountList, { params: { id: team }, signal }),
  });
}

export function serviceTokensQuery(team: number, account: number) {
  return queryOptions({
    queryKey: queryKeys.teams.inside(team, "service-tokens", { account }),
    queryFn: ({ signal }) =>
      team === INSTALLATION_TEAM
        ? call(operatorTokenList, { params: { id: account }, signal })
        : call(serviceTokenList, { params: { id: team, sid: account }, signal }),
  });
}

export function createServiceAccount(
  team: number,
  body: Input<typeof serviceAccountCreate.body>,
): Promise<ServiceAccount> {
  return andRefresh(
    team === INSTALLATION_TEAM
      ? call(operatorAccountCreate, { body })
      : call(serviceAccountCreate, { params: { id: team }, body }),
  );
}

export function switchServiceAccount(team: number, account: number, status: number): Promise<ServiceAccount> {
  const body = { status };
  return andRefresh(
    team === INSTALLATION_TEAM
      ? call(operatorAccountUpdate, { params: { id: account }, body })
      : call(serviceAccountUpdate, { params: { id: team, sid: account }, body }),
  );
}

export function deleteServiceAccount(team: number, account: number): Promise<unknown> {
  return andRefresh(
    team === INSTALLATION_TEAM
      ? call(operatorAccountDelete, { params: { id: account } })
      : call(serviceAccountDelete, { params: { id: team, sid: account } }),
  );
}

/** Returns the text of the new token, which is not shown again. */
export async function createServiceToken(
  team: number,
  account: number,
  body: Input<typeof serviceTokenCreate.body>,
): Promise<string> {
  const made = await andRefresh(
    team === INSTALLATION_TEAM
      ? call(operatorTokenCreate, { params: { id: account }, body })
      : call(serviceTokenCreate, { params: { id: team, sid: account }, body }),
  );
  return made.token;
}

export function deleteServiceToken(team: number, account: number, token: number): Promise<unknown> {
  return andRefresh(
    team === INSTALLATION_TEAM
      ? call(operatorTokenDelete, { params: { id: account, aid: token } })
      : call(serviceTokenDelete, { params: { id: team, sid: account, aid: token } }),
  );
}
