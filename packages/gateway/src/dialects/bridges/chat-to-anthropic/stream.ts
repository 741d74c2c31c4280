import { anyText, compact, number, object, text } from "../../core/read.ts";
import type { BridgeContext, StreamBridge } from "../../core/bridge.ts";
import type { JsonObject, StreamEvent, Usage } from "../../core/types.ts";
import { AnthropicTotals } from "../../anthropic-messages/totals.ts";
import { ChunkWriter } from "../parts/answer/chat-answer.ts";
import { convertAnthropicFinish } from "../parts/answer/finish.ts";
import { writeRunCode } from "./hosted-answer.ts";
import { parseArguments } from "../parts/tools/arguments.ts";
import { MessageRuns } from "../parts/tools/hosted-runs.ts";
import { toAnnotations } from "./answer.ts";

interface OpenBlock {
  readonly block: JsonObject;
  /** Index among the tool calls; undefined for other blocks. */
  readonly tool: number | undefined;
  hasArguments: boolean;
  /** The input of a tool that the vendor runs, written so far. */
  written: string;
  /** Characters of the answer that were written before this block. */
  readonly from: number;
  readonly citations: JsonObject[];
}

/** Converts the events of a message to the chunks of a chat stream. */
export class MessageToChunks implements StreamBridge {
  readonly #writer: ChunkWriter;
  readonly #totals = new AnthropicTotals();
  readonly #open = new Map<number, OpenBlock>();
  readonly #thinking: JsonObject[] = [];
  readonly #context: BridgeContext;
  readonly #runs: MessageRuns;
  #written = 0;
  #isThinkingSent = false;
  #usage: Usage | undefined;

  constructor(context: BridgeContext) {
    this.#context = context;
    this.#writer = new ChunkWriter(context);
    this.#runs = new MessageRuns(context);
  }

  event({ data }: StreamEvent): StreamEvent[] {
    if (data === undefined) return [];
    const index = number(data, "index") ?? 0;
    switch (data["type"]) {
      case "message_start":
        return this.#start(object(data, "message") ?? {});
      case "content_block_start":
        return this.#openBlock(index, object(data, "content_block") ?? {});
      case "content_block_delta":
        return this.#delta(index, object(data, "delta") ?? {});
      case "content_block_stop":
        return this.#closeBlock(index);
      case "message_delta":
        return this.#finish(data);
      default:
        return [];
    }
  }

  end(counted?: Usage): StreamEvent[] {
    return this.#writer.usage(this.#usage ?? counted);
  }

  #start(message: JsonObject): StreamEvent[] {
    this.#totals.see(object(message, "usage"));
    this.#writer.name({ id: text(message, "id"), model: text(message, "model") });
    return this.#writer.begin();
  }

  #openBlock(index: number, block: JsonObject): StreamEvent[] {
    const isTool = block["type"] === "tool_use";
    this.#open.set(index, {
      block: { ...block },
      tool: isTool ? this.#writer.tools() : undefined,
      hasArguments: false,
      written: "",
      from: this.#written,
      citations: [],
    });
    if (isTool) {
      const call = {
        id: text(block, "id") ?? "",
        type: "function",
        function: { name: text(block, "name") ?? "", arguments: "" },
      };
      return [...this.#tellThinking(), ...this.#writer.tool(call)];
    }
    const begun = block["type"] === "text" ? text(block, "text") : undefined;
    return begun === undefined || begun === "" ? [] : this.#text(begun);
  }

  #text(written: string): StreamEvent[] {
    this.#written += written.length;
    return this.#writer.delta({ content: written });
  }

  #delta(index: number, delta: JsonObject): StreamEvent[] {
    const open = this.#open.get(index);
    switch (delta["type"]) {
      case "text_delta":
        return this.#text(anyText(delta, "text"));
      case "thinking_delta":
        return this.#think(open, anyText(delta, "thinking"));
      case "signature_delta":
        append(open?.block, "signature", anyText(delta, "signature"));
        return [];
      case "input_json_delta":
        return this.#arguments(open, anyText(delta, "partial_json"));
      case "citations_delta":
        open?.citations.push(object(delta, "citation") ?? {});
        return [];
      default:
        return [];
    }
  }

  #think(open: OpenBlock | undefined, part: string): StreamEvent[] {
    append(open?.block, "thinking", part);
    return part === "" ? [] : this.#writer.delta({ reasoning_content: part });
  }

  /** Writes citations when the block is whole: one may come before its text, so its position is not known earlier. */
  #cite({ citations, from }: OpenBlock): StreamEvent[] {
    const annotations = citations.flatMap((citation) => toAnnotations(citation, from, this.#written));
    return annotations.length === 0 ? [] : this.#writer.delta({ annotations });
  }

  #arguments(open: OpenBlock | undefined, part: string): StreamEvent[] {
    if (open === undefined) throw new Error("arguments came without their call");
    if (open.tool === undefined) open.written += part;
    if (open.tool === undefined || part === "") return [];
    open.hasArguments = true;
    return this.#writer.toolArguments(part, open.tool);
  }

  #closeBlock(index: number): StreamEvent[] {
    const open = this.#open.get(index);
    this.#open.delete(index);
    if (open === undefined) return [];
    const type = open.block["type"];
    if (type === "thinking" || type === "redacted_thinking") {
      this.#thinking.push(open.block);
      return this.#writer.delta({ fw_thinking: [open.block] });
    }
    if (open.citations.length > 0) return this.#cite(open);
    const input = open.written === "" ? undefined : parseArguments(open.written);
    const runs = this.#runs.read(open.block, input);
    if (runs.length > 0) return this.#writer.delta({ fw_runs: runs });
    const run = writeRunCode(input === undefined ? open.block : { ...open.block, input }, this.#context);
    if (run !== "") return this.#text(run);
    if (open.tool === undefined || open.hasArguments) return [];
    return this.#writer.toolArguments(JSON.stringify(object(open.block, "input") ?? {}), open.tool);
  }

  /** Sends signed thinking to chat clients next to the tool calls that it belongs to. */
  #tellThinking(): StreamEvent[] {
    if (this.#isThinkingSent || this.#thinking.length === 0) return [];
    this.#isThinkingSent = true;
    return this.#writer.delta({ thinking_blocks: [...this.#thinking] });
  }

  #finish(data: JsonObject): StreamEvent[] {
    const delta = object(data, "delta");
    this.#totals.see(object(data, "usage"));
    this.#usage = this.#totals.usage;
    const reason = text(delta, "stop_reason");
    if (reason === undefined) return [];
    const extra = compact({ fw_stop_sequence: delta?.["stop_sequence"] ?? undefined });
    const fw_runs = this.#runs.rest();
    const waiting = fw_runs.length === 0 ? [] : this.#writer.delta({ fw_runs });
    return [...waiting, ...this.#writer.finish(convertAnthropicFinish(reason), 0, extra)];
  }
}

function append(block: JsonObject | undefined, key: string, part: string): void {
  if (block !== undefined) block[key] = (text(block, key) ?? "") + part;
}
