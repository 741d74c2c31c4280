import { anyText, number, object, objects, text } from "../../read.ts";
import type { BridgeContext, JsonObject, StreamBridge, StreamEvent, Usage } from "../../types.ts";
import { anthropicUsage, readChatUsage, usageOf } from "../../usage.ts";
import { event } from "../parts/chat-answer.ts";
import { newCallId, withPrefix } from "../parts/ids.ts";
import { citationOf, stopReason } from "./answer.ts";

type Kind = "text" | "thinking" | "tool_use";

interface Call {
  readonly id: string;
  name: string;
  /** Arguments that wait because another block is open. */
  waiting: string;
}

/**
 * Events of a message from the chunks of a chat stream. One block is open at a time: what belongs to a later tool
 * call waits until the earlier one is closed.
 */
export class ChunksToMessage implements StreamBridge {
  readonly #context: BridgeContext;
  readonly #calls = new Map<number, Call>();
  readonly #waiting: number[] = [];
  #isStarted = false;
  #open: Kind | undefined;
  #openTool = -1;
  #blocks = 0;
  #finish: string | undefined;
  #stopSequence: string | undefined;
  #hasRefused = false;
  #signature = "";
  #usage: Usage | undefined;

  constructor(context: BridgeContext) {
    this.#context = context;
  }

