import type { BridgeContext } from "../../../dialects/core/bridge.ts";
import type { JsonObject, StreamEvent } from "../../../dialects/core/types.ts";
import { object, text } from "../../../dialects/core/read.ts";

export interface ChatUsage {
  readonly input: number;
  readonly output: number;
  readonly cachedInput?: number | undefined;
  readonly cacheWrite?: number | undefined;
  readonly reasoning?: number | undefined;
}

/** Writes usage in the form of the OpenAI protocol; details only if there are any. */
export function chatUsage(usage: ChatUsage): JsonObject {
  const { input, output, cachedInput = 0, cacheWrite = 0, reasoning = 0 } = usage;
  return {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    ...(cachedInput + cacheWrite === 0
      ? {}
      : {
          prompt_tokens_details: {
            cached_tokens: cachedInput,
            ...(cacheWrite === 0 ? {} : { cache_write_tokens: cacheWrite }),
          },
        }),
    ...(reasoning === 0 ? {} : { completion_tokens_details: { reasoning_tokens: reasoning } }),
  };
}

export interface ChatAnswer {
  readonly id?: string | undefined;
  /** Epoch seconds. */
  readonly created?: number | undefined;
  readonly model?: string | undefined;
  readonly content: string | null;
  readonly reasoning?: string | undefined;
  readonly toolCalls?: readonly JsonObject[] | undefined;
  readonly annotations?: readonly JsonObject[] | undefined;
  readonly logprobs?: JsonObject | undefined;
  readonly finish: string;
  readonly usage: ChatUsage | undefined;
  /** Further top-level members. */
  readonly extra?: JsonObject;
}

/** Builds a whole chat completion. */
export function chatAnswer(answer: ChatAnswer, context: BridgeContext): JsonObject {
  const message = buildMessage(answer);
  return {
    id: answer.id ?? madeId(context),
    object: "chat.completion",
    created: answer.created ?? Math.floor(context.now / 1000),
    model: answer.model ?? context.spec.model,
    choices: [
      { index: 0, message, ...(answer.logprobs && { logprobs: answer.logprobs }), finish_reason: answer.finish },
    ],
    ...(answer.usage ? { usage: chatUsage(answer.usage) } : {}),
    ...answer.extra,
  };
}

function buildMessage({ content, reasoning, toolCalls: calls = [], annotations = [] }: ChatAnswer): JsonObject {
  return {
    role: "assistant",
    content: calls.length > 0 && content === "" ? null : content,
    ...(reasoning ? { reasoning_content: reasoning } : {}),
    ...(calls.length === 0 ? {} : { tool_calls: [...calls] }),
    ...(annotations.length === 0 ? {} : { annotations: [...annotations] }),
  };
}

export function toolCall(id: string, name: string, args: string): JsonObject {
  return { id, type: "function", function: { name, arguments: args } };
}

function madeId(context: BridgeContext): string {
  return `chatcmpl-${context.requestId}`;
}

export interface ChunkHead {
  id?: string | undefined;
  created?: number | undefined;
  model?: string | undefined;
}

/** Writes the chunks of one chat stream in the order that clients expect; ends it at most once. */
export class ChunkWriter {
  readonly #context: BridgeContext;
  readonly #hasOwnRoleChunk: boolean;
  #head: ChunkHead = {};
  #isStarted = false;
  #isEnded = false;
  #toolCount = 0;

  /** If `hasOwnRoleChunk`, the stream starts with `{role, content: ""}`; otherwise the first delta carries the role. */
  constructor(context: BridgeContext, options: { readonly hasOwnRoleChunk: boolean }) {
    this.#context = context;
    this.#hasOwnRoleChunk = options.hasOwnRoleChunk;
  }

  get isEnded(): boolean {
    return this.#isEnded;
  }

  get toolCount(): number {
    return this.#toolCount;
  }

  /** Sets id, time and model; the first event that names them wins. */
  name(head: ChunkHead): void {
    const { id, created, model } = this.#head;
    this.#head = { id: id ?? head.id, created: created ?? head.created, model: model ?? head.model };
  }

  start(): StreamEvent[] {
    if (this.#isStarted || !this.#hasOwnRoleChunk) return [];
    this.#isStarted = true;
    return [this.#chunk({ role: "assistant", content: "" }, null)];
  }

  delta(delta: JsonObject, finish: string | null = null, logprobs?: JsonObject): StreamEvent[] {
    const before = this.start();
    const isFirst = !this.#isStarted;
    this.#isStarted = true;
    return [...before, this.#chunk(isFirst ? { role: "assistant", ...delta } : delta, finish, {}, logprobs)];
  }

  /** Writes the header of the next tool call; its arguments follow, or are in `args` if they are already known. */
  toolStart(id: string, name: string, args = ""): StreamEvent[] {
    const index = this.#toolCount++;
    return this.delta({ tool_calls: [{ index, ...toolCall(id, name, args) }] });
  }

  toolArguments(args: string): StreamEvent[] {
    if (args === "" || this.#toolCount === 0) return [];
    return this.delta({ tool_calls: [{ index: this.#toolCount - 1, function: { arguments: args } }] });
  }

  /** Writes usage and terminator after a finish reason, which was sent before or is sent now. */
  end(finish: string | undefined, usage: ChatUsage | undefined, extra: JsonObject = {}): StreamEvent[] {
    if (this.#isEnded) return [];
    this.#isEnded = true;
    const last = finish === undefined ? [] : [...this.start(), this.#chunk({}, finish, extra)];
    const counted = usage ? [this.#event({ ...this.#base(), choices: [], usage: chatUsage(usage) })] : [];
    return [...last, ...counted, { event: undefined, data: undefined, raw: "[DONE]" }];
  }

  /** Writes a failure in the middle of the stream; nothing follows it. */
  fail(error: {
    message: string;
    type?: string | undefined;
    code?: string | undefined;
    param?: string | undefined;
    status?: number | undefined;
  }): StreamEvent[] {
    this.#isEnded = true;
    const { message, type, code, param, status } = error;
    return [
      this.#event({
        error: {
          message,
          ...(type ? { type } : {}),
          ...(code ? { code } : {}),
          ...(param ? { param } : {}),
          ...(status ? { status } : {}),
        },
      }),
    ];
  }

  #base(): JsonObject {
    return {
      id: this.#head.id ?? madeId(this.#context),
      object: "chat.completion.chunk",
      created: this.#head.created ?? Math.floor(this.#context.now / 1000),
      model: this.#head.model ?? this.#context.spec.model,
    };
  }

  #chunk(delta: JsonObject, finish: string | null, extra: JsonObject = {}, logprobs?: JsonObject): StreamEvent {
    const choice = { index: 0, delta, ...(logprobs && { logprobs }), finish_reason: finish };
    return this.#event({ ...this.#base(), choices: [choice], ...extra });
  }

  #event(data: JsonObject): StreamEvent {
    return { event: undefined, data, raw: "" };
  }
}

/** Writes tool calls whose parts share an id: the first part is the header, later ones hold arguments. */
export class CallParts {
  readonly #writer: ChunkWriter;
  #last: string | undefined;

  constructor(writer: ChunkWriter) {
    this.#writer = writer;
  }

  /** Takes a tool call of the OpenAI protocol, whole or in part. */
  take(call: JsonObject): StreamEvent[] {
    const named = object(call, "function");
    const id = text(call, "id") ?? "";
    const args = text(named, "arguments") ?? "";
    if (id === "" || id === this.#last) return this.#writer.toolArguments(args);
    this.#last = id;
    return this.#writer.toolStart(id, text(named, "name") ?? "", args);
  }
}
