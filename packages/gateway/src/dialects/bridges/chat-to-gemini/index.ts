import type { Bridge } from "../../core/bridge.ts";
import { fromGemini } from "./answer.ts";
import { toGemini } from "./request.ts";
import { CandidatesToChunks } from "./stream.ts";

/** Chat clients on upstreams that speak Gemini's generateContent. */
export const chatToGemini: Bridge = {
  client: "openai-chat",
  upstream: "gemini-generate",
  hosted: ["web_search", "web_fetch", "code_execution"],
  request: toGemini,
  response: fromGemini,
  stream: (context) => new CandidatesToChunks(context),
};
