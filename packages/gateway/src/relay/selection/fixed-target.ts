import type { RouteTarget, Selection } from "./types.ts";

/**
 * A selection with one target: the channel was named, or stores what the request continues. It is looked up again for
 * a request that has waited; `find` throws where the channel may not serve any more.
 */
export function fixedTarget(find: () => RouteTarget): Selection {
  const found = find();
  let left: RouteTarget | undefined = found;
  return {
    next() {
      const once = left;
      left = undefined;
      return once;
    },
    failed: () => undefined,
    full: () => undefined,
    reopen: find,
    lastResort: () => undefined,
    unused: () => undefined,
    candidates() {
      const { channel, group } = found;
      return { entries: [[channel.id, group, channel.priority, channel.weight, ""]], open: 1, total: 1 };
    },
    isExhausted: true,
    restsForMs: undefined,
  };
}
