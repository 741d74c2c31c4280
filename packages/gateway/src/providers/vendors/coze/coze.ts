import { bearer } from "../../core/bearer.ts";
import { chatBridge } from "./chat.ts";
import { cozeExchange } from "./exchange.ts";
import { asObject, asText, codeText } from "../../core/errors/error-body.ts";
import type { ProviderAdapter, RequestTransform } from "../../core/types.ts";
import { vendorReader, type CodeTable } from "../../core/errors/vendor-error.ts";

const CODES: CodeTable = {
  bad_key: ["4100", "4101"],
  out_of_credit: ["4028", "4011"],
  rate_limit: ["4013"],
  bad_request: ["4000"],
  server: ["5000"],
};

/** Reads `{code, msg}`, which has status 200. */
const readCoze = vendorReader({
  type: "coze_error",
  codes: CODES,
  unknown: "server",
  native({ json }) {
    const root = asObject(json);
    const code = codeText(root?.["code"]);
    return code === "" || code === "0" ? undefined : { code, message: asText(root?.["msg"]) ?? "" };
  },
});

const bot: RequestTransform = {
  name: "bot of the channel",
  rewords: ["bot_id"],
  on: ["private:coze-chat"],
  apply: (body, _spec, upstreamModel, channel) => ({
    ...body,
    bot_id: channel.other || upstreamModel.replace(/^(?:bot|coze)-/, ""),
  }),
};

export const coze: ProviderAdapter = {
  type: 49,
  id: "coze",
  label: "Coze",
  baseUrl: "https://api.coze.cn",
  speaks: [{ operation: "chat", dialect: "private:coze-chat", path: "/v3/chat", exchange: cozeExchange }],
  authorize: bearer,
  models: [],
  answersOtherNames: true,
  ownedBy: "coze",
  streamUsage: false,
  bridges: [chatBridge],
  requestTransforms: [bot],
  classify: readCoze,
  keyHint: "pat_...",
  otherHint: "Bot id",
};
