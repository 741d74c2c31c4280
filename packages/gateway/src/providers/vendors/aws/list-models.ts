import { isObject, objects, text } from "../../../dialects/core/read.ts";
import { joinUrl } from "../../core/join-url.ts";
import { refusalText } from "../../core/model-list.ts";
import type { ChannelRecord, HttpJson, UpstreamCall } from "../../core/types.ts";
import { parseAwsKey } from "./key.ts";

type Sign = (call: UpstreamCall, signing: { readonly key: string; readonly now: number }) => Promise<void>;

/** Returns the base URL for model lists: it has another host than the calls, unless the channel has a base URL. */
export function controlUrl(channel: ChannelRecord, key: string): string {
  const { region } = parseAwsKey(key);
  return channel.baseUrl || `https://bedrock.${region}.amazonaws.com${region.startsWith("cn-") ? ".cn" : ""}`;
}

/** Lists the models of the region, and the inference profiles through which most of them must be called. */
export function listAwsModels(sign: Sign) {
  return async (channel: ChannelRecord, key: string, http: HttpJson, now: number): Promise<string[]> => {
    const base = controlUrl(channel, key);
    const read = async (path: string, list: string, name: string) => {
      const call: UpstreamCall = { method: "GET", url: joinUrl(base, path), headers: {}, body: undefined };
      await sign(call, { key, now });
      const answer = await http({ method: "GET", url: call.url.href, headers: call.headers });
      const { status, json } = answer;
      if (status !== 200 || !isObject(json)) throw new Error(refusalText(answer));
      return objects(json, list).flatMap((entry) => text(entry, name) ?? []);
    };
    const models = await read("/foundation-models", "modelSummaries", "modelId");
    return [
      ...models,
      ...(await read("/inference-profiles?maxResults=1000", "inferenceProfileSummaries", "inferenceProfileId")),
    ];
  };
}
