import { channelBetas, channelFilters, channelFiltersForget } from "@fairway/wire";
import { implement, type Call, type Route } from "../../../http/endpoint.ts";
import type { Clock } from "../../../lib/clock.ts";
import { Refusal } from "../../../lib/refusal.ts";
import type { ChannelRecord } from "../../../providers/core/types.ts";
import { forgetLearned, listLearned } from "../../../relay/conversion/learned-filters.ts";
import type { BetasProbed } from "../../../relay/pipeline/probe-betas.ts";
import { checkTestedModel } from "../destination.ts";
import type { LogTest } from "../test-log.ts";
import type { ChannelUpstream } from "../upstream.ts";

/** Tests which betas the channel accepts; returns undefined for a channel without betas. */
export type ProbeBetas = (channel: ChannelRecord, model: string | undefined) => Promise<BetasProbed | undefined>;

export interface FilterRoutesDeps {
  readonly upstream: Pick<ChannelUpstream, "stored">;
  readonly probeBetas: ProbeBetas;
  readonly logTest: LogTest;
  readonly clock: Clock;
}

/**
 * Creates the routes for the names that are removed from a channel's calls because its host refuses them, and for the
 * names that it accepts.
 */
export function filterRoutes(deps: FilterRoutesDeps): Route[] {
  const { upstream, clock } = deps;
  return [
    implement(channelFilters, async ({ params }) =>
      listLearned(await upstream.stored(params.id), clock.now()).map((one) => ({
        ...one,
        since: Math.floor(one.since / 1000),
        until: Math.floor(one.until / 1000),
      })),
    ),
    implement(channelFiltersForget, async ({ params, query }) => {
      const only = { model: query.model || undefined, name: query.name || undefined };
      return forgetLearned(await upstream.stored(params.id), only, clock.now());
    }),
    implement(channelBetas, (call) => askForBetas(deps, call)),
  ];
}

async function askForBetas(
  { upstream, probeBetas, logTest }: FilterRoutesDeps,
  { params, body, caller }: Call<typeof channelBetas>,
) {
  const channel = await upstream.stored(params.id);
  const model = body.model || undefined;
  if (model !== undefined) checkTestedModel(caller, channel, model);
  const probed = await probeBetas(channel, model);
  if (!probed) throw new Refusal("channel_without_betas");
  const { plain, host, betas } = probed;
  await logTest(params.id, caller, plain);
  return { ok: plain.isOk, message: plain.message, host, model: plain.model, betas: [...betas] };
}
