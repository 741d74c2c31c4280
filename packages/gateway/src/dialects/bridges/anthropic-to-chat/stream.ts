import { anyText, number, object, objects, text } from "../../core/read.ts";
import type { BridgeContext, StreamBridge } from "../../core/bridge.ts";
import type { JsonObject, StreamEvent, Usage } from "../../core/types.ts";
import { anthropicCounts, anthropicUsage, readChatUsage, toUsage } from "../../core/usage.ts";
import { CallSequence, callDeltas, type CallStep } from "../parts/tools/call-sequence.ts";
import { event } from "../parts/answer/chat-answer.ts";
import { readThought, formatMessage } from "../parts/answer/finish-words.ts";
import { finishIn } from "../parts/answer/finish.ts";
import { withPrefix } from "../parts/answer/ids.ts";
import { toCitations, buildStopMembers, searchesIn } from "./answer.ts";
import { buildRunBlocks, listHostedRuns } from "../parts/tools/hosted-runs.ts";
import { metStop, type AskedMessage } from "./asked.ts";

type Kind = "text" | "thinking";

/**
 * Share of the prompt's upper bound that is reported as its size at the start of a stream. Gateways that call this one
 * use the largest count they see, so the estimate must be low.
 */
const SHARE_OF_BOUND = 1 / 3;

/** Converts the chunks of a chat stream to the events of a message; one block is open at a time. */
export class ChunksToMessage implements StreamBridge {
  readonly #context: BridgeContext;
  readonly #asked: AskedMessage;
  readonly #calls = new CallSequence();
  #isStarted = false;
  #open: Kind | undefined;
  /** Index of the open block, or of the next one. */
  #block = 0;
  #finish: string | undefined;
  #stopSequence: string | undefined;
  #hasRefused = false;
  #signature = "";
  #usage: Usage | undefined;
  readonly #runs: JsonObject[] = [];

  constructor(context: BridgeContext, asked: AskedMessage) {
    this.#context = context;
    this.#asked = asked;
  }

