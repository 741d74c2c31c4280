import {
  identityProviderCreate,
  identityProviderDelete,
  identityProviderGet,
  identityProviderIdentities,
  identityProviderList,
  identityProviderScimToken,
  identityProviderScimTokenDelete,
  identityProviderTest,
  identityProviderUpdate,
  type IdentityProvider,
  type IdentityProviderChange,
  type IdentityProviderTest,
  type LinkedIdentity,
  type NewIdentityProvider,
} from "@fairway/wire";
import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { call } from "../../lib/http.ts";
import { queryKeys } from "../../lib/query-keys.ts";
import { queryClient } from "../../lib/query.ts";
import { readRows, readVersion, type Rows, type Version } from "../../lib/rows.ts";

export const LIST_PATH = "/identity-provider";

export const providersQuery = queryOptions({
  queryKey: queryKeys.identityProviders.list,
  queryFn: ({ signal }): Promise<IdentityProvider[]> => call(identityProviderList, { signal }),
});

export function shownProviderQuery(id: number) {
  return queryOptions({
    queryKey: queryKeys.identityProviders.shown(id),
    queryFn: ({ signal }): Promise<IdentityProvider> => call(identityProviderGet, { params: { id }, signal }),
  });
}

export function editedProviderQuery(id: number) {
  return queryOptions({
    queryKey: queryKeys.identityProviders.one(id),
    queryFn: ({ signal }) => readVersion(identityProviderGet, { params: { id }, signal }),
    // A form starts from the server's current version, not from an older visit.
    gcTime: 0,
    staleTime: Infinity,
  });
}

export function linkedQuery(id: number, { page, size }: { readonly page: number; readonly size: number }) {
  return queryOptions({
    queryKey: queryKeys.identityProviders.linked(id, page, size),
    queryFn: ({ signal }): Promise<Rows<LinkedIdentity>> =>
      readRows(identityProviderIdentities, { params: { id }, query: { p: page - 1, page_size: size }, signal }),
    placeholderData: keepPreviousData,
  });
}

function refresh(): Promise<void> {
  return queryClient.invalidateQueries({ queryKey: queryKeys.identityProviders.all });
}

export async function createProvider(body: NewIdentityProvider): Promise<IdentityProvider> {
  const made = await call(identityProviderCreate, { body });
  await refresh();
  return made;
}

export async function saveProvider({ row, tag }: Version<IdentityProvider>, body: IdentityProviderChange) {
  await call(identityProviderUpdate, { params: { id: row.id }, body, ifMatch: tag });
  await refresh();
}

export async function setProviderStatus(id: number, status: IdentityProvider["status"]): Promise<void> {
  await call(identityProviderUpdate, { params: { id }, body: { status } });
  await refresh();
}

export async function deleteProvider(id: number): Promise<void> {
  await call(identityProviderDelete, { params: { id } });
  await queryClient.invalidateQueries({ queryKey: queryKeys.identityProviders.list });
}

export function testProvider(id: number, claims: Record<string, unknown>): Promise<IdentityProviderTest> {
  return call(identityProviderTest, { params: { id }, body: { claims } });
}

/** Makes a token for the directory and returns it: it is never sent again. */
export async function makeDirectoryToken(id: number): Promise<string> {
  const { token } = await call(identityProviderScimToken, { params: { id } });
  await refresh();
  return token;
}

export async function endDirectoryTokens(id: number): Promise<void> {
  await call(identityProviderScimTokenDelete, { params: { id } });
  await refresh();
}
