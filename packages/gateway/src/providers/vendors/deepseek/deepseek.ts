import { olderLimitName } from "../../core/request-transforms/output-limit.ts";
import { isObject, list, text } from "../../../dialects/core/read.ts";
import { requireAmount } from "../../core/amount.ts";
import { siblingPath, joinUrl } from "../../core/join-url.ts";
import { eachObject, omitMembers } from "../../../dialects/core/json-edit.ts";
import { bearerHeaders, getJson } from "../../core/model-list.ts";
import { openaiCompatible } from "../../core/openai-compatible.ts";
import { noDeveloperRole } from "../../core/request-transforms/roles.ts";
import { thinkingOff } from "../../core/request-transforms/thinking-off.ts";
import { jsonInstruction } from "../../core/request-transforms/json-instruction.ts";
import { finishReasons, onEvent } from "../../core/response-transforms/each-choice.ts";
import type { ResponseTransform, ChannelRecord, HttpJson, RequestTransform } from "../../core/types.ts";
import type { FailedAnswer, UpstreamError } from "../../core/failed-answer.ts";
import { upstreamError } from "../../core/errors/upstream-error.ts";

const BASE = "https://api.deepseek.com";
/** Ends that clients of the OpenAI protocol add to the base URL; some of the vendor's calls use a path next to them. */
const TAILS = ["/v1", "/beta"];

/** Switches reasoning off by `thinking` if the effort is `none`. */
const noThinking: RequestTransform = {
  name: "no effort as no thinking",
  rewords: ["reasoning_effort"],
  apply(body) {
    const { reasoning_effort: effort, ...rest } = body;
    return effort === "none" ? { ...rest, thinking: rest["thinking"] ?? { type: "disabled" } } : body;
  },
};

const switchedOff = thinkingOff(/deepseek-v4/, { thinking: { type: "disabled" } });

/** Maps the effort to the vendor's two steps. */
const thinking: RequestTransform = {
  name: "effort as thinking",
  apply(body) {
    const effort = body["reasoning_effort"];
    if (typeof effort !== "string") return body;
    const step = effort === "xhigh" || effort === "max" ? "max" : "high";
    return { ...body, thinking: body["thinking"] ?? { type: "enabled" }, reasoning_effort: step };
  },
};

/**
 * v4 requires `reasoning_content` on every assistant turn. Older reasoners refuse it on turns before the last user
 * message; inside a running tool loop it may stay.
 */
const history: RequestTransform = {
  name: "reasoning in the history",
  apply(body, _spec, upstreamModel) {
    const lastUser = list(body, "messages").findLastIndex((message) => isObject(message) && message["role"] === "user");
    const isFourth = /deepseek-v4/.test(upstreamModel);
    return eachObject(body, "messages", (message, index) => {
      if (message["role"] !== "assistant") return message;
      if (isFourth) return message["reasoning_content"] === undefined ? { ...message, reasoning_content: "" } : message;
      return index < lastUser ? omitMembers(message, ["reasoning_content"]) : message;
    });
  },
};

/** Handles a server that gave up in the middle of the answer. Clients reject the vendor's finish reason. */
const busy: ResponseTransform = {
  name: "insufficient_system_resource",
  marks: ['"insufficient_system_resource"'],
  stream: () => onEvent(finishReasons({ insufficient_system_resource: "length" })),
};

/** Reads a failure. A whole answer that stopped for lack of resources is also one. */
function readDeepSeek({ status, json }: FailedAnswer): UpstreamError | undefined {
  const choices = status === 200 && isObject(json) ? list(json, "choices") : [];
  const isBusy = choices.some(
    (choice) =>
      isObject(choice) &&
      choice["message"] !== undefined &&
      text(choice, "finish_reason") === "insufficient_system_resource",
  );
  return isBusy ? upstreamError({ class: "overloaded", message: "The upstream ran out of resources." }) : undefined;
}

async function balance(channel: ChannelRecord, key: string, http: HttpJson): Promise<number> {
  const path = siblingPath(channel.baseUrl, TAILS, "/user/balance");
  const json = await getJson(http, joinUrl(channel.baseUrl || BASE, path).href, bearerHeaders(key));
  const entries = isObject(json) ? list(json, "balance_infos").filter(isObject) : [];
  return requireAmount(entries.find((entry) => entry["currency"] === "CNY") ?? entries[0], "total_balance");
}

export const deepseek = openaiCompatible({
  type: 43,
  id: "deepseek",
  label: "DeepSeek",
  baseUrl: BASE,
  models: [
    "deepseek-v4-flash",
    "deepseek-v4-pro",
    "deepseek-v4-flash-vision-exp",
    "deepseek-chat",
    "deepseek-reasoner",
  ],
  operations: ["chat", "completions"],
  paths: { completions: (_spec, _model, { baseUrl }) => siblingPath(baseUrl, TAILS, "/beta/completions") },
  chatServer: { maxStops: 16 },
  requestTransforms: [olderLimitName, noDeveloperRole, switchedOff, noThinking, thinking, history, jsonInstruction],
  responseTransforms: [busy],
  classify: readDeepSeek,
  balance,
});
