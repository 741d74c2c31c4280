import type { TokenCounter } from "../billing/count.ts";
import { parseEvents } from "../lib/sse.ts";
import { promptTokenBound } from "../lib/token-bound.ts";
import type { Dialect } from "../dialects/types.ts";

/** Raw bytes kept before their text is taken out. */
const DIGEST_AT = 16 * 1024;
/** Characters of text kept before the encoder counts them. */
const COUNT_AT = 24 * 1024;

/**
 * What a stream has delivered, in case the upstream never says. Keeps references to the forwarded blocks and
 * reads them only when they pile up or when a count is asked for, so a stream whose usage arrives pays nothing.
 */
export class Tally {
  readonly #dialect: Dialect;
  readonly #model: string;
  readonly #counter: TokenCounter;
  #blocks: Buffer[] = [];
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
    this.#blocks.push(blocks);
    this.#size += blocks.length;
    if (this.#size > DIGEST_AT) this.#digest();
  }

  /** Upper estimate of the output tokens so far; for reservations, never for the bill. */
  bound(): number {
    this.#digest();
    return this.#countedBound + promptTokenBound(this.#text) + this.#extra;
  }

  /** Output tokens by the model's encoder; by the upper estimate where the encoder fails. */
  async count(): Promise<number> {
    this.#digest();
    this.#countText();
    await this.#counting;
    return this.#counted + this.#extra;
  }

  #digest(): void {
    if (this.#size === 0) return;
    const blocks = this.#blocks.length === 1 ? (this.#blocks[0] as Buffer) : Buffer.concat(this.#blocks, this.#size);
    this.#blocks = [];
    this.#size = 0;
    for (const event of parseEvents(blocks)) {
      if (!event.data) continue;
      const texts = this.#dialect.eventTexts(event.data);
      this.#text += texts.text;
      this.#extra += texts.extra;
    }
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
