import type { JsonObject, StreamEvent } from "../../../dialects/core/types.ts";
import { isObject, list, object, text } from "../../../dialects/core/read.ts";
import { asNumber, asObject, asText, codeText } from "../../core/errors/error-body.ts";
import { eachObject, omitMembers } from "../../../dialects/core/json-edit.ts";
import { embeddingBridge } from "./embeddings.ts";
import { speechBridge, speechExchange } from "./speech.ts";
import { openaiCompatible } from "../../core/openai-compatible.ts";
import { noDeveloperRole } from "../../core/request-transforms/roles.ts";
import type { ResponseTransform, ChannelRecord, ProviderAdapter, RequestTransform } from "../../core/types.ts";
import { vendorReader, type CodeTable } from "../../core/errors/vendor-error.ts";

const VENDOR_MEMBERS = [
  "base_resp",
  "input_sensitive",
  "output_sensitive",
  "input_sensitive_type",
  "output_sensitive_type",
  "output_sensitive_int",
];

/** Sends the schema of a function as JSON text, as the endpoint requires. */
const schemaText: RequestTransform = {
  name: "function parameters as text",
  apply: (body) =>
    eachObject(body, "tools", (tool) => {
      const named = object(tool, "function");
      if (!named || !isObject(named["parameters"])) return tool;
      return { ...tool, function: { ...named, parameters: JSON.stringify(named["parameters"]) } };
    }),
};

/** Handles the object after the deltas, which repeats the whole text and adds the usage: only the usage is new. */
const summary: ResponseTransform = {
  name: "summary chunk and vendor members",
  marks: ['"base_resp"', '"input_sensitive', '"output_sensitive', '"chat.completion"'],
  answer: (body) => omitMembers(body, VENDOR_MEMBERS),
  stream: () => (event) => (event.data ? unwrap(event, event.data) : event),
};

function unwrap(event: StreamEvent, data: JsonObject): StreamEvent | readonly StreamEvent[] {
  const code = asNumber(object(data, "base_resp")?.["status_code"]);
  if (code !== undefined && code !== 0) {
    const message = text(object(data, "base_resp"), "status_msg") ?? "";
    return { event: undefined, data: { error: { message, type: "minimax_error", code: String(code) } }, raw: "" };
  }
  const isSummary = list(data, "choices").some((choice) => isObject(choice) && choice["message"] !== undefined);
  if (!isSummary) {
    const clean = omitMembers(data, VENDOR_MEMBERS);
    return clean === data ? event : { event: event.event, data: clean, raw: "" };
  }
  if (!isObject(data["usage"])) return [];
  const { usage, id, created, model } = data;
  return {
    event: undefined,
    data: { id, object: "chat.completion.chunk", created, model, choices: [], usage },
    raw: "",
  };
}

const CODES: CodeTable = {
  bad_key: ["1004", "2049"],
  out_of_credit: ["1008"],
  rate_limit: ["1002", "1039"],
  overloaded: ["1001", "1024", "1033"],
  content_filter: ["1026", "1027"],
  bad_request: ["2013", "1042"],
};

/** Reads failures, which have status 200 and a `base_resp.status_code`. */
const readMiniMax = vendorReader({
  type: "minimax_error",
  codes: CODES,
  unknown: "server",
  native({ json }) {
    const base = asObject(asObject(json)?.["base_resp"]);
    const code = codeText(base?.["status_code"]);
    return code === "" || code === "0" ? undefined : { code, message: asText(base?.["status_msg"]) ?? "" };
  },
});

const compatible = openaiCompatible({
  type: 35,
  id: "minimax",
  label: "MiniMax",
  baseUrl: "https://api.minimax.chat",
  models: [
    "MiniMax-M2",
    "MiniMax-M1",
    "MiniMax-Text-01",
    "MiniMax-VL-01",
    "abab6.5-chat",
    "abab6.5s-chat",
    "abab6-chat",
    "abab5.5-chat",
    "abab5.5s-chat",
    "speech-02-hd",
    "speech-02-turbo",
    "speech-01-hd",
    "speech-01-turbo",
    "embo-01",
  ],
  operations: ["chat"],
  paths: { chat: "/v1/text/chatcompletion_v2" },
  streamUsage: false,
  requestTransforms: [noDeveloperRole, schemaText],
  responseTransforms: [summary],
  classify: readMiniMax,
});

function inGroup(path: string, { other }: ChannelRecord): string {
  return other === "" ? path : `${path}?GroupId=${encodeURIComponent(other)}`;
}

export const minimax: ProviderAdapter = {
  ...compatible,
  speaks: [
    ...compatible.speaks,
    {
      operation: "audio.speech",
      dialect: "private:minimax-speech",
      path: (_spec, _model, channel) => inGroup("/v1/t2a_v2", channel),
      when: (ask) => ask.operation === "audio.speech",
      exchange: speechExchange,
    },
    {
      operation: "embeddings",
      dialect: "private:minimax-embeddings",
      path: (_spec, _model, channel) => inGroup("/v1/embeddings", channel),
    },
  ],
  bridges: [speechBridge, embeddingBridge],
  otherHint: "Group id, for embeddings and speech",
};
