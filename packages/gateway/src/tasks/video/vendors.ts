import { allProviders, providerByType } from "../../providers/registry.ts";
import type { ChannelRecord, ProviderAdapter } from "../../providers/core/types.ts";
import type { VideoTasks } from "../../providers/core/video.ts";

export interface VideoVendor {
  readonly provider: ProviderAdapter;
  readonly videos: VideoTasks;
}

/** Vendors of videos, by ascending channel type. */
export const videoVendors: readonly VideoVendor[] = allProviders.flatMap((provider) =>
  provider.videos ? [{ provider, videos: provider.videos }] : [],
);

const byId = new Map(videoVendors.map((vendor) => [vendor.provider.id, vendor]));

/** Finds a vendor by its name in routes and in the task table. */
export function videoVendor(id: string): VideoVendor | undefined {
  return byId.get(id);
}

export function findVendor({ type }: ChannelRecord): VideoVendor | undefined {
  return byId.get(providerByType(type)?.id ?? "");
}
