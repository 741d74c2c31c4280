import { channelTypes, modelsByType } from "@fairway/wire";
import { implement, type Route } from "../../http/endpoint.ts";
import type { ProviderAdapter } from "../../providers/core/types.ts";
import { listChannelTypes, groupModelsByType } from "./catalogue.ts";

export interface ModelRoutesDeps {
  /** Sorted by type, ascending. */
  readonly providers: readonly ProviderAdapter[];
}

export function modelRoutes({ providers }: ModelRoutesDeps): Route[] {
  const byType = groupModelsByType(providers);
  const types = listChannelTypes(providers);
  return [implement(modelsByType, () => byType), implement(channelTypes, () => types)];
}
