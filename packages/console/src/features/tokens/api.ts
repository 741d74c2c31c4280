import {
  TOKEN_STATUS,
  tokenCreate,
  tokenDelete,
  tokenGet,
  tokenList,
  tokenSetStatus,
  tokenUpdate,
  selfGroups,
  type Token,
  type TokenBudget,
  type TokenInput,
} from "@fairway/wire";
import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { call } from "../../lib/http.ts";
import { queryKeys } from "../../lib/query-keys.ts";
import { FRESH_STATIC_MS, queryClient } from "../../lib/query.ts";
import { changeRow, readRows, readVersion, sortQuery, type Rows, type Version } from "../../lib/rows.ts";
import type { RowChange } from "../../ui/bulk/bulk.ts";

export interface TokenFilter {
  readonly page: number;
  readonly size: number;
  readonly sort: string;
  readonly q: string;
  readonly key: string;
  readonly status: string;
  readonly group: string;
}

export function tokensQuery(filter: TokenFilter) {
  return queryOptions({
    queryKey: queryKeys.tokens.list(filter),
    queryFn: ({ signal }): Promise<Rows<Token>> =>
      readRows(tokenList, {
        query: {
          p: filter.page - 1,
          size: filter.size,
          keyword: filter.q,
          token: filter.key,
          status: filter.status,
          group: filter.group,
          ...sortQuery(filter.sort),
        },
        signal,
      }),
    placeholderData: keepPreviousData,
  });
}

export function tokenQuery(id: number) {
  return queryOptions({
    queryKey: queryKeys.tokens.one(id),
    queryFn: ({ signal }) => readVersion(tokenGet, { params: { id }, signal }),
    // A form starts from the server's current version, not from an older visit.
    gcTime: 0,
    staleTime: Infinity,
  });
}

export const groupsQuery = queryOptions({
  queryKey: queryKeys.groups.own,
  queryFn: ({ signal }) => call(selfGroups, { signal }),
  staleTime: FRESH_STATIC_MS,
});

/** Reloads the list and the pages of tokens. */
export async function refresh(): Promise<void> {
  await Promise.all([
    queryClient.invalidateQueries({ queryKey: queryKeys.tokens.lists }),
    queryClient.invalidateQueries({ queryKey: queryKeys.tokens.allShown }),
  ]);
}

export function setTokenStatus(token: Token, isOn: boolean): Promise<void> {
  const status = isOn ? TOKEN_STATUS.enabled : TOKEN_STATUS.disabled;
  return changeRow<Token>({
    key: queryKeys.tokens.lists,
    row: token,
    patch: { status },
    send: () => call(tokenSetStatus, { query: { status_only: true }, body: { id: token.id, status } }),
  });
}

export function changeToken(kind: RowChange, id: number): Promise<unknown> {
  if (kind === "delete") return call(tokenDelete, { params: { id } });
  const status = kind === "enable" ? TOKEN_STATUS.enabled : TOKEN_STATUS.disabled;
  return call(tokenSetStatus, { query: { status_only: true }, body: { id, status } });
}

const SUFFIX_LENGTH = 6;
const SUFFIX_SIGNS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

function randomSuffix(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(SUFFIX_LENGTH));
  return Array.from(bytes, (byte) => SUFFIX_SIGNS[byte % SUFFIX_SIGNS.length]).join("");
}

/** Returns the names of a batch: every token after the first gets a dash and six random letters or digits. */
export function batchNames(name: string, count: number): string[] {
  return Array.from({ length: count }, (_, index) => (index === 0 ? name : `${name}-${randomSuffix()}`));
}

/** Creates the tokens one after the other; if one is refused, the earlier ones exist. */
export async function createTokens(
  input: TokenInput & { readonly budget?: TokenBudget },
  names: readonly string[],
): Promise<Token[]> {
  const created: Token[] = [];
  try {
    for (const name of names) created.push(await call(tokenCreate, { body: { ...input, name } }));
  } finally {
    await Promise.all([refresh(), queryClient.invalidateQueries({ queryKey: queryKeys.budgets.lists })]);
  }
  return created;
}

/**
 * An unedited spending limit stays as it is on the server: calls may have spent part of it since the form was opened.
 */
export async function updateToken(
  { row: { id, remain_quota }, tag }: Version<Token>,
  input: TokenInput,
  isLimitEdited: boolean,
): Promise<Token> {
  const limit = isLimitEdited ? {} : { remain_quota, original_remain_quota: remain_quota };
  const saved = await call(tokenUpdate, { body: { ...input, ...limit, id }, ifMatch: tag });
  await refresh();
  return saved;
}

export async function deleteToken(token: Token): Promise<void> {
  await call(tokenDelete, { params: { id: token.id } });
  await refresh();
}
