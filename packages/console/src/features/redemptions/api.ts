import {
  REDEMPTION_STATUS,
  redemptionCreate,
  redemptionDelete,
  redemptionGet,
  redemptionList,
  redemptionSearch,
  redemptionSetStatus,
  redemptionUpdate,
  userGet,
  type Redemption,
} from "@fairway/wire";
import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { call } from "../../lib/http.ts";
import { queryKeys } from "../../lib/query-keys.ts";
import { queryClient } from "../../lib/query.ts";
import { changeRow, readRows, readVersion, sortQuery, type Rows, type Version } from "../../lib/rows.ts";
import type { RowChange } from "../../ui/bulk/bulk.ts";

export interface RedemptionFilter {
  readonly page: number;
  readonly size: number;
  readonly sort: string;
  readonly q: string;
  readonly status: string;
}

export function redemptionsQuery(filter: RedemptionFilter) {
  const { page, size, q, status, sort } = filter;
  return queryOptions({
    queryKey: queryKeys.redemptions.list(filter),
    queryFn: ({ signal }): Promise<Rows<Redemption>> =>
      readRows(q === "" ? redemptionList : redemptionSearch, {
        query: { p: page - 1, page_size: size, keyword: q, status, ...sortQuery(sort) },
        signal,
      }),
    placeholderData: keepPreviousData,
  });
}

export function redemptionQuery(id: number) {
  return queryOptions({
    queryKey: queryKeys.redemptions.one(id),
    queryFn: ({ signal }) => readVersion(redemptionGet, { params: { id }, signal }),
    // A form starts from the server's current version, not from an older visit.
    gcTime: 0,
    staleTime: Infinity,
  });
}

/** The current code; its form reads its own copy. */
export function shownCodeQuery(id: number) {
  return queryOptions({
    queryKey: queryKeys.redemptions.shown(id),
    queryFn: async ({ signal }): Promise<Rows<Redemption>> => {
      return { rows: [await call(redemptionGet, { params: { id }, signal })], total: 1 };
    },
  });
}

/** The user who created or redeemed a code. */
export function personQuery(id: number) {
  return queryOptions({
    queryKey: queryKeys.users.shown(id),
    queryFn: ({ signal }) => call(userGet, { params: { id }, signal }),
    retry: false,
  });
}

/** Reloads the list. */
export function refresh(): Promise<void> {
  return queryClient.invalidateQueries({ queryKey: queryKeys.redemptions.lists });
}

/** Creates `count` codes of one value, all or none. */
export async function createCodes(name: string, quota: number, count: number): Promise<readonly string[]> {
  const codes = await call(redemptionCreate, { body: { name, quota, count } });
  await refresh();
  return codes;
}

export async function saveCode({ row, tag }: Version<Redemption>, name: string, quota: number): Promise<void> {
  await call(redemptionUpdate, { body: { id: row.id, name, quota }, ifMatch: tag });
  await refresh();
}

export function setCodeStatus(row: Redemption, isOn: boolean): Promise<void> {
  const status = isOn ? REDEMPTION_STATUS.unused : REDEMPTION_STATUS.disabled;
  return changeRow<Redemption>({
    key: queryKeys.redemptions.lists,
    row,
    patch: { status },
    send: () => call(redemptionSetStatus, { query: { status_only: true }, body: { id: row.id, status } }),
  });
}

export function changeCode(kind: RowChange, id: number): Promise<unknown> {
  if (kind === "delete") return call(redemptionDelete, { params: { id } });
  const status = kind === "enable" ? REDEMPTION_STATUS.unused : REDEMPTION_STATUS.disabled;
  return call(redemptionSetStatus, { query: { status_only: true }, body: { id, status } });
}

export async function deleteCode(row: Redemption): Promise<void> {
  await call(redemptionDelete, { params: { id: row.id } });
  await refresh();
}
