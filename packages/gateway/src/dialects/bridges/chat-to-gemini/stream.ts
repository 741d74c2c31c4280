import { number, object, objects, text } from "../../core/read.ts";
import type { BridgeContext, StreamBridge } from "../../core/bridge.ts";
import type { JsonObject, StreamEvent, Usage } from "../../core/types.ts";
import { readGeminiUsage } from "../../core/usage.ts";
import { ChunkWriter } from "../parts/answer/chat-answer.ts";
import { throwIfGeminiFailed, convertGeminiFinish } from "../parts/answer/finish.ts";
import { CandidateCode, showsCode } from "../parts/tools/code-runs.ts";
import { readGroundingRuns } from "../parts/tools/hosted-runs.ts";
import { LongText } from "../parts/content/long-text.ts";
import { sealSignatures } from "../parts/reasoning/sealed-signatures.ts";
import { chatLogprobs } from "../parts/answer/logprobs.ts";
import { listAnnotations, toToolCalls, readAnswerHead, readThought, formatPart } from "./answer.ts";
import { calculateExpiry, SOUND_ID, readSound } from "./sound.ts";

/** Converts the events of a generateContent stream, which repeats only its usage, to the chunks of a chat stream. */
export class CandidatesToChunks implements StreamBridge {
  readonly #context: BridgeContext;
  readonly #writer: ChunkWriter;
  /** The text written so far by candidate, to locate its sources. */
  readonly #written = new Map<number, LongText>();
  /** Searches that events reported. */
  readonly #queries = new Set<string>();
  readonly #called = new Set<number>();
  readonly #sounding = new Set<number>();
  readonly #coded = new Map<number, CandidateCode>();
  readonly #finishes = new Map<number, string>();
  #usage: Usage | undefined;

  constructor(context: BridgeContext) {
    this.#context = context;
    this.#writer = new ChunkWriter(context);
  }

  event({ data }: StreamEvent): StreamEvent[] {
    if (data === undefined || data["error"] !== undefined) return [];
    this.#usage = readGeminiUsage(object(data, "usageMetadata")) ?? this.#usage;
    this.#writer.name(readAnswerHead(data));
    const candidates = objects(data, "candidates");
    if (candidates.length === 0 && object(data, "promptFeedback")?.["blockReason"] !== undefined) {
      this.#finishes.set(0, "SAFETY");
      return this.#writer.begin();
    }
    return candidates.flatMap((candidate) => this.#candidate(candidate));
  }

  /** Sends the finish reason once: some models send one in every event, and only the last one is true. */
  end(counted?: Usage): StreamEvent[] {
    const finishes = [...this.#finishes].flatMap(([index, reason]) =>
      this.#writer.finish(convertGeminiFinish(reason, this.#called.has(index)), index),
    );
    const waiting = [...this.#coded].flatMap(([index, reader]) => this.#code(reader.rest(), index));
    return [...waiting, ...finishes, ...this.#writer.usage(this.#usage ?? counted)];
  }

  #candidate(candidate: JsonObject): StreamEvent[] {
    const index = number(candidate, "index") ?? 0;
    const events = [...this.#writer.begin(index)];
    for (const part of objects(object(candidate, "content"), "parts")) events.push(...this.#part(part, index));
    const annotations = listAnnotations(candidate, () => String(this.#written.get(index) ?? ""));
    if (annotations !== undefined) events.push(...this.#writer.delta({ annotations }, index));
    const fw_runs = readGroundingRuns(object(candidate, "groundingMetadata"), this.#queries);
    if (fw_runs.length > 0) events.push(...this.#writer.delta({ fw_runs }, index));
    const logprobs = chatLogprobs(candidate);
    if (logprobs !== undefined) events.push(...this.#writer.delta({}, index, { logprobs }));
    const reason = text(candidate, "finishReason");
    if (!this.#hasSaid(index)) throwIfGeminiFailed(reason);
    if (reason !== undefined) this.#finishes.set(index, reason);
    return events;
  }

  #hasSaid(index: number): boolean {
    const isBegun = this.#called.has(index) || this.#sounding.has(index) || this.#coded.has(index);
    return isBegun || this.#written.has(index);
  }

  #part(part: JsonObject, index: number): StreamEvent[] {
    const calls = toToolCalls(part);
    if (calls.length > 0) {
      this.#called.add(index);
      const sealed = sealSignatures(calls);
      const signed = sealed.length === 0 ? [] : this.#writer.delta({ fw_thinking: sealed }, index);
      return [...signed, ...calls.flatMap((call) => this.#writer.tool(call, index))];
    }
    const thought = readThought(part);
    if (thought !== "") return this.#writer.delta({ reasoning_content: thought }, index);
    const sound = readSound(part);
    if (sound !== "") return this.#sound(sound, index);
    const runs = showsCode(this.#context) ? this.#ensureCode(index).read(part) : undefined;
    if (runs !== undefined) return this.#code(runs, index);
    const written = formatPart(part, this.#context);
    if (written === "") return [];
    const all = this.#written.get(index) ?? new LongText();
    this.#written.set(index, all);
    all.add(written);
    return this.#writer.delta({ content: written }, index);
  }

  #ensureCode(index: number): CandidateCode {
    const reader = this.#coded.get(index) ?? new CandidateCode();
    this.#coded.set(index, reader);
    return reader;
  }

  #code(fw_runs: readonly JsonObject[], index: number): StreamEvent[] {
    return fw_runs.length === 0 ? [] : this.#writer.delta({ fw_runs: [...fw_runs] }, index);
  }

  /** Writes a piece of sound. The id is sent once, because clients join the values of all pieces. */
  #sound(data: string, index: number): StreamEvent[] {
    const audio = this.#sounding.has(index)
      ? { data }
      : { id: SOUND_ID, data, expires_at: calculateExpiry(this.#context) };
    this.#sounding.add(index);
    return this.#writer.delta({ audio }, index);
  }
}
