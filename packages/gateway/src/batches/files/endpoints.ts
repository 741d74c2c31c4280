import type { Dialect, Operation } from "../../dialects/core/types.ts";
import { openaiChat } from "../../dialects/openai-chat/index.ts";
import { openaiResponses } from "../../dialects/openai-responses/index.ts";
import { openaiCompletions } from "../../dialects/endpoints/openai-completions.ts";
import { openaiEmbeddings } from "../../dialects/endpoints/openai-embeddings.ts";
import { openaiImages } from "../../dialects/endpoints/openai-images.ts";
import { openaiModerations } from "../../dialects/endpoints/openai-moderations.ts";

/** How the items of an endpoint are read. */
export interface Endpoint {
  readonly operation: Operation;
  readonly dialect: Dialect;
}

/** By path, as clients name it; dated versions of Azure have no version in their paths. */
export const ENDPOINTS: ReadonlyMap<string, Endpoint> = new Map<string, Endpoint>([
  ["/chat/completions", { operation: "chat", dialect: openaiChat }],
  ["/embeddings", { operation: "embeddings", dialect: openaiEmbeddings }],
  ["/v1/chat/completions", { operation: "chat", dialect: openaiChat }],
  ["/v1/responses", { operation: "responses", dialect: openaiResponses }],
  ["/v1/completions", { operation: "completions", dialect: openaiCompletions }],
  ["/v1/embeddings", { operation: "embeddings", dialect: openaiEmbeddings }],
  ["/v1/moderations", { operation: "moderations", dialect: openaiModerations }],
  ["/v1/images/generations", { operation: "images.generations", dialect: openaiImages }],
  ["/v1/images/edits", { operation: "images.edits", dialect: openaiImages }],
]);
