import { bearer } from "./bearer.ts";
import { chatBridge } from "./coze/chat.ts";
import { cozeExchange } from "./coze/exchange.ts";
import { asNumber, asObject, asText } from "./error-body.ts";
import type { FailedAnswer, ProviderAdapter, Quirk, Verdict } from "./types.ts";
import { classOfCode, errorOf, vendorVerdict, type CodeTable } from "./verdict-vendor.ts";

const CODES: CodeTable = {
  bad_key: ["4100", "4101"],
  out_of_credit: ["4028", "4011"],
  rate_limit: ["4013"],
  bad_request: ["4000"],
  server: ["5000"],
};

/** `{code, msg}` with status 200. */
function readCoze(answer: FailedAnswer): Verdict | undefined {
  const root = asObject(answer.json);
  const event = errorOf(answer);
  const isEvent = event?.type === "coze_error";
  const number = isEvent ? undefined : asNumber(root?.["code"]);
  if (!isEvent && (number === undefined || number === 0)) return undefined;
  const code = isEvent ? event.code : String(number);
  const message = isEvent ? event.message : (asText(root?.["msg"]) ?? "");
  return vendorVerdict(classOfCode(CODES, code) ?? "server", { type: "coze_error", code, message, status: answer.status });
}

const bot: Quirk = {
  name: "bot of the channel",
  on: ["private:coze-chat"],
  apply: (body, _ask, upstreamModel, channel) => ({ ...body, bot_id: channel.other || upstreamModel.replace(/^(?:bot|coze)-/, "") }),
};

export const coze: ProviderAdapter = {
  type: 49,
  id: "coze",
  label: "Coze",
  baseUrl: "https://api.coze.cn",
  speaks: [{ operation: "chat", dialect: "private:coze-chat", path: "/v3/chat", exchange: cozeExchange }],
  authorize: bearer,
  models: [],
  ownedBy: "coze",
  streamUsage: false,
  bridges: [chatBridge],
  quirks: [bot],
  classify: readCoze,
  keyHint: "pat_...",
  otherHint: "Bot id",
};
