import type { Bridge, BridgeContext, Conversion, StreamBridge } from "../../core/bridge.ts";
import type { JsonObject } from "../../core/types.ts";
import { SourcedStream, withSources } from "../parts/content/sources.ts";
import { fromChat } from "./answer.ts";
import { readAsked, type AskedMessage } from "./asked.ts";
import { toChat } from "./request.ts";
import { ChunksToMessage } from "./stream.ts";

/** Anthropic clients on upstreams that speak chat completions. */
export const anthropicToChat: Bridge = {
  client: "anthropic-messages",
  upstream: "openai-chat",
  begin: (context) => new AnthropicToChat(context),
};

class AnthropicToChat implements Conversion {
  readonly #context: BridgeContext;
  #asked: AskedMessage = readAsked({});

  constructor(context: BridgeContext) {
    this.#context = context;
  }

  request(body: JsonObject): JsonObject {
    this.#asked = readAsked(body);
    return toChat(body, this.#context);
  }

  response(body: JsonObject): JsonObject {
    return fromChat(withSources(body), this.#context, this.#asked);
  }

  stream(): StreamBridge {
    return new SourcedStream(new ChunksToMessage(this.#context, this.#asked));
  }
}
