import type { OptionValues } from "@fairway/wire";
import { Refusal } from "../../lib/refusal.ts";
import type { Outbound } from "../../lib/net/outbound.ts";

export interface WechatDeps {
  readonly outbound: Outbound;
  readonly options: () => Pick<OptionValues, "WeChatServerAddress" | "WeChatServerToken">;
}

/**
 * Exchanges a code for the WeChat id of its owner; throws `oauth_provider_unreachable` and `verification_code_wrong`.
 * The reason of the server for a refusal is not passed on.
 */
export async function readWechatId({ outbound, options }: WechatDeps, code: string): Promise<string> {
  const { WeChatServerAddress, WeChatServerToken } = options();
  const call = {
    method: "GET",
    url: `${WeChatServerAddress}/api/wechat/user?code=${encodeURIComponent(code)}`,
    headers: { authorization: WeChatServerToken },
  } as const;
  const answer = await outbound.json(call).catch((cause: unknown) => {
    throw new Refusal("oauth_provider_unreachable", { values: { provider: "WeChat" }, cause });
  });
  if (!answer) throw new Refusal("oauth_answer_invalid", { values: { provider: "WeChat" } });
  const id = answer["data"];
  if (answer["success"] !== true || typeof id !== "string" || id === "") throw new Refusal("verification_code_wrong");
  return id;
}
