import type { Bridge, BridgeContext, StreamBridge } from "../../../dialects/core/bridge.ts";
import { statelessBridge } from "../../../dialects/core/stateless-bridge.ts";
import type { JsonObject, StreamEvent } from "../../../dialects/core/types.ts";
import { count, object, objects, text } from "../../../dialects/core/read.ts";
import { chatAnswer, ChunkWriter, toolCall, type ChatUsage } from "../../core/private/chat-writer.ts";
import { needed } from "../../core/private/needed.ts";
import { converseRequest } from "./converse-request.ts";

/** https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html */
export const converseBridge: Bridge = statelessBridge({
  client: "openai-chat",
  upstream: "private:aws-converse",
  request: converseRequest,
  response(body, context) {
    const blocks = objects(needed(object(object(body, "output"), "message")), "content");
    const calls = blocks.flatMap((block) => {
      const use = object(block, "toolUse");
      return use
        ? [toolCall(text(use, "toolUseId") ?? "", text(use, "name") ?? "", JSON.stringify(use["input"] ?? {}))]
        : [];
    });
    const reasoning = blocks
      .map((block) => text(object(object(block, "reasoningContent"), "reasoningText"), "text") ?? "")
      .join("");
    return chatAnswer(
      {
        id: text(body, "requestId"),
        content: blocks.map((block) => text(block, "text") ?? "").join(""),
        reasoning,
        toolCalls: calls,
        finish: toFinishReason(text(body, "stopReason"), calls.length > 0),
        usage: awsUsage(object(body, "usage")),
      },
      context,
    );
  },
  stream: createStreamBridge,
});

const FINISH: Readonly<Record<string, string>> = {
  max_tokens: "length",
  model_context_window_exceeded: "length",
  tool_use: "tool_calls",
  guardrail_intervened: "content_filter",
  content_filtered: "content_filter",
};

function toFinishReason(reason: string | undefined, hasCalls: boolean): string {
  const known = FINISH[reason ?? ""];
  return known ?? (hasCalls && reason === undefined ? "tool_calls" : "stop");
}

/** Reads the usage, whose prompt count excludes tokens that were read from or written to the cache. */
function awsUsage(usage: JsonObject | undefined): ChatUsage | undefined {
  const input = count(usage, "inputTokens");
  const output = count(usage, "outputTokens");
  if (input === undefined || output === undefined) return undefined;
  const cachedInput = count(usage, "cacheReadInputTokens") ?? 0;
  const cacheWrite = count(usage, "cacheWriteInputTokens") ?? 0;
  return { input: input + cachedInput + cacheWrite, output, cachedInput, cacheWrite };
}

function createStreamBridge(context: BridgeContext): StreamBridge {
  const writer = new ChunkWriter(context, { hasOwnRoleChunk: true });
  let finish: string | undefined;
  /** True while a call is open that has no arguments yet. */
  let isBare = false;
  const steps: Readonly<Record<string, (data: JsonObject) => StreamEvent[]>> = {
    messageStart(data) {
      writer.name({ id: text(data, "requestId") });
      return writer.start();
    },
    contentBlockStart(data) {
      const use = object(object(data, "start"), "toolUse");
      isBare = use !== undefined;
      return use ? writer.toolStart(text(use, "toolUseId") ?? "", text(use, "name") ?? "") : [];
    },
    contentBlockDelta(data) {
      const events = writeDelta(object(data, "delta"), writer);
      isBare &&= events.length === 0;
      return events;
    },
    contentBlockStop() {
      const events = isBare ? writer.toolArguments("{}") : [];
      isBare = false;
      return events;
    },
    messageStop(data) {
      finish = toFinishReason(text(data, "stopReason"), writer.toolCount > 0);
      return [];
    },
    metadata: (data) => writer.end(finish ?? "stop", awsUsage(object(data, "usage"))),
    error(data) {
      const error = object(data, "error");
      return writer.fail({ message: text(error, "message") ?? "The upstream failed.", type: text(error, "type") });
    },
  };
  return {
    event: ({ event, data }) => (data && !writer.isEnded ? (steps[event ?? ""]?.(data) ?? []) : []),
    end: () => (finish === undefined || writer.isEnded ? [] : writer.end(finish, undefined)),
  };
}

function writeDelta(delta: JsonObject | undefined, writer: ChunkWriter): StreamEvent[] {
  const said = text(delta, "text");
  if (said !== undefined) return writer.delta({ content: said });
  const thought = text(object(delta, "reasoningContent"), "text");
  if (thought !== undefined) return writer.delta({ reasoning_content: thought });
  return writer.toolArguments(text(object(delta, "toolUse"), "input") ?? "");
}
