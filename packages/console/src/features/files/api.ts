import { fileDelete, fileList, fileListSelf, fileUsage, type StoredFile } from "@fairway/wire";
import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { call } from "../../lib/http.ts";
import { queryKeys } from "../../lib/query-keys.ts";
import { queryClient } from "../../lib/query.ts";
import { readRows, sortQuery, type Rows } from "../../lib/rows.ts";

export interface FileFilter {
  readonly page: number;
  readonly size: number;
  readonly sort: string;
  readonly purpose: string;
  readonly dialect: string;
  readonly state: string;
}

export function filesQuery(filter: FileFilter, isAdmin: boolean) {
  const { page, size, purpose, dialect, state, sort } = filter;
  return queryOptions({
    queryKey: queryKeys.files.list(filter, isAdmin),
    queryFn: async ({ signal }): Promise<Rows<StoredFile>> => {
      const query = { p: page - 1, page_size: size, purpose, dialect, state, ...sortQuery(sort) };
      return readRows(isAdmin ? fileList : fileListSelf, { query, signal });
    },
    placeholderData: keepPreviousData,
  });
}

export const usageQuery = queryOptions({
  queryKey: queryKeys.files.usage,
  queryFn: ({ signal }) => call(fileUsage, { signal }),
});

export async function deleteFile(id: string): Promise<void> {
  await call(fileDelete, { params: { id } });
  await queryClient.invalidateQueries({ queryKey: queryKeys.files.all });
}
