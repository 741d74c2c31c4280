import { pauseCreate, pauseList, pauseResume, type CallInput, type ChannelPause } from "@fairway/wire";
import { queryOptions } from "@tanstack/react-query";
import { call } from "../../lib/http.ts";
import { queryKeys } from "../../lib/query-keys.ts";
import { refreshChannels } from "./api.ts";

const REFRESH_MS = 30_000;

/** Pauses that last. */
export const pausesQuery = queryOptions({
  queryKey: queryKeys.channels.pauses,
  queryFn: async ({ signal }) => (await call(pauseList, { signal })).filter(({ ended_at: at }) => at === 0),
  refetchInterval: REFRESH_MS,
});

export type NewPause = NonNullable<CallInput<typeof pauseCreate>["body"]>;

export async function createPause(body: NewPause): Promise<ChannelPause> {
  const pause = await call(pauseCreate, { body });
  await refreshChannels();
  return pause;
}

export async function resumePause(id: number): Promise<ChannelPause> {
  const pause = await call(pauseResume, { params: { id } });
  await refreshChannels();
  return pause;
}
