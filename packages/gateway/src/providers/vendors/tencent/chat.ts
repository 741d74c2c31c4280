import type { Bridge, BridgeContext, StreamBridge } from "../../../dialects/core/bridge.ts";
import { statelessBridge } from "../../../dialects/core/stateless-bridge.ts";
import type { JsonObject } from "../../../dialects/core/types.ts";
import { compact, count, isSet, object, objects, text } from "../../../dialects/core/read.ts";
import { invalidRequest } from "../../../lib/app-error.ts";
import { readTencentFailure } from "./failure.ts";
import { checkChatFields, checkChatParts } from "../../core/private/chat-checks.ts";
import {
  chatFunctions,
  chatToolChoice,
  instructedMessages,
  stopList,
  systemText,
  type ChatMessage,
} from "../../core/private/chat-reader.ts";
import { CallParts, chatAnswer, ChunkWriter, toolCall, type ChatUsage } from "../../core/private/chat-writer.ts";
import { needed } from "../../core/private/needed.ts";
import { embeddingAnswer, embeddingTexts } from "../../core/embedding-input.ts";
import { unaryBridge } from "../../core/unary-bridge.ts";

/** Members of the vendor that clients may set themselves. */
const OWN = ["StreamModeration", "EnableEnhancement", "SearchInfo", "Citation", "EnableThinking"];
const READ = [
  ...OWN,
  "top_p",
  "temperature",
  "stop",
  "seed",
  "tools",
  "functions",
  "tool_choice",
  "enable_enhancement",
  "response_format",
];

const MAX_MESSAGES = 40;

/** https://cloud.tencent.com/document/api/1729/105701 */
export const chatBridge: Bridge = statelessBridge({
  client: "openai-chat",
  upstream: "private:tencent-chat",
  request(body, context) {
    checkChatFields(body, context, READ);
    checkChatParts(body, context, true);
    const stop = stopList(body);
    const tools = chatFunctions(body).map(({ name, description, parameters }) => ({
      Type: "function",
      Function: compact({ Name: name, Parameters: JSON.stringify(parameters ?? {}), Description: description }),
    }));
    const turns = toTurns(instructedMessages(body));
    if (turns.length > MAX_MESSAGES)
      throw invalidRequest("messages", `messages must hold no more than ${MAX_MESSAGES} turns for this upstream.`);
    return compact({
      Model: context.upstreamModel,
      Messages: turns,
      Stream: body["stream"] === true,
      TopP: body["top_p"],
      Temperature: body["temperature"],
      Stop: stop.length === 0 ? undefined : stop,
      Seed: body["seed"],
      Tools: tools.length === 0 ? undefined : tools,
      ...(tools.length === 0 ? {} : toToolChoice(body, tools)),
      EnableEnhancement: body["enable_enhancement"],
      ...Object.fromEntries(OWN.filter((name) => isSet(body[name])).map((name) => [name, body[name]])),
    });
  },
  response(body, context) {
    const answer = object(body, "Response");
    const [choice] = objects(answer, "Choices");
    const message = needed(object(choice, "Message"));
    const calls = objects(message, "ToolCalls").map(toToolCall);
    return chatAnswer(
      {
        id: text(answer, "Id"),
        created: count(answer, "Created"),
        content: text(message, "Content") ?? "",
        reasoning: text(message, "ReasoningContent"),
        toolCalls: calls,
        finish: toFinishReason(text(choice, "FinishReason")),
        usage: tencentUsage(object(answer, "Usage")),
      },
      context,
    );
  },
  stream: createStreamBridge,
});

export const embedBridge: Bridge = unaryBridge({
  client: "openai-embeddings",
  upstream: "private:tencent-embed",
  request: (body) => ({ InputList: embeddingTexts(body) }),
  response(body, context) {
    const answer = object(body, "Response");
    const vectors = objects(answer, "Data").map((entry) => entry["Embedding"]);
    return embeddingAnswer(context.spec.model, vectors, count(object(answer, "Usage"), "PromptTokens"));
  },
});

