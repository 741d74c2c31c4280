import { isSet } from "../../dialects/core/read.ts";
import type { Bridge, BridgeContext, Conversion, StreamBridge } from "../../dialects/core/bridge.ts";
import { statelessBridge, type StatelessBridge } from "../../dialects/core/stateless-bridge.ts";
import type { JsonObject } from "../../dialects/core/types.ts";

/** The stream of an operation that never streams: events pass unchanged. */
const NO_STREAM: StreamBridge = { event: (event) => [event], end: () => [] };

/** Builds a stateless bridge for operations that never stream. Members that it does not read are reported as dropped. */
export function unaryBridge({ request, ...bridge }: Omit<StatelessBridge, "stream">): Bridge {
  return statelessBridge({
    ...bridge,
    request: (body, context) => convertWatched(body, context, (watched) => request(watched, context)),
    stream: () => NO_STREAM,
  });
}

/** Like `unaryBridge`, for answers that need something of their request. */
export function unaryConversion(context: BridgeContext, { request, response }: Omit<Conversion, "stream">): Conversion {
  return { request: (body) => convertWatched(body, context, request), response, stream: () => NO_STREAM };
}

function convertWatched(
  body: JsonObject,
  context: BridgeContext,
  convert: (watched: JsonObject) => JsonObject,
): JsonObject {
  const read = new Set<string>(OF_THE_GATEWAY);
  const converted = convert(watchReads(body, read));
  for (const name of Object.keys(body)) {
    if (!read.has(name) && !name.startsWith("fw_") && isSet(body[name])) context.dropped(name);
  }
  return converted;
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
