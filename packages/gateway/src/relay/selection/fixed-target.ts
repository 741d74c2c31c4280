import type { RouteTarget, Selection } from "./select.ts";

/**
 * A selection without a choice: the channel was named, or keeps what the request goes on from. It is looked up again for
 * whoever has waited; `find` throws where it may not serve any more.
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
