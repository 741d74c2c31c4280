import type { Bridge } from "../../../dialects/core/bridge.ts";
import { compact, count, object, text } from "../../../dialects/core/read.ts";
import { unsupportedParameter } from "../../../lib/app-error.ts";
import { isJsonAnswer, jsonAnswer, wholeBody } from "../../core/exchange.ts";
import type { Exchange } from "../../core/types.ts";
import { unaryBridge } from "../../core/unary-bridge.ts";

export const imageBridge: Bridge = unaryBridge({
  client: "openai-images",
  upstream: "private:cloudflare-image",
  request(body, context) {
    if ((count(body, "n") ?? 1) > 1) throw unsupportedParameter("n");
    for (const name of ["style", "quality", "user", "response_format", "background"])
      if (body[name] !== undefined) context.dropped(name);
    const [, width, height] = /^(\d+)x(\d+)$/.exec(text(body, "size") ?? "") ?? [];
    return compact({
      prompt: body["prompt"],
      width: width === undefined ? undefined : Number(width),
      height: height === undefined ? undefined : Number(height),
      num_steps: body["num_steps"],
      seed: body["seed"],
    });
  },
  response: (body, context) => ({
    created: Math.floor(context.now / 1000),
    data: [text(object(body, "result"), "image") ?? []].flat().map((b64_json) => ({ b64_json })),
  }),
});

/** Some models answer with the bytes of the picture instead of JSON. */
export const imageExchange: Exchange = async (call, context) => {
  const answer = await context.send(call);
  if (answer.status !== 200 || isJsonAnswer(answer)) return answer;
  return jsonAnswer({ result: { image: (await wholeBody(answer)).toString("base64") }, success: true });
};
