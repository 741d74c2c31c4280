import { isSet } from "../../dialects/core/read.ts";
import type { Bridge } from "../../dialects/core/bridge.ts";
import type { JsonObject } from "../../dialects/core/types.ts";

/**
 * Builds a conversion for operations that never stream; events pass unchanged. Members that it does not read are
 * reported as dropped.
 */
export function unaryBridge(bridge: Omit<Bridge, "stream">): Bridge {
  return {
    ...bridge,
    request(body, context) {
      const read = new Set<string>(OF_THE_GATEWAY);
      const request = bridge.request(watchReads(body, read), context);
      for (const name of Object.keys(body)) {
        if (!read.has(name) && !name.startsWith("fw_") && isSet(body[name])) context.dropped(name);
      }
      return request;
    },
    stream: () => ({ event: (event) => [event], end: () => [] }),
  };
}

/** Members that the gateway itself uses for renaming, routing and encoding. */
const OF_THE_GATEWAY = ["model", "stream", "encoding_format", "group"];

/** Wraps the object in one that records the names of the members that are read. */
function watchReads(body: JsonObject, read: Set<string>): JsonObject {
  return new Proxy(body, {
    get(target, name, receiver) {
      if (typeof name === "string") read.add(name);
      return Reflect.get(target, name, receiver) as unknown;
    },
  });
}
