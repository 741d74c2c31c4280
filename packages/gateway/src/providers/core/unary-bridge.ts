import type { Bridge } from "../../dialects/core/types.ts";

/** A conversion for operations that never stream; events pass unchanged. */
export function unaryBridge(bridge: Omit<Bridge, "stream">): Bridge {
  return { ...bridge, stream: () => ({ event: (event) => [event], end: () => [] }) };
}
