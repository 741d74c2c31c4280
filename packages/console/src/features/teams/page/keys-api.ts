import {
  teamTokenCreate,
  teamTokenDelete,
  teamTokenGet,
  teamTokenList,
  teamTokenRotate,
  teamTokenSetStatus,
  teamTokenUpdate,
  TOKEN_STATUS,
  type RotatedKey,
  type TeamToken,
  type TokenInput,
} from "@fairway/wire";
import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { call } from "../../../lib/http.ts";
import { queryKeys } from "../../../lib/query-keys.ts";
import { readRows, readVersion, type Rows, type Version } from "../../../lib/rows.ts";
import { andRefresh } from "../api.ts";

export interface KeyFilter {
  readonly page: number;
  readonly size: number;
  readonly q: string;
}

export function keysQuery(team: number, filter: KeyFilter) {
  return queryOptions({
    queryKey: queryKeys.teams.inside(team, "keys", filter),
    queryFn: ({ signal }): Promise<Rows<TeamToken>> =>
      readRows(teamTokenList, {
        params: { id: team },
        query: { p: filter.page - 1, page_size: filter.size, keyword: filter.q },
        signal,
      }),
    placeholderData: keepPreviousData,
  });
}

export function readKey(team: number, key: number): Promise<Version<TeamToken>> {
  return readVersion(teamTokenGet, { params: { id: team, tid: key } });
}

/** Makes a key that the reader holds, or a service account. */
export function createKey(team: number, input: TokenInput, serviceAccount: number): Promise<TeamToken> {
  const body = { ...input, ...(serviceAccount > 0 && { service_account_id: serviceAccount }) };
  return andRefresh(call(teamTokenCreate, { params: { id: team }, body }));
}

/** The spending limit moves by the difference to the one of the form, because calls may have spent some meanwhile. */
export function updateKey(team: number, { row, tag }: Version<TeamToken>, input: TokenInput): Promise<TeamToken> {
  const body = { ...input, original_remain_quota: row.remain_quota };
  return andRefresh(call(teamTokenUpdate, { params: { id: team, tid: row.id }, body, ifMatch: tag }));
}

export function setKeyStatus(team: number, { id }: TeamToken, isOn: boolean): Promise<TeamToken> {
  const status = isOn ? TOKEN_STATUS.enabled : TOKEN_STATUS.disabled;
  return andRefresh(call(teamTokenSetStatus, { params: { id: team, tid: id }, body: { status } }));
}

export function deleteKey(team: number, { id }: TeamToken): Promise<unknown> {
  return andRefresh(call(teamTokenDelete, { params: { id: team, tid: id } }));
}

export function rotateKey(team: number, { id }: TeamToken, graceSeconds: number): Promise<RotatedKey> {
  const body = { grace_seconds: graceSeconds };
  return andRefresh(call(teamTokenRotate, { params: { id: team, tid: id }, body }));
}