  event({ data }: StreamEvent): StreamEvent[] {
    if (data === undefined) return [];
    this.#usage = readChatUsage(object(data, "usage")) ?? this.#usage;
    const choices = objects(data, "choices");
    if (choices.length === 0) return [];
    const events = this.#start(data);
    for (const choice of choices) {
      if ((number(choice, "index") ?? 0) !== 0) continue;
      this.#usage = readChatUsage(object(choice, "usage")) ?? this.#usage;
      events.push(...this.#delta(object(choice, "delta") ?? {}));
      this.#finish = finishIn(choice) ?? this.#finish;
      this.#stopSequence = metStop(choice, this.#asked) ?? this.#stopSequence;
    }
    return events;
  }

  end(counted?: Usage): StreamEvent[] {
    const started = this.#start({});
    const delta = buildStopMembers({
      finish: this.#finish,
      hasTools: this.#calls.size > 0,
      hasRefused: this.#hasRefused,
      stopSequence: this.#stopSequence,
    });
    return [
      ...started,
      ...this.#close(),
      ...this.#finishCalls(),
      toNamedEvent({
        type: "message_delta",
        delta,
        usage: { ...anthropicCounts(this.#usage ?? counted ?? toUsage({})), ...searchesIn(this.#runs) },
      }),
      toNamedEvent({ type: "message_stop" }),
    ];
  }

  /**
   * Starts the message. Some vendors first send events without choices, which have no id and no model. The input count
   * is an estimate until the upstream reports its own.
   */
  #start(data: JsonObject): StreamEvent[] {
    if (this.#isStarted) return [];
    this.#isStarted = true;
    const { spec } = this.#context;
    const message = {
      id: withPrefix(text(data, "id"), "msg_", this.#context),
      type: "message",
      role: "assistant",
      model: text(data, "model") ?? spec.model,
      content: [],
      stop_reason: null,
      stop_sequence: null,
      stop_details: null,
      container: null,
      diagnostics: null,
      usage: anthropicUsage(this.#usage ?? toUsage({ input: Math.ceil(spec.promptEstimate * SHARE_OF_BOUND) })),
    };
    return [toNamedEvent({ type: "message_start", message })];
  }

  #delta(delta: JsonObject): StreamEvent[] {
    const events: StreamEvent[] = [];
    const thinking = readThought(delta);
    if (thinking !== "") events.push(...this.#write("thinking", { type: "thinking_delta", thinking }));
    for (const block of objects(delta, "fw_thinking")) events.push(...this.#sign(block));
    if (delta["fw_runs"] !== undefined) events.push(...listHostedRuns(delta).flatMap((run) => this.#run(run)));
    const refusal = anyText(delta, "refusal");
    this.#hasRefused ||= refusal !== "";
    for (const written of [formatMessage(delta), refusal]) {
      if (written !== "") events.push(...this.#write("text", { type: "text_delta", text: written }));
    }
    for (const citation of objects(delta, "annotations").flatMap(toCitations)) {
      events.push(...this.#write("text", { type: "citations_delta", citation }));
    }
    for (const part of callDeltas(delta)) {
      events.push(...this.#close(), ...this.#calls.take(part).map((step) => this.#step(step)));
    }
    return events;
  }

  /** Writes the signature that closes the streamed thinking; redacted thinking is a block of its own. */
  #sign(block: JsonObject): StreamEvent[] {
    if (block["type"] === "redacted_thinking") {
      const closed = this.#close();
      const index = this.#block++;
      return [
        ...closed,
        toNamedEvent({ type: "content_block_start", index, content_block: block }),
        toNamedEvent({ type: "content_block_stop", index }),
      ];
    }
    const thinking = anyText(block, "thinking");
    const events = this.#open === "thinking" ? [] : this.#write("thinking", { type: "thinking_delta", thinking });
    this.#signature = anyText(block, "signature");
    return [...events, ...this.#close()];
  }

  /** Writes a call that the vendor ran and its result, each as a whole block. */
  #run(run: JsonObject): StreamEvent[] {
    const events = [...this.#close(), ...this.#finishCalls()];
    for (const block of buildRunBlocks(run, this.#runs.push(run) - 1, this.#context)) {
      const index = this.#block++;
      const { input, ...rest } = block;
      const content_block = input === undefined ? block : { ...rest, input: {} };
      const delta = { type: "input_json_delta", partial_json: JSON.stringify(input) };
      events.push(toNamedEvent({ type: "content_block_start", index, content_block }));
      if (input !== undefined) events.push(toNamedEvent({ type: "content_block_delta", index, delta }));
      events.push(toNamedEvent({ type: "content_block_stop", index }));
    }
    return events;
  }

  #write(kind: Kind, delta: JsonObject): StreamEvent[] {
    const events: StreamEvent[] = [];
    if (this.#open !== kind) {
      const block = kind === "text" ? { type: "text", text: "" } : { type: "thinking", thinking: "", signature: "" };
      events.push(...this.#close(), ...this.#finishCalls());
      this.#open = kind;
      events.push(toNamedEvent({ type: "content_block_start", index: this.#block, content_block: block }));
    }
    return [...events, toNamedEvent({ type: "content_block_delta", index: this.#block, delta })];
  }

  #finishCalls(): StreamEvent[] {
    return this.#calls.finish().map((step) => this.#step(step));
  }

  #step(step: CallStep): StreamEvent {
    switch (step.type) {
      case "open": {
        const { id } = step.call;
        const name = this.#asked.names.get(step.call.name) ?? step.call.name;
        return toNamedEvent({
          type: "content_block_start",
          index: this.#block,
          content_block: { type: "tool_use", id, name, input: {} },
        });
      }
      case "arguments":
        return toNamedEvent({
          type: "content_block_delta",
          index: this.#block,
          delta: { type: "input_json_delta", partial_json: step.text },
        });
      case "close":
        return toNamedEvent({ type: "content_block_stop", index: this.#block++ });
    }
  }

  #close(): StreamEvent[] {
    if (this.#open === undefined) return [];
    const index = this.#block++;
    const signature = {
      type: "content_block_delta",
      index,
      delta: { type: "signature_delta", signature: this.#signature },
    };
    const events = this.#open === "thinking" ? [toNamedEvent(signature)] : [];
    this.#signature = "";
    this.#open = undefined;
    return [...events, toNamedEvent({ type: "content_block_stop", index })];
  }
}

/** Names the event, because clients of this protocol read events by name. */
function toNamedEvent(data: JsonObject): StreamEvent {
  return event(data, text(data, "type"));
}
