import type { Bridge } from "../../types.ts";
import { withPlainCallIds } from "../parts/call-extras.ts";
import { fromResponses } from "./answer.ts";
import { toResponses } from "./request.ts";
import { ResponseToChunks } from "./stream.ts";

/** Chat clients on Responses: OpenAI's reasoning models take function tools nowhere else. */
export const chatToResponses: Bridge = {
  client: "openai-chat",
  upstream: "openai-responses",
  request: (body, context) => toResponses(withPlainCallIds(body), context),
  response: fromResponses,
  stream: (context) => new ResponseToChunks(context),
};
