import { createBlockFramer, parseEvents, splitBlocks, type BlockFramer } from "../../lib/text/sse.ts";
import type { AnswerIds, JsonObject } from "../../dialects/core/types.ts";

/** Longest event that is read. */
const MAX_EVENT_BYTES = 16 * 1024 * 1024;

/**
 * Reads the ids that an answer gives to its client. Only the upstream's own members count: otherwise a client could
 * claim the ids of others through parts of its request that the answer repeats. A stream is cut into events by the same
 * code that cuts it for the client, which may get it in another form, such as a JSON array.
 */
export class AnswerIdReader {
  readonly #ids: AnswerIds;
  readonly #marks: readonly Buffer[];
  readonly #onId: (id: string) => void;
  /** Created with the first bytes, because only streams need it; "over" after an event that is too large. */
  #framer: BlockFramer | "over" | undefined;

  constructor(ids: AnswerIds, onId: (id: string) => void) {
    this.#ids = ids;
    this.#marks = ids.marks.map((mark) => Buffer.from(`"${mark}"`));
    this.#onId = onId;
  }

  /** Reads bytes of a stream as they arrive. */
  feed(chunk: Buffer): void {
    this.#framer ??= createBlockFramer({ maxBytes: MAX_EVENT_BYTES });
    this.#read((framer) => framer.feed(chunk));
  }

  /** Reads what follows the last blank line of a stream. */
  end(): void {
    this.#read((framer) => framer.rest());
  }

  #read(take: (framer: BlockFramer) => Buffer | undefined): void {
    if (this.#framer === undefined || this.#framer === "over") return;
    let blocks: Buffer | undefined;
    try {
      blocks = take(this.#framer);
    } catch {
      // The client's stream fails by the same event, and says so.
      this.#framer = "over";
      return;
    }
    if (!blocks || !this.#mayName(blocks)) return;
    for (const block of splitBlocks(blocks))
      if (this.#mayName(block)) for (const { data } of parseEvents(block)) if (data) this.readAnswer(data);
  }

  #mayName(bytes: Buffer): boolean {
    return this.#marks.some((mark) => bytes.includes(mark));
  }

  /** Reads a whole answer, or one event. */
  readAnswer(answer: JsonObject): void {
    for (const id of this.#ids.read(answer)) this.#onId(id);
  }
}
