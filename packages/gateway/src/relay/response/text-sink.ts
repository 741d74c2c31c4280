import type { TokenCounter } from "../../billing/tokenizer/token-counter.ts";
import { NO_USAGE } from "../../dialects/core/types.ts";
import type { AppError } from "../../lib/app-error.ts";
import { brokenStream, unreadable } from "../upstream/failure.ts";
import { subtitleSeconds } from "../body/sound-length.ts";
import type { SinkContext, Sink } from "./sink.ts";
import { countTexts } from "./whole-sink.ts";

const MAX_TEXT_BYTES = 16 * 1024 * 1024;
const HEAD = { "content-type": "text/plain; charset=utf-8" };

/**
 * Reads a transcript in plain text or subtitles whole, charges it by its length in seconds or its tokens, then sends
 * it.
 */
export class TextSink implements Sink {
  readonly #context: SinkContext;
  readonly #counter: TokenCounter;
  readonly #parts: Buffer[] = [];
  #size = 0;
  #isOver = false;

  constructor(context: SinkContext, counter: TokenCounter) {
    this.#context = context;
    this.#counter = counter;
  }

  data(chunk: Buffer): void {
    if (this.#isOver) return;
    this.#size += chunk.length;
    this.#parts.push(chunk);
    if (this.#size <= MAX_TEXT_BYTES) return;
    const error = new Error(`the answer exceeds ${MAX_TEXT_BYTES} bytes`);
    this.#isOver = true;
    this.#context.controller.abort(error);
    this.#context.finish({ kind: "failed", failure: unreadable(error) });
  }

  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#deliver().catch((error: unknown) => this.#context.finish({ kind: "failed", failure: unreadable(error) }));
  }

  fail(error: Error): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#context.finish(
      this.#context.delivery.isDisconnected
        ? { kind: "disconnected" }
        : { kind: "failed", failure: brokenStream(error) },
    );
  }

  soFar(): undefined {
    return undefined;
  }

  stop(error: AppError): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#context.controller.abort(error);
    this.#context.finish({ kind: "failed", failure: { ...brokenStream(error), error, retry: false } });
  }

  async #deliver(): Promise<void> {
    const { delivery, request } = this.#context;
    if (delivery.isDisconnected) return this.#context.finish({ kind: "disconnected" });
    const body = Buffer.concat(this.#parts, this.#size);
    const text = body.toString("utf8");
    const seconds = request.upload?.seconds ?? subtitleSeconds(text);
    const output = seconds === undefined ? await countTexts(this.#counter, request.spec.model, { text, extra: 0 }) : 0;
    await this.#context.settle({
      reason: "stop",
      usage: seconds === undefined ? { ...NO_USAGE, output, source: "counted" } : { ...NO_USAGE, units: seconds },
      countOutput: () => Promise.resolve(output),
      firstContentAt: performance.now(),
    });
    delivery.sendHead({ ...HEAD, "content-length": String(body.length) });
    delivery.end(body);
    this.#context.finish({ kind: "delivered", reason: "stop" });
  }
}
