import { unsupportedParameter } from "../../lib/app-error.ts";
import { compact, isSet, number, object, objects, text } from "../core/read.ts";
import type { Bridge, BridgeContext, StreamBridge } from "../core/bridge.ts";
import { statelessBridge } from "../core/stateless-bridge.ts";
import type { JsonObject, JsonValue, StreamEvent } from "../core/types.ts";
import { event } from "./parts/answer/chat-answer.ts";
import { formatMessage } from "./parts/answer/finish-words.ts";
import { noteDropped } from "./parts/answer/dropped-fields.ts";

/** Members that mean the same in both protocols. */
const SAME = [
  "max_tokens",
  "temperature",
  "top_p",
  "n",
  "stream",
  "stream_options",
  "stop",
  "presence_penalty",
  "frequency_penalty",
  "logit_bias",
  "user",
  "seed",
];
const CARRIED = new Set([...SAME, "model", "prompt"]);
/** The output limit of text completions if the request has none. */
const DEFAULT_TOKENS = 16;

/** Clients of text completions on upstreams that have only chat: the prompt becomes one user message. */
export const completionsToChat: Bridge = statelessBridge({
  client: "openai-completions",
  upstream: "openai-chat",
  request: toChat,
  response: fromChat,
  stream: (context) => new ChunksToText(context),
});

function toChat(body: JsonObject, context: BridgeContext): JsonObject {
  for (const name of ["suffix", "echo", "best_of"]) {
    const value = body[name];
    if (isSet(value) && value !== false && value !== 1) throw unsupportedParameter(name);
  }
  noteDropped(body, CARRIED, context);
  const same = Object.fromEntries(SAME.map((key) => [key, body[key] ?? undefined]));
  const prompt = requirePrompt(body["prompt"]);
  return compact({
    model: context.upstreamModel,
    messages: [{ role: "user", content: prompt }],
    max_tokens: DEFAULT_TOKENS,
    ...compact(same),
  });
}

/**
 * Returns the prompt as one text. Throws for several prompts, which would be several calls, and for token numbers,
 * which mean nothing to another model.
 */
function requirePrompt(prompt: JsonValue | undefined): string {
  if (typeof prompt === "string") return prompt;
  const [only, ...more] = Array.isArray(prompt) ? prompt : [];
  if (typeof only !== "string" || more.length > 0) throw unsupportedParameter("prompt");
  return only;
}

function fromChat(body: JsonObject): JsonObject {
  const choices = objects(body, "choices").map((choice, at) => ({
    index: number(choice, "index") ?? at,
    text: formatMessage(object(choice, "message")),
    logprobs: null,
    finish_reason: choice["finish_reason"] ?? "stop",
  }));
  return { ...body, object: "text_completion", choices };
}

class ChunksToText implements StreamBridge {
  readonly #context: BridgeContext;

  constructor(context: BridgeContext) {
    this.#context = context;
  }

  event({ data }: StreamEvent): StreamEvent[] {
    if (data === undefined) return [];
    const choices = objects(data, "choices");
    const written = choices.flatMap((choice, at) => this.#choice(choice, at));
    const isUsage = choices.length === 0 && isSet(data["usage"]) && this.#context.spec.wantsStreamUsage;
    return written.length === 0 && !isUsage ? [] : [event({ ...data, object: "text_completion", choices: written })];
  }

  end(): StreamEvent[] {
    return [];
  }

  #choice(choice: JsonObject, at: number): JsonObject[] {
    const written = formatMessage(object(choice, "delta"));
    const finish = text(choice, "finish_reason") ?? null;
    if (written === "" && finish === null) return [];
    return [{ index: number(choice, "index") ?? at, text: written, logprobs: null, finish_reason: finish }];
  }
}
