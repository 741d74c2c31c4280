import { compact } from "../../../core/read.ts";
import type { BridgeContext } from "../../../core/bridge.ts";
import type { JsonObject, StreamEvent, Usage } from "../../../core/types.ts";
import { chatUsage } from "../../../core/usage.ts";
import { chatId } from "./ids.ts";

/** Id, model and time of a chat answer; missing values are generated. */
export interface ChatHead {
  readonly id: string | undefined;
  readonly model: string | undefined;
  /** Epoch seconds. */
  readonly created?: number | undefined;
}

function envelope(head: ChatHead, kind: string, context: BridgeContext): JsonObject {
  return {
    id: head.id ?? chatId(context),
    object: kind,
    created: head.created ?? Math.floor(context.now / 1000),
    model: head.model ?? context.spec.model,
  };
}

export interface ChatMessageParts {
  readonly content: string;
  readonly reasoning: string;
  readonly refusal?: string | undefined;
  readonly toolCalls: readonly JsonObject[];
  /** Further members of the message. */
  readonly extra?: JsonObject;
}

/** Builds the message of an answer; if it has tool calls but no text, its content is null. */
export function chatMessage({ content, reasoning, refusal, toolCalls, extra }: ChatMessageParts): JsonObject {
  return compact({
    role: "assistant",
    content: content === "" && toolCalls.length > 0 ? null : content,
    reasoning_content: reasoning === "" ? undefined : reasoning,
    refusal,
    tool_calls: toolCalls.length === 0 ? undefined : [...toolCalls],
    ...extra,
  });
}

export interface ChatAnswerParts {
  readonly head: ChatHead;
  readonly choices: readonly JsonObject[];
  readonly usage: Usage | undefined;
}

export function chatAnswer({ head, choices, usage }: ChatAnswerParts, context: BridgeContext): JsonObject {
  return {
    ...envelope(head, "chat.completion", context),
    choices: choices.map((choice, index) => ({ index, ...choice })),
    ...(usage !== undefined && { usage: chatUsage(usage) }),
  };
}

export function toolCall(id: string, name: string, args: string): JsonObject {
  return { id, type: "function", function: { name, arguments: args } };
}

/** Writes the chunks of a chat stream in their legal order; the relay writes the terminator. */
export class ChunkWriter {
  readonly #context: BridgeContext;
  #head: ChatHead = { id: undefined, model: undefined };
  readonly #begun = new Set<number>();
  readonly #tools = new Map<number, number>();

  constructor(context: BridgeContext) {
    this.#context = context;
  }

  /** Returns the number of tool calls of a choice that have begun. */
  tools(index = 0): number {
    return this.#tools.get(index) ?? 0;
  }

  /** Sets the head of all chunks: the first id, model and time that the upstream names. */
  name(head: ChatHead): void {
    const { id, model, created } = this.#head;
    this.#head = { id: id ?? head.id, model: model ?? head.model, created: created ?? head.created };
  }

  begin(index = 0): StreamEvent[] {
    if (this.#begun.has(index)) return [];
    this.#begun.add(index);
    return [this.#chunk(index, { role: "assistant", content: "" }, null)];
  }

  /** Writes a delta; the members of `extra` are next to it. */
  delta(delta: JsonObject, index = 0, extra: JsonObject = {}): StreamEvent[] {
    return [...this.begin(index), this.#chunk(index, delta, null, extra)];
  }

  /** Begins the next tool call; its arguments follow in `toolArguments` unless `call` already holds all of them. */
  tool(call: JsonObject, index = 0): StreamEvent[] {
    const at = this.tools(index);
    this.#tools.set(index, at + 1);
    return this.delta({ tool_calls: [{ index: at, ...call }] }, index);
  }

  toolArguments(args: string, at: number): StreamEvent[] {
    return this.delta({ tool_calls: [{ index: at, function: { arguments: args } }] });
  }

  finish(reason: string, index = 0, extra: JsonObject = {}): StreamEvent[] {
    return [...this.begin(index), this.#chunk(index, {}, reason, extra)];
  }

  /** Writes the chunk with usage, for clients and bridges that requested it. */
  usage(usage: Usage | undefined): StreamEvent[] {
    if (usage === undefined || !this.#context.spec.wantsStreamUsage) return [];
    return [event({ ...this.#envelope(), choices: [], usage: chatUsage(usage) })];
  }

  #envelope(): JsonObject {
    return envelope(this.#head, "chat.completion.chunk", this.#context);
  }

  #chunk(index: number, delta: JsonObject, finish: string | null, extra: JsonObject = {}): StreamEvent {
    return event({ ...this.#envelope(), choices: [{ index, delta, finish_reason: finish, ...extra }] });
  }
}

/** Builds an event of a bridge, encoded from its data. */
export function event(data: JsonObject, name?: string): StreamEvent {
  return { event: name, data, raw: "" };
}