  event({ data }: StreamEvent): StreamEvent[] {
    if (data === undefined || !Array.isArray(data["choices"])) return [];
    this.#usage = readChatUsage(object(data, "usage")) ?? this.#usage;
    const events = this.#start(data);
    for (const choice of objects(data, "choices")) {
      if ((number(choice, "index") ?? 0) !== 0) continue;
      this.#usage = readChatUsage(object(choice, "usage")) ?? this.#usage;
      events.push(...this.#delta(object(choice, "delta") ?? {}));
      this.#finish = text(choice, "finish_reason") ?? this.#finish;
      this.#stopSequence = text(choice, "fw_stop_sequence") ?? this.#stopSequence;
    }
    return events;
  }

  end(): StreamEvent[] {
    if (!this.#isStarted) return [];
    const events = [...this.#close(), ...this.#flushCalls()];
    const reason = stopReason({
      finish: this.#finish,
      hasTools: this.#calls.size > 0,
      hasRefused: this.#hasRefused,
      stopSequence: this.#stopSequence,
    });
    events.push(
      named({
        type: "message_delta",
        delta: { stop_reason: reason, stop_sequence: this.#stopSequence ?? null },
        usage: anthropicUsage(this.#usage ?? usageOf({})),
      }),
      named({ type: "message_stop" }),
    );
    return events;
  }

  /** The input side is an estimate until the upstream has said what it counted. */
  #start(data: JsonObject): StreamEvent[] {
    if (this.#isStarted) return [];
    this.#isStarted = true;
    const { ask } = this.#context;
    const message = {
      id: withPrefix(text(data, "id"), "msg_", this.#context),
      type: "message",
      role: "assistant",
      model: text(data, "model") ?? ask.model,
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: anthropicUsage(this.#usage ?? usageOf({ input: ask.promptEstimate })),
    };
    return [named({ type: "message_start", message })];
  }

  #delta(delta: JsonObject): StreamEvent[] {
    const events: StreamEvent[] = [];
    const thinking = anyText(delta, "reasoning_content", "reasoning");
    if (thinking !== "") events.push(...this.#write("thinking", { type: "thinking_delta", thinking }));
    for (const block of objects(delta, "fw_thinking")) events.push(...this.#sign(block));
    const content = anyText(delta, "content");
    if (content !== "") events.push(...this.#write("text", { type: "text_delta", text: content }));
    const refusal = anyText(delta, "refusal");
    if (refusal !== "") {
      this.#hasRefused = true;
      events.push(...this.#write("text", { type: "text_delta", text: refusal }));
    }
    for (const citation of objects(delta, "annotations").flatMap(citationOf)) {
      events.push(...this.#write("text", { type: "citations_delta", citation }));
    }
    for (const call of objects(delta, "tool_calls")) events.push(...this.#call(call));
    const legacy = object(delta, "function_call");
    if (legacy !== undefined) events.push(...this.#call({ index: 0, function: legacy }));
    return events;
  }

  /** The signature closes the thinking that was streamed; redacted thinking is a block of its own. */
  #sign(block: JsonObject): StreamEvent[] {
    if (block["type"] === "redacted_thinking") {
      const closed = this.#close();
      const index = this.#blocks++;
      return [
        ...closed,
        named({ type: "content_block_start", index, content_block: block }),
        named({ type: "content_block_stop", index }),
      ];
    }
    this.#signature = anyText(block, "signature");
    const events = this.#open === "thinking" ? [] : this.#write("thinking", { type: "thinking_delta", thinking: anyText(block, "thinking") });
    return [...events, ...this.#close()];
  }

  #write(kind: "text" | "thinking", delta: JsonObject): StreamEvent[] {
    const events: StreamEvent[] = [];
    if (this.#open !== kind) {
      events.push(...this.#close(), ...this.#flushCalls());
      const empty = kind === "text" ? { type: "text", text: "" } : { type: "thinking", thinking: "", signature: "" };
      events.push(...this.#openBlock(kind, empty));
    }
    events.push(named({ type: "content_block_delta", index: this.#blocks, delta }));
    return events;
  }

  #call(part: JsonObject): StreamEvent[] {
    const index = number(part, "index") ?? this.#indexOf(text(part, "id"));
    const target = object(part, "function") ?? object(part, "custom");
    const args = anyText(target, "arguments", "input");
    const known = this.#calls.get(index);
    const call = known ?? { id: anyText(part, "id") || newCallId(), name: "", waiting: "" };
    if (call.name === "") call.name = anyText(target, "name");
    if (known === undefined) {
      this.#calls.set(index, call);
      if (this.#open === "tool_use") this.#waiting.push(index);
      else return [...this.#close(), ...this.#openCall(index, call), ...this.#arguments(args)];
    }
    if (this.#openTool === index && this.#open === "tool_use") return this.#arguments(args);
    call.waiting += args;
    if (!this.#waiting.includes(index)) this.#waiting.push(index);
    return [];
  }

  /** A vendor that leaves the index out sends each call whole: a new id is a new call. */
  #indexOf(id: string | undefined): number {
    for (const [index, call] of this.#calls) if (id !== undefined && call.id === id) return index;
    return id === undefined && this.#calls.size > 0 ? this.#calls.size - 1 : this.#calls.size;
  }

  #openCall(index: number, call: Call): StreamEvent[] {
    this.#openTool = index;
    return this.#openBlock("tool_use", { type: "tool_use", id: call.id, name: call.name, input: {} });
  }

  #arguments(part: string): StreamEvent[] {
    if (part === "") return [];
    return [named({ type: "content_block_delta", index: this.#blocks, delta: { type: "input_json_delta", partial_json: part } })];
  }

  /** Calls that had to wait, whole and in order. */
  #flushCalls(): StreamEvent[] {
    const events: StreamEvent[] = [];
    for (const index of this.#waiting.splice(0)) {
      const call = this.#calls.get(index);
      if (call === undefined) continue;
      events.push(...this.#openCall(index, call), ...this.#arguments(call.waiting), ...this.#close());
      call.waiting = "";
    }
    return events;
  }

  #openBlock(kind: Kind, block: JsonObject): StreamEvent[] {
    this.#open = kind;
    return [named({ type: "content_block_start", index: this.#blocks, content_block: block })];
  }

  #close(): StreamEvent[] {
    if (this.#open === undefined) return [];
    const index = this.#blocks++;
    const signature = { type: "content_block_delta", index, delta: { type: "signature_delta", signature: this.#signature } };
    const events = this.#open === "thinking" ? [named(signature)] : [];
    this.#signature = "";
    this.#open = undefined;
    return [...events, named({ type: "content_block_stop", index })];
  }
}

/** Clients of this protocol read the event by its name. */
function named(data: JsonObject): StreamEvent {
  return event(data, text(data, "type"));
}
