import type { LogFacets } from "@fairway/wire";
import type { Counts, FacetCounts } from "../statistics/facet-counts.ts";

/** The counts for the facets. */
export interface CountedFacets {
  readonly counts: FacetCounts;
  /** False if rows were left out. */
  readonly isComplete: boolean;
}

const VALUES_PER_FACET = 20;

/** Returns the most frequent values of each column; owners see neither channels nor users. */
export function buildFacets(
  { counts, isComplete }: CountedFacets,
  channelNames: ReadonlyMap<number, string> | "owner",
): LogFacets {
  const isOwner = channelNames === "owner";
  return {
    complete: isComplete,
    models: sortByFrequency(counts.models),
    tokens: sortByFrequency(counts.tokens),
    groups: sortByFrequency(counts.groups),
    types: sortByFrequency(counts.types),
    channels: isOwner
      ? []
      : sortByFrequency(counts.channels).map((channel) => ({
          ...channel,
          name: channelNames.get(Number(channel.value)) ?? "",
        })),
    users: isOwner ? [] : sortByFrequency(counts.users),
    codes: sortByFrequency(counts.codes),
    statuses: sortByFrequency(counts.statuses),
  };
}

/** Returns the ids of the channels in the counts. */
export function facetChannels({ counts }: CountedFacets): number[] {
  return sortByFrequency(counts.channels).map(({ value }) => Number(value));
}

function sortByFrequency(counts: Counts): { value: string; count: number }[] {
  return [...counts]
    .map(([value, count]) => ({ value, count }))
    .sort((a, b) => b.count - a.count || (a.value < b.value ? -1 : 1))
    .slice(0, VALUES_PER_FACET);
}
