import type { Bridge, BridgeContext, Conversion, StreamBridge } from "../../core/bridge.ts";
import type { JsonObject } from "../../core/types.ts";
import { fromGemini } from "./answer.ts";
import { toGemini } from "./request.ts";
import { readSoundFormat, type SoundFormat } from "./sound.ts";
import { CandidatesToChunks } from "./stream.ts";

/** Chat clients on upstreams that speak Gemini's generateContent. */
export const chatToGemini: Bridge = {
  client: "openai-chat",
  upstream: "gemini-generate",
  hosted: ["web_search", "web_fetch", "code_execution"],
  begin: (context) => new ChatToGemini(context),
};

class ChatToGemini implements Conversion {
  readonly #context: BridgeContext;
  #sound: SoundFormat = "pcm16";

  constructor(context: BridgeContext) {
    this.#context = context;
  }

  request(body: JsonObject): JsonObject {
    this.#sound = readSoundFormat(body, this.#context);
    return toGemini(body, this.#context);
  }

  response(body: JsonObject): JsonObject {
    return fromGemini(body, this.#context, this.#sound);
  }

  stream(): StreamBridge {
    return new CandidatesToChunks(this.#context);
  }
}
