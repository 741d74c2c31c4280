import {
  optionBatch,
  optionList,
  optionReset,
  selfAccessToken,
  selfSessionEnd,
  selfSessions,
  selfSessionsEnd,
  selfUpdate,
} from "@fairway/wire";
import { queryOptions } from "@tanstack/react-query";
import { call } from "../../lib/http.ts";
import { queryClient } from "../../lib/query.ts";

const OPTIONS_KEY = ["options"] as const;

export const optionsQuery = queryOptions({
  queryKey: OPTIONS_KEY,
  queryFn: async ({ signal }): Promise<Readonly<Record<string, string>>> =>
    Object.fromEntries((await call(optionList, { signal })).map(({ key, value }) => [key, value])),
});

/** Saves all of them or none; what everybody sees of the options is read anew. */
export async function saveOptions(changes: Readonly<Record<string, string>>): Promise<void> {
  await call(optionBatch, { body: Object.entries(changes).map(([key, value]) => ({ key, value })) });
  await Promise.all([
    queryClient.invalidateQueries({ queryKey: OPTIONS_KEY }),
    queryClient.invalidateQueries({ queryKey: ["status"] }),
  ]);
}

export async function resetRatios(): Promise<void> {
  await call(optionReset, {});
  await queryClient.invalidateQueries({ queryKey: OPTIONS_KEY });
}

function refreshSelf(): Promise<void> {
  return queryClient.invalidateQueries({ queryKey: ["self"] });
}

export async function saveProfile(profile: { username: string; display_name: string }): Promise<void> {
  await call(selfUpdate, { body: profile });
  await refreshSelf();
}

export async function changePassword(password: string): Promise<void> {
  await call(selfUpdate, { body: { password } });
}

export function makeAccessToken(): Promise<string> {
  return call(selfAccessToken, {});
}

const SESSIONS_KEY = ["self", "sessions"] as const;

export const sessionsQuery = queryOptions({
  queryKey: SESSIONS_KEY,
  queryFn: ({ signal }) => call(selfSessions, { signal }),
});

export async function endSession(id: string): Promise<void> {
  await call(selfSessionEnd, { params: { id } });
  await queryClient.invalidateQueries({ queryKey: SESSIONS_KEY });
}

export async function endOtherSessions(): Promise<void> {
  await call(selfSessionsEnd, {});
  await queryClient.invalidateQueries({ queryKey: SESSIONS_KEY });
}
