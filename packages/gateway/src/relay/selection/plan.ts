import { dialectById } from "../../dialects/index.ts";
import { findBridges } from "../../dialects/find-bridges.ts";
import type { Bridge } from "../../dialects/core/bridge.ts";
import type { RequestSpec, Body, Dialect, DialectId, Operation } from "../../dialects/core/types.ts";
import { providerByType } from "../../providers/registry.ts";
import type { ChannelRecord, ProviderAdapter, UpstreamRoute } from "../../providers/core/types.ts";

/** How one channel type serves one client protocol: a route of the provider and 0 to 2 conversions. */
export interface Plan {
  readonly provider: ProviderAdapter;
  readonly route: UpstreamRoute;
  /** Empty if both sides speak the same protocol: bytes pass through. */
  readonly bridges: readonly Bridge[];
  /** Protocol of the upstream's answers; undefined for private protocols without a dialect object. */
  readonly upstreamDialect: Dialect | undefined;
}

/** By channel type, operation and dialect: a joined key would be a new text for every request. */
const plans = new Map<number, Map<Operation, Map<DialectId, readonly Plan[]>>>();

/** Returns the first route that can serve the request, native ones first; undefined if the channel cannot. */
export function planFor(
  channel: ChannelRecord,
  spec: RequestSpec,
  upstreamModel: string,
  body?: Body,
): Plan | undefined {
  for (const plan of knownPlans(channel.type, spec)) {
    if (plan.route.when === undefined || plan.route.when(spec, upstreamModel, channel, body)) return plan;
  }
  return undefined;
}

/** Returns the plan over this protocol of the upstream; undefined if the channel has none. */
export function planOver(
  dialect: DialectId,
  { channel, upstreamModel }: { readonly channel: ChannelRecord; readonly upstreamModel: string },
  spec: RequestSpec,
): Plan | undefined {
  return knownPlans(channel.type, spec).find(
    ({ route }) => route.dialect === dialect && route.when?.(spec, upstreamModel, channel) !== false,
  );
}

function knownPlans(type: number, spec: RequestSpec): readonly Plan[] {
  const { operation, dialect } = spec;
  const known = plans.get(type)?.get(operation)?.get(dialect);
  if (known) return known;
  const byOperation = plans.get(type) ?? new Map<Operation, Map<DialectId, readonly Plan[]>>();
  const byDialect = byOperation.get(operation) ?? new Map<DialectId, readonly Plan[]>();
  const listed = listPlans(type, spec);
  plans.set(type, byOperation.set(operation, byDialect.set(dialect, listed)));
  return listed;
}

function listPlans(type: number, spec: RequestSpec): Plan[] {
  const provider = providerByType(type);
  if (!provider) return [];
  const native: Plan[] = [];
  const bridged: Plan[] = [];
  for (const route of provider.speaks) {
    const upstreamDialect = dialectById(route.dialect);
    if (route.dialect === spec.dialect) {
      if (route.operation === spec.operation) native.push({ provider, route, bridges: [], upstreamDialect });
      continue;
    }
    const bridges = findBridges(spec.dialect, route.dialect, provider.bridges ?? []);
    if (bridges && bridges.length > 0) bridged.push({ provider, route, bridges, upstreamDialect });
  }
  return [...native, ...bridged.toSorted((a, b) => a.bridges.length - b.bridges.length)];
}
