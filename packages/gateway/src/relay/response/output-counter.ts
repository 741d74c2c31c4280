import type { TokenCounter } from "../../billing/tokenizer/token-counter.ts";
import { parseEvents } from "../../lib/text/sse.ts";
import { promptTokenBound } from "../../lib/text/token-bound.ts";
import type { Dialect } from "../../dialects/core/types.ts";

/** Raw bytes that collect before their text is extracted. */
const DIGEST_AT = 16 * 1024;
/** Characters of text that collect before the encoder counts them. */
const COUNT_AT = 24 * 1024;
/**
 * Smaller blocks are copied together: a buffer for each of 60 small blocks takes three times the bytes that they
 * contain.
 */
const SMALL = 1024;
const SHEET = 2 * 1024;
/** Unused sheets, for reuse: otherwise they would reach the old generation, which is collected late. */
const spare: Buffer[] = [];
const MAX_SPARE = 2_048;

/**
 * Counts what a stream has delivered, in case the upstream reports no usage. Collects the forwarded blocks and reads
 * them only when they pile up or a count is needed, so a stream whose usage arrives pays next to nothing.
 */
export class OutputCounter {
  readonly #dialect: Dialect;
  readonly #model: string;
  readonly #counter: TokenCounter;
  #blocks: Buffer[] = [];
  #sheets: Buffer[] = [];
  /** The last of `#sheets` while small blocks are copied into it, and how much of it they fill. */
  #sheet: Buffer | undefined;
  #filled = 0;
  #size = 0;
  #text = "";
  #extra = 0;
  #counted = 0;
  #countedBound = 0;
  #counting: Promise<void> = Promise.resolve();

  constructor(dialect: Dialect, model: string, counter: TokenCounter) {
    this.#dialect = dialect;
    this.#model = model;
    this.#counter = counter;
  }

  /** `blocks` are whole events that were offered to the client. */
  add(blocks: Buffer): void {
    if (blocks.length < SMALL) this.#copy(blocks);
    else this.#keep(blocks);
    this.#size += blocks.length;
    if (this.#size > DIGEST_AT) this.#digest();
  }

  /** Drops unread blocks; later counts cover only what was read. */
  release(): void {
    this.#blocks = [];
    this.#size = 0;
    this.#sheet = undefined;
    this.#filled = 0;
    for (const sheet of this.#sheets) if (spare.length < MAX_SPARE) spare.push(sheet);
    this.#sheets = [];
  }

  #copy(blocks: Buffer): void {
    if (!this.#sheet || this.#filled + blocks.length > this.#sheet.length) {
      this.#closeSheet();
      this.#sheet = spare.pop() ?? Buffer.allocUnsafeSlow(SHEET);
      this.#sheets.push(this.#sheet);
    }
    this.#filled += blocks.copy(this.#sheet, this.#filled);
  }

  #keep(blocks: Buffer): void {
    this.#closeSheet();
    this.#blocks.push(blocks);
  }

  #closeSheet(): void {
    if (this.#sheet) this.#blocks.push(this.#sheet.subarray(0, this.#filled));
    this.#sheet = undefined;
    this.#filled = 0;
  }

  /** Upper estimate of the output tokens so far; for reservations, never for the bill. */
  bound(): number {
    this.#digest();
    return this.#countedBound + promptTokenBound(this.#text) + this.#extra;
  }

  /** The same, including blocks that have not been offered yet. */
  boundWith(blocks: Buffer): number {
    const { text, extra } = this.#readTexts(blocks);
    return this.bound() + promptTokenBound(text) + extra;
  }

  /** Counts the tokens so far and in these blocks with the model's encoder. */
  async countWith(blocks: Buffer): Promise<number> {
    const { text, extra } = this.#readTexts(blocks);
    const counts = text === "" ? [0] : await this.#counter.count(this.#model, [text]);
    return (await this.count()) + (counts[0] ?? 0) + extra;
  }

  #readTexts(blocks: Buffer): { readonly text: string; readonly extra: number } {
    const texts = parseEvents(blocks).flatMap(({ data }) => (data ? [this.#dialect.eventTexts(data)] : []));
    return {
      text: texts.map((one) => one.text).join(""),
      extra: texts.reduce((sum, one) => sum + one.extra, 0),
    };
  }

  /** Counts output tokens with the model's encoder; returns the upper estimate if the encoder fails. */
  async count(): Promise<number> {
    this.#digest();
    this.#countText();
    await this.#counting;
    return this.#counted + this.#extra;
  }

  #digest(): void {
    if (this.#size === 0) return;
    this.#closeSheet();
    const found: string[] = [];
    try {
      for (const blocks of this.#blocks) {
        for (const { data } of parseEvents(blocks)) {
          if (!data) continue;
          const texts = this.#dialect.eventTexts(data);
          found.push(texts.text);
          this.#extra += texts.extra;
        }
      }
    } finally {
      this.release();
    }
    // One flat text: a concatenation would keep each of the many small ones in memory.
    this.#text = this.#text === "" ? found.join("") : [this.#text, ...found].join("");
    if (this.#text.length > COUNT_AT) this.#countText();
  }

  #countText(): void {
    const text = this.#text;
    if (text === "") return;
    this.#text = "";
    this.#countedBound += promptTokenBound(text);
    this.#counting = this.#counting.then(async () => {
      this.#counted += await this.#counter.count(this.#model, [text]).then(
        ([tokens]) => tokens ?? 0,
        () => promptTokenBound(text),
      );
    });
  }
}
