import { anyText, number, object, objects } from "../../core/read.ts";
import type { BridgeContext, StreamBridge } from "../../core/bridge.ts";
import type { JsonObject, StreamEvent, Usage } from "../../core/types.ts";
import { readResponsesUsage } from "../../core/usage.ts";
import { ChunkWriter } from "../parts/answer/chat-answer.ts";
import { readItemRuns } from "../parts/tools/hosted-runs.ts";
import { buildLogprobs } from "../parts/answer/logprobs.ts";
import {
  toAnnotations,
  toToolCall,
  readFinishReason,
  readAnswerHead,
  isCall,
  isMessage,
  runCodeParts,
  reasoningText,
  listSealedReasoning,
} from "./answer.ts";

interface OpenCall {
  /** Index among the tool calls. */
  readonly tool: number;
  written: string;
}

/** Converts the events of a response to the chunks of a chat stream. */
export class ResponseToChunks implements StreamBridge {
  readonly #context: BridgeContext;
  readonly #writer: ChunkWriter;
  readonly #calls = new Map<number, OpenCall>();
  /** True if deltas of the open message have arrived. */
  #isReported = false;
  /** True if deltas of the open text had their tokens. */
  #hasTokens = false;
  /** True if sources of the open message arrived in events of their own. */
  #hasSources = false;
  #summaries = 0;
  /** Output indexes of the items that events have reported. */
  readonly #items = new Set<number>();
  /** True if every event of an item so far named its output index. */
  #isPlaced = true;
  #usage: Usage | undefined;

  constructor(context: BridgeContext) {
    this.#context = context;
    this.#writer = new ChunkWriter(context);
  }

  event({ data }: StreamEvent): StreamEvent[] {
    if (data === undefined) return [];
    this.#note(data);
    const delta = anyText(data, "delta");
    switch (data["type"]) {
      case "response.created":
        this.#writer.name(readAnswerHead(object(data, "response")));
        return this.#writer.begin();
      case "response.output_text.delta":
        return this.#text(data, delta);
      case "response.refusal.delta":
        this.#isReported = true;
        return this.#writer.delta({ refusal: delta });
      case "response.reasoning_summary_text.delta":
      case "response.reasoning_text.delta":
        return this.#writer.delta({ reasoning_content: delta });
      case "response.function_call_arguments.delta":
        return this.#arguments(data, delta);
      case "response.completed":
      case "response.incomplete":
        return this.#finish(object(data, "response"));
      default:
        return this.#rest(data);
    }
  }

  end(counted?: Usage): StreamEvent[] {
    return this.#writer.usage(this.#usage ?? counted);
  }

