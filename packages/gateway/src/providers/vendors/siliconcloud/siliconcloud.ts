import { imagesAt } from "../../../dialects/core/requested-output.ts";
import { createAnswerCapReader } from "../../core/requested-output.ts";
import { olderLimitName } from "../../core/request-transforms/output-limit.ts";
import type { JsonObject } from "../../../dialects/core/types.ts";
import { isObject, object } from "../../../dialects/core/read.ts";
import { requireAmount } from "../../core/amount.ts";
import { asObject, asText, codeText } from "../../core/errors/error-body.ts";
import { joinUrl } from "../../core/join-url.ts";
import { renamed, omitMembers } from "../../../dialects/core/json-edit.ts";
import { bearerHeaders, getJson } from "../../core/model-list.ts";
import { openaiCompatible } from "../../core/openai-compatible.ts";
import { noDeveloperRole } from "../../core/request-transforms/roles.ts";
import { thinkingOff } from "../../core/request-transforms/thinking-off.ts";
import { finishNames } from "../../core/response-transforms/finish-names.ts";
import { SILICONCLOUD_MODELS } from "./models.ts";
import type { ResponseTransform, ChannelRecord, HttpJson, RequestTransform } from "../../core/types.ts";
import { vendorReader, type CodeTable } from "../../core/errors/vendor-error.ts";

const BASE = "https://api.siliconflow.cn";

/** Models that think unless they are instructed not to. */
const HYBRID = /qwen3(?!.*(?:thinking|instruct|coder))|deepseek-v3\.[12]|glm-4\.[5-9]/i;

const imageNames: RequestTransform = {
  name: "image_size and batch_size",
  on: ["openai-images"],
  apply: (body) => renamed(renamed(body, "size", "image_size"), "n", "batch_size"),
};

const imageAnswer: ResponseTransform = {
  name: "images as data",
  on: ["openai-images"],
  answer(body, { now }) {
    if (!Array.isArray(body["images"])) return body;
    return { created: Math.floor(now / 1000), data: body["images"] };
  },
};

/** Must come after the general repair that fills `usage`. */
const rerankAnswer: ResponseTransform = {
  name: "rerank without id and meta",
  on: ["rerank"],
  answer: (body) => omitMembers(body, ["id", "meta"]),
};

const CODES: CodeTable = {
  not_found: ["20012"],
  out_of_credit: ["30001"],
  overloaded: ["50505"],
};

/** Reads `{code, message, data}`, whose codes are the vendor's own numbers. */
const readSiliconCloud = vendorReader({
  type: "upstream_error",
  codes: CODES,
  native({ status, json }) {
    const root = asObject(json);
    const code = codeText(root?.["code"]);
    return status < 400 ? undefined : { code, message: asText(root?.["message"]) ?? "", param: String(status) };
  },
});

async function balance(channel: ChannelRecord, key: string, http: HttpJson): Promise<number> {
  const json = await getJson(http, joinUrl(channel.baseUrl || BASE, "/v1/user/info").href, bearerHeaders(key));
  const data: JsonObject | undefined = isObject(json) ? object(json, "data") : undefined;
  return requireAmount(data, "totalBalance");
}

export const siliconcloud = openaiCompatible({
  type: 40,
  id: "siliconcloud",
  label: "SiliconCloud",
  baseUrl: BASE,
  ownedBy: "siliconflow",
  models: SILICONCLOUD_MODELS,
  operations: [
    "chat",
    "completions",
    "embeddings",
    "rerank",
    "images.generations",
    "audio.speech",
    "audio.transcriptions",
  ],
  streamUsage: false,
  requestedOutput: { "openai-chat": createAnswerCapReader(), "openai-images": imagesAt("batch_size", "n") },
  chatServer: { takesTopK: true },
  requestTransforms: [olderLimitName, noDeveloperRole, thinkingOff(HYBRID, { enable_thinking: false }), imageNames],
  responseTransforms: [imageAnswer, rerankAnswer, finishNames({ eos: "stop" })],
  classify: readSiliconCloud,
  balance,
});
