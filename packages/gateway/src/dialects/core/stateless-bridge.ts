import type { Bridge, BridgeContext, Conversion, StreamBridge } from "./bridge.ts";
import type { JsonObject } from "./types.ts";

/** A bridge as three functions. */
export interface StatelessBridge extends Omit<Bridge, "begin"> {
  request(body: JsonObject, context: BridgeContext): JsonObject;
  response(body: JsonObject, context: BridgeContext): JsonObject;
  stream(context: BridgeContext): StreamBridge;
}

/** Builds a bridge whose answers need nothing of their requests. */
export function statelessBridge({ request, response, stream, ...named }: StatelessBridge): Bridge {
  return {
    ...named,
    begin: (context): Conversion => ({
      request: (body) => request(body, context),
      response: (body) => response(body, context),
      stream: () => stream(context),
    }),
  };
}
