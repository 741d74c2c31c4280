import type { Bridge, BridgeContext, Conversion, StreamBridge } from "../../core/bridge.ts";
import type { JsonObject } from "../../core/types.ts";
import { SourcedStream, withSources } from "../parts/content/sources.ts";
import { fromChat } from "./answer.ts";
import { NOTHING_ASKED, type AnswerContext } from "./asked.ts";
import { toChat } from "./request.ts";
import { ChunksToResponse } from "./stream.ts";

/** Responses clients on upstreams that speak chat completions. */
export const responsesToChat: Bridge = {
  client: "openai-responses",
  upstream: "openai-chat",
  begin: (context) => new ResponsesToChat(context),
};

class ResponsesToChat implements Conversion {
  #answer: AnswerContext;

  constructor(context: BridgeContext) {
    this.#answer = { context, ...NOTHING_ASKED };
  }

  request(body: JsonObject): JsonObject {
    const { context } = this.#answer;
    const { chat, asked } = toChat(body, context);
    this.#answer = { context, ...asked };
    return chat;
  }

  response(body: JsonObject): JsonObject {
    return fromChat(withSources(body), this.#answer);
  }

  stream(): StreamBridge {
    return new SourcedStream(new ChunksToResponse(this.#answer));
  }
}
