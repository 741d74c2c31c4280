import { pauseCreate, pauseList, pauseResume, type ChannelPause } from "@fairway/wire";
import { implement, type Call, type Route } from "../../http/endpoint.ts";
import { seconds, type Clock } from "../../lib/clock.ts";
import { withDefaults } from "../../lib/defaults.ts";
import { Refusal } from "../../lib/refusal.ts";
import { isNarrow, NO_FILTER, type ChannelFilter } from "../channels/query.ts";
import type { PauseRow, PauseStore } from "./store.ts";

export interface PauseRoutesDeps {
  readonly store: PauseStore;
  readonly clock: Clock;
  /** Returns the ids of the channels that match. */
  readonly findChannels: (filter: ChannelFilter) => Promise<number[]>;
}

export function pauseRoutes({ store, clock, findChannels }: PauseRoutesDeps): Route[] {
  const show = async (row: PauseRow): Promise<ChannelPause> => {
    const [shown] = await store.show([row]);
    if (!shown) throw new Refusal("pause_not_found");
    return shown;
  };
  const require = async (id: number): Promise<PauseRow> => {
    const row = await store.find(id);
    if (!row) throw new Refusal("pause_not_found");
    return row;
  };
  return [
    implement(pauseList, async () => store.show([...(await store.listRunning()), ...(await store.listEnded())])),
    implement(pauseCreate, async ({ body, caller }) => {
      const { for_seconds: span = 0, until_tests: untilTests = false, reason = "" } = body;
      const id = await store.create(await select(findChannels, body), {
        userId: caller.userId,
        username: caller.username,
        reason: reason.trim(),
        until: span === 0 ? 0 : seconds(clock) + span,
        untilTests,
      });
      if (id === undefined) throw new Refusal("pause_empty", { field: "ids" });
      return show(await require(id));
    }),
    implement(pauseResume, async ({ params }) => {
      const row = await require(params.id);
      // One that has ended stays as it is: a second click changes nothing.
      if (row.ended_at === 0) {
        await store.resume(row);
        await store.end(row.id, "person");
      }
      return show(await require(params.id));
    }),
  ];
}

/** Returns the channels of the call; a filter without conditions would select all of them, so it selects none. */
async function select(
  findChannels: PauseRoutesDeps["findChannels"],
  { ids, filter }: Call<typeof pauseCreate>["body"],
): Promise<readonly number[]> {
  if (ids && ids.length > 0) return ids;
  const wanted = withDefaults(NO_FILTER, filter ?? {});
  return isNarrow(wanted) ? findChannels(wanted) : [];
}
