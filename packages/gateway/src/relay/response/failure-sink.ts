import { unreachable } from "../upstream/failure.ts";
import type { SinkContext, Sink } from "./sink.ts";

/** Enough of an error body to read its message; the sink does not wait for the rest. */
const MAX_BODY_BYTES = 64 * 1024;

/** Reads the body of an answer whose status is a failure. */
export class FailureSink implements Sink {
  readonly #context: SinkContext;
  readonly #status: number;
  readonly #parts: Buffer[] = [];
  #size = 0;
  #isOver = false;

  constructor(context: SinkContext, status: number) {
    this.#context = context;
    this.#status = status;
  }

  data(chunk: Buffer): void {
    if (this.#isOver) return;
    this.#parts.push(chunk);
    this.#size += chunk.length;
    if (this.#size <= MAX_BODY_BYTES) return;
    this.end();
    this.#context.controller.abort(new Error("the error body is too large"));
  }

  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const body = Buffer.concat(this.#parts).subarray(0, MAX_BODY_BYTES);
    this.#context.finish({ kind: "failed", failure: this.#context.classifyFailure(this.#status, body) });
  }

  fail(error: Error): void {
    if (this.#isOver) return;
    if (this.#context.delivery.isDisconnected) {
      this.#isOver = true;
      this.#context.finish({ kind: "disconnected" });
    } else if (this.#size > 0) this.end();
    else {
      this.#isOver = true;
      this.#context.finish({ kind: "failed", failure: unreachable(error) });
    }
  }

  soFar(): undefined {
    return undefined;
  }

  stop(error: Error): void {
    this.#context.controller.abort(error);
    this.fail(error);
  }
}
