// What official clients declare about the answers that they read, as far as their servers comply.
import type {
  Message,
  MessageStreamEvent,
  ContentBlock,
  TextBlock,
  ToolUseBlock,
} from "@anthropic-ai/sdk/resources/messages";
import type { ChatCompletion, ChatCompletionChunk, ChatCompletionMessage } from "openai/resources/chat/completions";
import type { Response, ResponseStreamEvent, ResponseUsage } from "openai/resources/responses/responses";

type Without<T, K extends keyof T> = Omit<T, K> & Partial<Pick<T, K>>;

/** Conversions follow the recorded exchanges, which leave both members out. */
type Choice = Omit<Without<ChatCompletion.Choice, "logprobs">, "message"> & {
  message: Without<ChatCompletionMessage, "refusal">;
};

/** This protocol has no member for thinking. */
type ChunkChoice = Omit<ChatCompletionChunk.Choice, "delta"> & {
  delta: ChatCompletionChunk.Choice.Delta & { reasoning_content?: string; thinking_blocks?: object[] };
};

/** `output_text` is the client's own; the server does send null in these. */
type WireResponse = Omit<Response, "output_text" | "usage" | "user"> & {
  usage?: ResponseUsage | null;
  user?: string | null;
};

/**
 * Texts without sources have no list of them, because the AI SDK would refuse the answer; `caller` is in few answers,
 * and servers of Claude models refuse it in a history.
 */
type Block =
  | Without<TextBlock, "citations">
  | Without<ToolUseBlock, "caller">
  | Exclude<ContentBlock, TextBlock | ToolUseBlock>;
type WireMessage = Omit<Message, "content"> & { content: Block[] };

/** An event with its content in the types of the wire. */
type Holding<E, K extends string, W> = E extends Record<K, unknown> ? Omit<E, K> & Record<K, W> : E;

/** By protocol and kind of answer. */
export interface Documents {
  "chat plain": Omit<ChatCompletion, "choices"> & { choices: Choice[] };
  "chat stream": Omit<ChatCompletionChunk, "choices"> & { choices: ChunkChoice[] };
  "responses plain": WireResponse;
  "responses stream": Holding<ResponseStreamEvent, "response", WireResponse>;
  "messages plain": WireMessage;
  "messages stream": Holding<Holding<MessageStreamEvent, "message", WireMessage>, "content_block", Block>;
}

/** The type of a constant without what makes it one. @public for what the test writes */
export type Mutable<T> = T extends object ? { -readonly [K in keyof T]: Mutable<T[K]> } : T;
