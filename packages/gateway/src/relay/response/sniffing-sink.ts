import type { AppError } from "../../lib/app-error.ts";
import type { Completion, Sink } from "./sink.ts";
import type { FinishReason } from "../upstream/attempt-result.ts";

const COLON = 0x3a;
const BYTE_ORDER_MARK = 0xef;
/** How the fields of an event begin: `data`, `event`, `id`, `retry`. JSON begins with none of them. */
const FIELDS: ReadonlySet<number> = new Set([...Buffer.from("deir"), COLON]);

/** True for server-sent events, false for anything else, undefined while all bytes are blank. */
export function looksLikeEvents(bytes: Buffer): boolean | undefined {
  let at = bytes[0] === BYTE_ORDER_MARK ? 3 : 0;
  while (at < bytes.length && (bytes[at] as number) <= 0x20) at++;
  return at >= bytes.length ? undefined : FIELDS.has(bytes[at] as number);
}

/** For answers to streaming clients whose content type is missing or JSON: the first byte shows what they are. */
export class SniffingSink implements Sink {
  readonly #make: (isEvents: boolean) => Sink;
  #sink: Sink | undefined;

  constructor(make: (isEvents: boolean) => Sink) {
    this.#make = make;
  }

  data(chunk: Buffer): void {
    if (!this.#sink) {
      const isEvents = looksLikeEvents(chunk);
      if (isEvents === undefined) return;
      this.#sink = this.#make(isEvents);
    }
    this.#sink.data(chunk);
  }

  end(): void {
    this.#ensureSink().end();
  }

  fail(error: Error): void {
    this.#ensureSink().fail(error);
  }

  soFar(): Completion | undefined {
    return this.#sink?.soFar();
  }

  hasContent(): boolean {
    return this.#sink?.hasContent?.() === true;
  }

  readsOn(): boolean {
    return this.#sink?.readsOn?.() === true;
  }

  stop(error: AppError, reason: FinishReason): void {
    this.#ensureSink().stop(error, reason);
  }

  #ensureSink(): Sink {
    return (this.#sink ??= this.#make(false));
  }
}
