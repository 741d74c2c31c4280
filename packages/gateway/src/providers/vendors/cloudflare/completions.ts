import type { Bridge, BridgeContext } from "../../../dialects/core/bridge.ts";
import { statelessBridge } from "../../../dialects/core/stateless-bridge.ts";
import type { JsonObject, StreamEvent } from "../../../dialects/core/types.ts";
import { compact, count, list, object, text } from "../../../dialects/core/read.ts";
import { maxTokens } from "../../core/private/chat-reader.ts";
import { unsupportedParameter } from "../../../lib/app-error.ts";

/** The vendor's own limit is 256, which cuts most answers. */
const DEFAULT_TOKENS = 2048;
const TAKEN = ["temperature", "top_p", "top_k", "seed", "repetition_penalty", "frequency_penalty", "presence_penalty"];
const READ: ReadonlySet<string> = new Set([
  ...TAKEN,
  "model",
  "prompt",
  "max_tokens",
  "max_completion_tokens",
  "stream",
  "stream_options",
  "n",
]);

/** Requests are `{prompt}`, answers `{result: {response}}`; stream events are `{response}`, then `[DONE]`. */
export const completionsBridge: Bridge = statelessBridge({
  client: "openai-completions",
  upstream: "private:cloudflare-text",
  request(body, context) {
    if ((count(body, "n") ?? 1) > 1) throw unsupportedParameter("n");
    for (const name of Object.keys(body)) if (!READ.has(name) && body[name] !== null) context.dropped(name);
    return compact({
      prompt: requirePrompt(body),
      max_tokens: maxTokens(body) ?? DEFAULT_TOKENS,
      ...Object.fromEntries(TAKEN.map((name) => [name, body[name] ?? undefined])),
      stream: body["stream"] === true ? true : undefined,
    });
  },
  response(body, context) {
    const result = object(body, "result") ?? body;
    const usage = object(result, "usage");
    return { ...chunk(context, text(result, "response") ?? "", "stop"), ...(usage ? { usage } : {}) };
  },
  stream(context) {
    let usage: JsonObject | undefined;
    return {
      event({ data, raw }) {
        if (data?.["error"] !== undefined || data?.["errors"] !== undefined)
          return [{ event: undefined, data, raw: "" }];
        usage = object(data, "usage") ?? usage;
        if (raw === "[DONE]") return completion(context, usage);
        const said = text(data, "response") ?? "";
        return said === "" ? [] : [event(chunk(context, said, null))];
      },
      end: () => [],
    };
  },
});

/** Returns the prompt as one text; throws for lists and tokens, which the API does not take. */
function requirePrompt(body: JsonObject): string {
  const prompts = list(body, "prompt");
  const one = prompts.length === 1 ? prompts[0] : body["prompt"];
  if (typeof one !== "string") throw unsupportedParameter("prompt");
  return one;
}

function chunk(context: BridgeContext, said: string, finish: string | null): JsonObject {
  return {
    id: `cmpl-${context.requestId}`,
    object: "text_completion",
    created: Math.floor(context.now / 1000),
    model: context.spec.model,
    choices: [{ index: 0, text: said, logprobs: null, finish_reason: finish }],
  };
}

function completion(context: BridgeContext, usage: JsonObject | undefined): StreamEvent[] {
  const last = event(chunk(context, "", "stop"));
  const counted = usage ? [event({ ...chunk(context, "", null), choices: [], usage })] : [];
  return [last, ...counted, { event: undefined, data: undefined, raw: "[DONE]" }];
}

function event(data: JsonObject): StreamEvent {
  return { event: undefined, data, raw: "" };
}