  #text(data: JsonObject, content: string): StreamEvent[] {
    const logprobs = buildLogprobs([data]);
    this.#isReported = true;
    this.#hasTokens ||= logprobs["logprobs"] !== undefined;
    return this.#writer.delta({ content }, 0, logprobs);
  }

  /** Writes tokens that came with the whole text, as some servers do. */
  #tokens(data: JsonObject): StreamEvent[] {
    const hasTokens = this.#hasTokens || !this.#isReported;
    this.#hasTokens = false;
    const logprobs = buildLogprobs([data]);
    return hasTokens || logprobs["logprobs"] === undefined ? [] : this.#writer.delta({}, 0, logprobs);
  }

  #rest(data: JsonObject): StreamEvent[] {
    const item = object(data, "item");
    switch (data["type"]) {
      case "response.output_text.done":
        return this.#tokens(data);
      case "response.output_item.added":
        return item !== undefined && isCall(item) ? this.#openCall(data, item) : [];
      case "response.output_item.done":
        return item === undefined ? [] : this.#closeItem(data, item);
      case "response.custom_tool_call_input.delta":
        return this.#input(data, anyText(data, "delta"));
      case "response.reasoning_summary_part.added":
        return this.#summaries++ === 0 ? [] : this.#writer.delta({ reasoning_content: "\n\n" });
      case "response.output_text.annotation.added":
        this.#hasSources = true;
        return this.#cite([object(data, "annotation") ?? {}]);
      default:
        return [];
    }
  }

  #closeItem(data: JsonObject, item: JsonObject): StreamEvent[] {
    if (isCall(item)) return this.#closeCall(data, item);
    if (isMessage(item)) return this.#closeMessage(item);
    const run = runCodeParts(item, this.#context);
    if (run.length > 0) return run.flatMap((part) => this.#say(part));
    const fw_runs = readItemRuns(item, this.#context);
    if (fw_runs.length > 0) return this.#writer.delta({ fw_runs });
    const sealed = listSealedReasoning(item);
    return sealed.length === 0 ? [] : this.#writer.delta({ fw_thinking: sealed });
  }

  /** Sends text and citations that had no events of their own. */
  #closeMessage(item: JsonObject): StreamEvent[] {
    const parts = objects(item, "content");
    const said = this.#isReported ? [] : parts.flatMap((part) => this.#say(part));
    const cited = this.#hasSources ? [] : this.#cite(parts.flatMap((part) => objects(part, "annotations")));
    this.#isReported = false;
    this.#hasSources = false;
    return [...said, ...cited];
  }

  #say(part: JsonObject): StreamEvent[] {
    const content = anyText(part, "text");
    const refusal = anyText(part, "refusal");
    return [
      ...(content === "" ? [] : this.#writer.delta({ content }, 0, buildLogprobs([part]))),
      ...(refusal === "" ? [] : this.#writer.delta({ refusal })),
    ];
  }

  #cite(sources: readonly JsonObject[]): StreamEvent[] {
    const annotations = sources.flatMap(toAnnotations);
    return annotations.length === 0 ? [] : this.#writer.delta({ annotations });
  }

  /** Writes free text for a tool, which is plain text and not JSON. */
  #input(data: JsonObject, delta: string): StreamEvent[] {
    const call = this.#calls.get(number(data, "output_index") ?? 0);
    if (call === undefined || delta === "") return [];
    call.written += delta;
    return this.#writer.delta({ tool_calls: [{ index: call.tool, custom: { input: delta } }] });
  }

  #openCall(data: JsonObject, item: JsonObject): StreamEvent[] {
    const written = anyText(item, "arguments", "input");
    this.#calls.set(number(data, "output_index") ?? 0, { tool: this.#writer.tools(), written });
    return this.#writer.tool(toToolCall(item));
  }

  #arguments(data: JsonObject, delta: string): StreamEvent[] {
    const call = this.#calls.get(number(data, "output_index") ?? 0);
    if (call === undefined || delta === "") return [];
    call.written += delta;
    return this.#writer.toolArguments(delta, call.tool);
  }

  /** Closes a call: arguments that had no deltas are sent at once, and a call that was never announced begins here. */
  #closeCall(data: JsonObject, item: JsonObject): StreamEvent[] {
    const call = this.#calls.get(number(data, "output_index") ?? 0);
    if (call === undefined) return this.#openCall(data, item);
    const whole = anyText(item, "arguments", "input");
    if (call.written !== "" || whole === "") return [];
    return item["type"] === "custom_tool_call"
      ? this.#input(data, whole)
      : this.#writer.toolArguments(whole, call.tool);
  }

  #note(data: JsonObject): void {
    const at = number(data, "output_index");
    if (at !== undefined) this.#items.add(at);
    else this.#isPlaced &&= data["delta"] === undefined && data["item"] === undefined;
  }

  /** Finishes the stream; some servers report items only in the response of the last event. */
  #finish(response: JsonObject | undefined): StreamEvent[] {
    this.#usage = readResponsesUsage(object(response, "usage"));
    this.#writer.name(readAnswerHead(response));
    const missing = this.#isPlaced
      ? objects(response, "output").flatMap((item, at) => this.#sendMissing(item, at))
      : [];
    return [...missing, ...this.#writer.finish(readFinishReason(response, this.#writer.tools() > 0))];
  }

  #sendMissing(item: JsonObject, at: number): StreamEvent[] {
    if (this.#items.has(at)) return [];
    const thought = reasoningText(item);
    const reported = thought === "" ? [] : this.#writer.delta({ reasoning_content: thought });
    return [...reported, ...this.#closeItem({ output_index: at }, item)];
  }
}
