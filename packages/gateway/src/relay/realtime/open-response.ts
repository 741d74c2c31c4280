import { NO_USAGE, type Usage } from "../../dialects/core/types.ts";
import { promptTokenBound } from "../../lib/text/token-bound.ts";
import type { InputTokens } from "./conversation-length.ts";

/** Tokens in a second of an answer's sound. */
const TOKENS_PER_SECOND = 20;
/** Fraction of the reserved output after which more is reserved. */
const EXTENDED_AT = 0.8;

/** A spoken or written answer from the moment it is paid for until the upstream reports its cost. */
export class OpenResponse {
  /** Undefined until the upstream has begun it. */
  id: string | undefined;
  /** Most tokens that it may have. */
  cap: number;
  speaks: boolean;
  /** True if a limit does not allow it: the upstream has to end it, and the client hears nothing of it. */
  isRefused = false;
  /** Output tokens that are reserved. */
  reserved: number;
  readonly #step: number;
  #text = "";
  #textAtMost = 0;
  #transcript = "";
  #transcriptAtMost = 0;
  #soundBytes = 0;

  constructor({ cap, speaks, step }: { readonly cap: number; readonly speaks: boolean; readonly step: number }) {
    this.cap = cap;
    this.speaks = speaks;
    this.#step = Math.min(cap, step);
    this.reserved = this.#step;
  }

  say(text: string, isTranscript: boolean): void {
    if (isTranscript) {
      this.#transcript += text;
      this.#transcriptAtMost += promptTokenBound(text);
    } else {
      this.#text += text;
      this.#textAtMost += promptTokenBound(text);
    }
  }

  sound(bytes: number): void {
    this.#soundBytes += bytes;
  }

  /** Returns an upper estimate of the output so far. */
  seenAtMost(bytesPerSecond: number): number {
    const sound = this.#soundTokens(bytesPerSecond);
    return this.#textAtMost + (sound > 0 ? sound : this.#transcriptAtMost);
  }

  /** True if more has to be reserved before more is delivered. */
  isNearEnd(bytesPerSecond: number): boolean {
    return this.reserved < this.cap && this.seenAtMost(bytesPerSecond) >= this.reserved * EXTENDED_AT;
  }

  grow(bytesPerSecond: number): void {
    this.reserved = Math.min(this.cap, Math.max(this.reserved, this.seenAtMost(bytesPerSecond)) + this.#step);
  }

  /** Returns the most that it can have cost if it ends now. */
  usageAtMost(input: InputTokens, bytesPerSecond: number): Usage {
    return this.#usage(input, this.seenAtMost(bytesPerSecond), bytesPerSecond);
  }

  /** The same, counted by an encoder. */
  async counted(input: InputTokens, bytesPerSecond: number, count: (text: string) => Promise<number>): Promise<Usage> {
    const sound = this.#soundTokens(bytesPerSecond);
    const written = await count(this.#text);
    const spoken = sound > 0 ? sound : await count(this.#transcript);
    return { ...this.#usage(input, written + spoken, bytesPerSecond), source: "counted" };
  }

  /** Returns the usage that is reserved for it. */
  reservedUsage(input: InputTokens): Usage {
    return estimated(input, this.reserved, this.speaks ? this.reserved : 0);
  }

  #usage(input: InputTokens, output: number, bytesPerSecond: number): Usage {
    const capped = Math.min(output, this.cap);
    return estimated(input, capped, Math.min(capped, this.#soundTokens(bytesPerSecond)));
  }

  #soundTokens(bytesPerSecond: number): number {
    return Math.ceil((this.#soundBytes / bytesPerSecond) * TOKENS_PER_SECOND);
  }
}

function estimated({ tokens, audio }: InputTokens, output: number, audioOutput: number): Usage {
  return { ...NO_USAGE, input: tokens, audioInput: audio, output, audioOutput, source: "estimated" };
}
