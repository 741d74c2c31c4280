import type { Bridge } from "../../types.ts";
import { fromChat } from "./answer.ts";
import { toChat } from "./request.ts";
import { ChunksToResponse } from "./stream.ts";

/** Responses clients on upstreams that speak chat completions. */
export const responsesToChat: Bridge = {
  client: "openai-responses",
  upstream: "openai-chat",
  request: toChat,
  response: fromChat,
  stream: (context) => new ChunksToResponse(context),
};
