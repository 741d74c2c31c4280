import { ResponseWriter } from "../../openai-responses/writer.ts";
import { anyText, number, object, objects } from "../../core/read.ts";
import type { StreamBridge } from "../../core/bridge.ts";
import type { JsonObject, StreamEvent, Usage } from "../../core/types.ts";
import { readChatUsage, responsesUsage } from "../../core/usage.ts";
import { CallSequence, callDeltas, type CallStep } from "../parts/tools/call-sequence.ts";
import { readThought, formatMessage } from "../parts/answer/finish-words.ts";
import { finishIn } from "../parts/answer/finish.ts";
import { chosenTokens } from "../parts/answer/logprobs.ts";
import { LongText } from "../parts/content/long-text.ts";
import { toResponseStatus, buildResponseHead } from "./answer.ts";
import type { AnswerContext } from "./asked.ts";
import { toAnnotations, callItem, messageItem, reasoningItem, textPart } from "./items.ts";
import { itemId } from "./own-ids.ts";
import { isCodeRun } from "../parts/tools/code-runs.ts";
import { eventsOfRun, buildRunItem, getRunPrefix, listHostedRuns } from "../parts/tools/hosted-runs.ts";

type Part = "output_text" | "refusal";

/** Converts the chunks of a chat stream to the events of a response; one item is open at a time. */
export class ChunksToResponse implements StreamBridge {
  readonly #answer: AnswerContext;
  readonly #calls = new CallSequence();
  #writer: ResponseWriter | undefined;
  #open: "reasoning" | "message" | undefined;
  #part: Part | undefined;
  #messageId = "";
  readonly #written = new LongText();
  #content: JsonObject[] = [];
  #annotations: JsonObject[] = [];
  /** Sources that were named before the text. */
  readonly #earlySources: JsonObject[] = [];
  /** Tokens with their probabilities: `#waitingTokens` wait for their text, `#tokens` are of the open part. */
  readonly #waitingTokens: JsonObject[] = [];
  #tokens: JsonObject[] = [];
  #signed: JsonObject[] = [];
  readonly #arguments = new LongText();
  #finish: string | undefined;
  #usage: Usage | undefined;

  constructor(answer: AnswerContext) {
    this.#answer = answer;
  }