/** Joins the answers of several calls in the order of the calls. */
export function mergeEmbeddings(bodies: readonly JsonObject[]): JsonObject {
  const answers = bodies.map((body) => object(body, "Response"));
  const tokens = answers.reduce((sum, answer) => sum + (count(object(answer, "Usage"), "PromptTokens") ?? 0), 0);
  return {
    Response: {
      Data: answers.flatMap((answer) => [...objects(answer, "Data")]),
      Usage: { PromptTokens: tokens, TotalTokens: tokens },
    },
  };
}

/** Converts messages to turns: system first, then alternating users (or tools) and assistants, none of them empty. */
function toTurns(messages: readonly ChatMessage[]): JsonObject[] {
  const system = systemText(messages);
  const turns: JsonObject[] = system === "" ? [] : [{ Role: "system", Content: system }];
  for (const message of messages) {
    if (message.role === "system") continue;
    const turn = toTurn(message);
    const last = turns.at(-1);
    if (last && last["Role"] === turn["Role"] && isPlainText(last) && isPlainText(turn))
      last["Content"] = `${text(last, "Content")}\n\n${text(turn, "Content")}`;
    else if (!(isPlainText(turn) && turn["Content"] === "")) turns.push(turn);
  }
  return turns;
}

function isPlainText(turn: JsonObject): boolean {
  return Object.keys(turn).length === 2 && turn["Content"] !== undefined;
}

function toTurn(message: ChatMessage): JsonObject {
  const { role } = message;
  if (role === "tool") return { Role: role, ToolCallId: message.toolCallId ?? "", Content: message.text };
  if (message.toolCalls.length > 0) {
    const calls = message.toolCalls.map((call) => ({
      Id: call.id,
      Type: "function",
      Function: { Name: call.name, Arguments: call.arguments },
    }));
    return { Role: role, Content: message.text, ToolCalls: calls };
  }
  if (message.images.length === 0) return { Role: role, Content: message.text };
  const images = message.images.map((url) => ({ Type: "image_url", ImageUrl: { Url: url } }));
  return { Role: role, Contents: [...(message.text === "" ? [] : [{ Type: "text", Text: message.text }]), ...images] };
}

/** Converts the choice: `required` has no equivalent; a named function is a custom choice. */
function toToolChoice(body: JsonObject, tools: readonly JsonObject[]): JsonObject {
  const choice = chatToolChoice(body);
  if (!choice) return {};
  if (choice.mode !== "named") return { ToolChoice: choice.mode === "required" ? "auto" : choice.mode };
  const tool = tools.find((candidate) => text(object(candidate, "Function"), "Name") === choice.name);
  return tool ? { ToolChoice: "custom", CustomTool: tool } : {};
}

function toToolCall(call: JsonObject): JsonObject {
  const named = object(call, "Function");
  return toolCall(text(call, "Id") ?? "", text(named, "Name") ?? "", text(named, "Arguments") ?? "");
}

function toFinishReason(reason: string | undefined): string {
  if (reason === "sensitive") return "content_filter";
  return reason === "tool_calls" || reason === "length" ? reason : "stop";
}

function tencentUsage(usage: JsonObject | undefined): ChatUsage | undefined {
  const input = count(usage, "PromptTokens");
  const output = count(usage, "CompletionTokens");
  return input === undefined || output === undefined ? undefined : { input, output };
}

function createStreamBridge(context: BridgeContext): StreamBridge {
  const writer = new ChunkWriter(context, { hasOwnRoleChunk: false });
  const calls = new CallParts(writer);
  return {
    event({ data }) {
      if (!data || writer.isEnded) return [];
      const failure = readTencentFailure(data);
      if (failure) return writer.fail({ ...failure, type: "tencent_error" });
      writer.name({ id: text(data, "Id"), created: count(data, "Created") });
      const [choice] = objects(data, "Choices");
      const delta = object(choice, "Delta");
      const said = text(delta, "Content") ?? "";
      const thought = text(delta, "ReasoningContent") ?? "";
      const events = [
        ...(thought === "" ? [] : writer.delta({ reasoning_content: thought })),
        ...(said === "" ? [] : writer.delta({ content: said })),
        ...objects(delta, "ToolCalls").flatMap((call) => calls.take(toToolCall(call))),
      ];
      const reason = text(choice, "FinishReason") ?? "";
      return reason === ""
        ? events
        : [...events, ...writer.end(toFinishReason(reason), tencentUsage(object(data, "Usage")))];
    },
    end: () => [],
  };
}
