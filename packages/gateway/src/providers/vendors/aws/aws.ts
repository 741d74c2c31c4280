import { imagesAt } from "../../../dialects/core/requested-output.ts";
import { bedrockFilter } from "./filter.ts";
import { FILTERS } from "../anthropic/filter.ts";
import { ownRuns } from "../anthropic/own-runs.ts";
import { findSmallestPrefix } from "../anthropic/smallest-prefix.ts";
import { thinkingSuffix } from "../anthropic/thinking-suffix.ts";
import { converseBridge } from "./converse.ts";
import { converseOutput } from "./converse-request.ts";
import { CONVERSE_POINTS, findSmallestPoint } from "./cache-points.ts";
import { withoutFormat } from "./claude-format.ts";
import { embedBridge, embedExchange, TOKENS_HEADER } from "./embeddings.ts";
import { readAws } from "./errors.ts";
import { imageBridge } from "./images.ts";
import { parseAwsKey, runtimeHost } from "./key.ts";
import { bedrockId, isClaude, isOpenAi } from "./model-id.ts";
import { AWS_MODELS } from "./models.ts";
import { controlUrl, listAwsModels } from "./list-models.ts";
import { signV4 } from "./sigv4.ts";
import { asNumber } from "../../core/errors/error-body.ts";
import { omitMembers } from "../../../dialects/core/json-edit.ts";
import { openaiRoute } from "../../core/openai-compatible.ts";
import type {
  ResponseTransform,
  ProviderAdapter,
  RequestTransform,
  SigningContext,
  UpstreamCall,
  UpstreamRoute,
} from "../../core/types.ts";

const CLAUDE_VERSION = "bedrock-2023-05-31";
const FIRST = ["max_tokens", "system", "messages"] as const;

function invoke(verb: string, streamVerb = verb): UpstreamRoute["path"] {
  return (spec, model, _channel, key) =>
    `/model/${encodeURIComponent(bedrockId(model, key))}/${spec.stream ? streamVerb : verb}`;
}

/** Removes model and stream from the messages body, because they are in the path. */
const claudeBody: RequestTransform = {
  name: "Claude on Bedrock",
  on: ["anthropic-messages"],
  apply(body) {
    const head = Object.fromEntries(FIRST.filter((name) => body[name] !== undefined).map((name) => [name, body[name]]));
    return { anthropic_version: CLAUDE_VERSION, ...head, ...omitMembers(body, [...FIRST, "model", "stream"]) };
  },
};

/** Reads ids and token counts from the headers of the answer, where this vendor puts them. */
const fromHead: ResponseTransform = {
  name: "request id and tokens from the head",
  on: ["private:aws-converse", "private:aws-embed"],
  marks: ["messageStart"],
  answer(body, { headers }) {
    const requestId = headers["x-amzn-requestid"];
    const tokens = asNumber(headers[TOKENS_HEADER]);
    return {
      ...body,
      ...(requestId === undefined ? {} : { requestId }),
      ...(tokens === undefined || body["inputTextTokenCount"] !== undefined ? {} : { inputTextTokenCount: tokens }),
    };
  },
  stream:
    ({ headers }) =>
    (event) => {
      const requestId = headers["x-amzn-requestid"];
      if (event.event !== "messageStart" || !event.data || requestId === undefined) return event;
      return { event: event.event, data: { ...event.data, requestId }, raw: "" };
    },
};

export const aws: ProviderAdapter = {
  type: 33,
  id: "aws",
  telemetryName: "aws.bedrock",
  label: "AWS Claude",
  baseUrl: "",
  base: (_channel, key) => runtimeHost(key),
  otherUrls: (channel, key) => [controlUrl(channel, key)],
  speaks: [
    {
      operation: "chat",
      dialect: "anthropic-messages",
      path: invoke("invoke", "invoke-with-response-stream"),
      framing: "aws-eventstream",
      inlinesImages: true,
      when: (_spec, model) => isClaude(model),
    },
    { ...openaiRoute("chat", "/openai/v1/chat/completions"), when: (_spec, model) => isOpenAi(model) },
    {
      operation: "chat",
      dialect: "private:aws-converse",
      path: invoke("converse", "converse-stream"),
      framing: "aws-eventstream",
      inlinesImages: true,
      when: (_spec, model) => !isClaude(model) && !isOpenAi(model),
    },
    {
      operation: "embeddings",
      dialect: "private:aws-embed",
      path: invoke("invoke"),
      exchange: embedExchange(signCall),
    },
    {
      operation: "images.generations",
      dialect: "private:aws-images",
      path: invoke("invoke"),
      when: (ask) => ask.operation === "images.generations",
    },
  ],
  authorize: (call, _channel, context) => signCall(call, context),
  models: AWS_MODELS,
  ownedBy: "aws",
  streamUsage: true,
  bridges: [converseBridge, embedBridge, imageBridge],
  requestedOutput: {
    "private:aws-converse": converseOutput,
    "private:aws-images": imagesAt("imageGenerationConfig.numberOfImages"),
  },
  settings: { filters: FILTERS },
  requestTransforms: [thinkingSuffix, ownRuns, withoutFormat, claudeBody],
  hostFilter: bedrockFilter,
  cacheMarks: { "anthropic-messages": findSmallestPrefix, "private:aws-converse": findSmallestPoint },
  cachePoints: { "private:aws-converse": CONVERSE_POINTS },
  responseTransforms: [fromHead],
  classify: readAws,
  listModels: listAwsModels(signCall),
  keyHint: "AK|SK|region, or region|API key",
};

async function signCall(call: UpstreamCall, { key, now }: Pick<SigningContext, "key" | "now">): Promise<void> {
  const parsed = parseAwsKey(key);
  if (parsed.kind === "bearer") call.headers["authorization"] = `Bearer ${parsed.token}`;
  else await signV4(call, { ...parsed, service: "bedrock" }, now);
}