  event({ data }: StreamEvent): StreamEvent[] {
    if (data === undefined) return [];
    this.#usage = readChatUsage(object(data, "usage")) ?? this.#usage;
    const choices = objects(data, "choices");
    if (choices.length === 0) return [];
    const [writer, events] = this.#begin(data);
    for (const choice of choices) {
      if ((number(choice, "index") ?? 0) !== 0) continue;
      this.#usage = readChatUsage(object(choice, "usage")) ?? this.#usage;
      this.#finish = finishIn(choice) ?? this.#finish;
      events.push(...this.#delta(object(choice, "delta") ?? {}, chosenTokens(choice), writer));
    }
    return events;
  }

  end(counted?: Usage): StreamEvent[] {
    const [writer, begun] = this.#begin({});
    const { status, details } = toResponseStatus(this.#finish);
    const events = [...begun, ...this.#close(writer, status), ...this.#finishCalls(writer, status)];
    const known = this.#usage ?? counted;
    const usage = known === undefined ? null : responsesUsage(known);
    const ended = writer.end(status, { incomplete_details: details, usage });
    this.#answer.context.pending?.made(object(ended.data, "response") ?? {});
    return [...events, ended];
  }

  /** Begins the response; some vendors first send events without choices, which have no id and no model. */
  #begin(data: JsonObject): [ResponseWriter, StreamEvent[]] {
    if (this.#writer !== undefined) return [this.#writer, []];
    this.#writer = new ResponseWriter(buildResponseHead(data, this.#answer));
    return [this.#writer, this.#writer.begin()];
  }

  #delta(delta: JsonObject, tokens: readonly JsonObject[], writer: ResponseWriter): StreamEvent[] {
    const events: StreamEvent[] = [];
    const thinking = readThought(delta);
    const content = formatMessage(delta);
    const calls = callDeltas(delta);
    if (content !== "" || (thinking === "" && calls.length === 0)) this.#waitingTokens.push(...tokens);
    if (thinking !== "") events.push(...this.#think(thinking, writer));
    const signed = objects(delta, "fw_thinking");
    if (signed.length > 0) events.push(...this.#readSigned(signed, writer));
    if (delta["fw_runs"] !== undefined) events.push(...listHostedRuns(delta).flatMap((run) => this.#run(run, writer)));
    if (content !== "") events.push(...this.#write("output_text", content, writer));
    const refusal = anyText(delta, "refusal");
    if (refusal !== "") events.push(...this.#write("refusal", refusal, writer));
    for (const annotation of objects(delta, "annotations").flatMap(toAnnotations))
      events.push(...this.#annotate(annotation, writer));
    for (const part of calls) {
      events.push(...this.#close(writer));
      for (const step of this.#calls.take(part)) events.push(...this.#step(step, writer));
    }
    return events;
  }

  /** Reads signatures, which belong to a reasoning item; they open one if no thinking did. */
  #readSigned(signed: readonly JsonObject[], writer: ResponseWriter): StreamEvent[] {
    const events = this.#open === "reasoning" ? [] : this.#openReasoning(writer);
    this.#signed.push(...signed);
    return events;
  }

  /** Reports a call that the vendor ran when it is whole. */
  #run(run: JsonObject, writer: ResponseWriter): StreamEvent[] {
    const events = [...this.#close(writer), ...this.#finishCalls(writer)];
    const item = buildRunItem(this.#id(getRunPrefix(run), writer), run);
    const place = { item_id: item["id"], output_index: writer.index };
    const opened = { ...item, status: "in_progress", ...(isCodeRun(run) && { code: "", outputs: [] }) };
    events.push(writer.openItem(opened));
    for (const [type, more] of eventsOfRun(run, item)) events.push(writer.event(type, { ...place, ...more }));
    return [...events, writer.closeItem(item)];
  }

  #openReasoning(writer: ResponseWriter): StreamEvent[] {
    const events = [...this.#close(writer), ...this.#finishCalls(writer)];
    this.#open = "reasoning";
    const id = this.#id("rs", writer);
    return [...events, writer.openItem({ type: "reasoning", id, summary: [] })];
  }

  #think(thinking: string, writer: ResponseWriter): StreamEvent[] {
    const events = this.#open === "reasoning" ? [] : this.#openReasoning(writer);
    const place = { item_id: this.#id("rs", writer), output_index: writer.index, summary_index: 0 };
    if (this.#written.isEmpty) {
      events.push(
        writer.event("response.reasoning_summary_part.added", { ...place, part: { type: "summary_text", text: "" } }),
      );
    }
    this.#written.add(thinking);
    return [...events, writer.event("response.reasoning_summary_text.delta", { ...place, delta: thinking })];
  }

  #write(part: Part, written: string, writer: ResponseWriter): StreamEvent[] {
    if (this.#open === "message" && this.#part === part) {
      this.#written.add(written);
      return [this.#buildDelta(part, written, writer)];
    }
    const events: StreamEvent[] = [];
    if (this.#open !== "message") {
      events.push(...this.#close(writer), ...this.#finishCalls(writer));
      this.#open = "message";
      this.#messageId = this.#id("msg", writer);
      events.push(writer.openItem(messageItem(this.#messageId, [], "in_progress")));
    }
    if (this.#part !== part) {
      events.push(...this.#closePart(writer));
      this.#part = part;
      events.push(writer.event("response.content_part.added", { ...this.#place(writer), part: buildPart(part, "") }));
    }
    this.#written.add(written);
    events.push(this.#buildDelta(part, written, writer));
    for (const source of this.#earlySources.splice(0)) events.push(...this.#annotate(source, writer));
    return events;
  }

  /** Builds a delta. Nearly every event of a stream is one, so it is written directly. */
  #buildDelta(part: Part, delta: string, writer: ResponseWriter): StreamEvent {
    const type = part === "output_text" ? "response.output_text.delta" : "response.refusal.delta";
    const place = {
      type,
      item_id: this.#messageId,
      output_index: writer.index,
      content_index: this.#content.length,
      delta,
    };
    if (part === "refusal") return writer.numbered(type, place);
    const logprobs = this.#waitingTokens.splice(0);
    this.#tokens.push(...logprobs);
    return writer.numbered(type, { ...place, logprobs });
  }

  #annotate(annotation: JsonObject, writer: ResponseWriter): StreamEvent[] {
    if (this.#part !== "output_text") {
      this.#earlySources.push(annotation);
      return [];
    }
    const annotation_index = this.#annotations.push(annotation) - 1;
    return [
      writer.event("response.output_text.annotation.added", { ...this.#place(writer), annotation_index, annotation }),
    ];
  }

  #closePart(writer: ResponseWriter): StreamEvent[] {
    const kind = this.#part;
    if (kind === undefined) return [];
    this.#tokens.push(...this.#waitingTokens.splice(0));
    const written = this.#written.take();
    const part = kind === "output_text" ? textPart(written, this.#annotations, this.#tokens) : buildPart(kind, written);
    const place = this.#place(writer);
    const key = kind === "output_text" ? "text" : "refusal";
    this.#content.push(part);
    const logprobs = kind === "output_text" ? { logprobs: this.#tokens } : {};
    const done = writer.event(`response.${kind}.done`, { ...place, [key]: written, ...logprobs });
    this.#part = undefined;
    this.#annotations = [];
    this.#tokens = [];
    return [done, writer.event("response.content_part.done", { ...place, part })];
  }

  #close(writer: ResponseWriter, status = "completed"): StreamEvent[] {
    if (this.#open === "message") {
      const events = this.#closePart(writer);
      const item = messageItem(this.#id("msg", writer), this.#content, status);
      this.#content = [];
      this.#open = undefined;
      return [...events, writer.closeItem(item)];
    }
    return this.#open === "reasoning" ? this.#closeReasoning(writer) : [];
  }

  #closeReasoning(writer: ResponseWriter): StreamEvent[] {
    const written = this.#written.take();
    const item = reasoningItem(this.#id("rs", writer), written, this.#signed);
    const place = { item_id: item["id"], output_index: writer.index, summary_index: 0 };
    const events: StreamEvent[] = [];
    if (written !== "") {
      const part = { type: "summary_text", text: written };
      events.push(
        writer.event("response.reasoning_summary_text.done", { ...place, text: written }),
        writer.event("response.reasoning_summary_part.done", { ...place, part }),
      );
    }
    this.#signed = [];
    this.#open = undefined;
    return [...events, writer.closeItem(item)];
  }

  #finishCalls(writer: ResponseWriter, status = "completed"): StreamEvent[] {
    return this.#calls.finish().flatMap((step) => this.#step(step, writer, status));
  }

  /**
   * Writes a step of a call. Free-text input is one argument upstream, so it is sent when it is whole, as are calls of
   * special kinds.
   */
  #step(step: CallStep, writer: ResponseWriter, status = "completed"): StreamEvent[] {
    const { id, name } = step.call;
    const kind = this.#answer.specialTools.get(name)?.kind ?? "function";
    const place = { item_id: this.#id("fc", writer), output_index: writer.index };
    switch (step.type) {
      case "open": {
        this.#arguments.take();
        const item = callItem(this.#id("fc", writer), { id, name, args: "" }, this.#answer);
        return kind === "client" ? [] : [writer.openItem({ ...item, status: "in_progress" })];
      }
      case "arguments":
        this.#arguments.add(step.text);
        return kind === "function"
          ? [writer.event("response.function_call_arguments.delta", { ...place, delta: step.text })]
          : [];
      case "close": {
        const args = this.#arguments.take();
        const item = callItem(this.#id("fc", writer), { id, name, args }, this.#answer);
        const opened = kind === "client" ? [writer.openItem({ ...item, status: "in_progress" })] : [];
        return [...opened, ...doneEvents(item, place, writer), writer.closeItem({ ...item, status })];
      }
    }
  }

  #id(prefix: string, writer: ResponseWriter): string {
    return itemId(prefix, writer.index, this.#answer.context);
  }

  #place(writer: ResponseWriter): JsonObject {
    return { item_id: this.#id("msg", writer), output_index: writer.index, content_index: this.#content.length };
  }
}

function buildPart(kind: Part, written: string): JsonObject {
  return kind === "output_text" ? textPart(written) : { type: "refusal", refusal: written };
}

/** Returns the events for the complete arguments of a call; a search has them only in its item. */
function doneEvents(item: JsonObject, place: JsonObject, writer: ResponseWriter): StreamEvent[] {
  const { type, name, input, arguments: args } = item;
  switch (type) {
    case "custom_tool_call":
      return [
        writer.event("response.custom_tool_call_input.delta", { ...place, delta: input }),
        writer.event("response.custom_tool_call_input.done", { ...place, input }),
      ];
    case "function_call":
      return [writer.event("response.function_call_arguments.done", { ...place, name, arguments: args })];
    default:
      return [];
  }
}
