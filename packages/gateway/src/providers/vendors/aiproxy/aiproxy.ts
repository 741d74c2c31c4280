import type { Bridge, BridgeContext, StreamBridge } from "../../../dialects/core/bridge.ts";
import { statelessBridge } from "../../../dialects/core/stateless-bridge.ts";
import type { JsonObject } from "../../../dialects/core/types.ts";
import { objects, text } from "../../../dialects/core/read.ts";
import { bearer } from "../../core/bearer.ts";
import { asNumber, asObject, asText, codeText } from "../../core/errors/error-body.ts";
import { checkChatFields, checkChatParts } from "../../core/private/chat-checks.ts";
import { chatMessages } from "../../core/private/chat-reader.ts";
import { chatAnswer, ChunkWriter } from "../../core/private/chat-writer.ts";
import { needed } from "../../core/private/needed.ts";
import type { ProviderAdapter, RequestTransform } from "../../core/types.ts";
import { vendorReader } from "../../core/errors/vendor-error.ts";

/** Sends the last message to a knowledge base as a question; the documents it found are listed below the answer. */
const libraryBridge: Bridge = statelessBridge({
  client: "openai-chat",
  upstream: "private:aiproxy-library",
  request(body, context) {
    checkChatFields(body, context, []);
    checkChatParts(body, context, false);
    const messages = chatMessages(body);
    if (messages.length > 1) context.dropped("messages");
    return {
      model: context.upstreamModel,
      query: messages.at(-1)?.text ?? "",
      libraryId: "",
      stream: body["stream"] === true,
    };
  },
  response(body, context) {
    const content = needed(text(body, "answer")) + references(objects(body, "documents"));
    return chatAnswer({ content, finish: "stop", usage: undefined }, context);
  },
  stream: createStreamBridge,
});

function references(documents: readonly JsonObject[]): string {
  if (documents.length === 0) return "";
  const lines = documents.map(
    (document, index) => `${index + 1}. [${text(document, "title") ?? ""}](${text(document, "url") ?? ""})\n`,
  );
  return `\n\nReferences:\n${lines.join("")}`;
}

function createStreamBridge(context: BridgeContext): StreamBridge {
  const writer = new ChunkWriter(context, { hasOwnRoleChunk: false });
  let documents: readonly JsonObject[] = [];
  return {
    event({ data }) {
      if (!data || writer.isEnded) return [];
      const code = asNumber(data["errCode"]) ?? 0;
      if (code !== 0)
        return writer.fail({ message: text(data, "message") ?? "", type: "aiproxy_error", code: String(code) });
      const named = objects(data, "documents");
      if (named.length > 0) documents = named;
      const said = text(data, "content") ?? "";
      const events = said === "" ? [] : writer.delta({ content: said });
      if (data["finish"] !== true) return events;
      const listed = references(documents);
      if (listed === "") return [...events, ...writer.end("stop", undefined)];
      return [...events, ...writer.delta({ content: listed }, "stop"), ...writer.end(undefined, undefined)];
    },
    end: () => [],
  };
}

const libraryId: RequestTransform = {
  name: "library of the channel",
  rewords: ["libraryId"],
  on: ["private:aiproxy-library"],
  apply: (body, _spec, _model, channel) => ({ ...body, libraryId: channel.other }),
};

const readLibrary = vendorReader({
  type: "aiproxy_error",
  codes: {},
  unknown: "server",
  native({ json }) {
    const root = asObject(json);
    const code = codeText(root?.["errCode"]);
    return code === "" || code === "0" ? undefined : { code, type: code, message: asText(root?.["message"]) ?? "" };
  },
});

export const aiproxy: ProviderAdapter = {
  type: 21,
  id: "aiproxy",
  label: "Knowledge Base AI Proxy",
  baseUrl: "https://api.aiproxy.io",
  speaks: [{ operation: "chat", dialect: "private:aiproxy-library", path: "/api/library/ask" }],
  authorize: bearer,
  models: [],
  answersOtherNames: true,
  ownedBy: "aiproxy",
  streamUsage: false,
  bridges: [libraryBridge],
  requestTransforms: [libraryId],
  classify: readLibrary,
  otherHint: "Library id",
};
