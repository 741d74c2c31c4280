import { NO_USAGE } from "../../dialects/core/types.ts";
import type { AppError } from "../../lib/app-error.ts";
import { brokenStream, emptyStream } from "../upstream/failure.ts";
import type { Completion, SinkContext, Sink } from "./sink.ts";
import type { FinishReason } from "../upstream/attempt-result.ts";

/**
 * Forwards sound, images and other answers that are not JSON as they come. The last piece waits for the next one, so
 * that the charge is safe before the answer is complete.
 */
export class BytesSink implements Sink {
  readonly #context: SinkContext;
  readonly #head: Record<string, string>;
  readonly #resume: () => void;
  #held: Buffer | undefined;
  #firstContentAt: number | undefined;
  #isOver = false;

  constructor(context: SinkContext, head: Record<string, string>) {
    this.#context = context;
    this.#head = head;
    this.#resume = () => context.controller.resume();
  }

  data(chunk: Buffer): void {
    if (this.#isOver || chunk.length === 0) return;
    this.#firstContentAt ??= performance.now();
    const ready = this.#held;
    this.#held = chunk;
    if (!ready) return;
    const { delivery } = this.#context;
    delivery.sendHead(this.#head);
    if (!delivery.write(ready, this.#resume)) this.#context.controller.pause();
  }

  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const { delivery } = this.#context;
    if (!this.#held) return this.#context.finish({ kind: "failed", failure: emptyStream() });
    this.#settled("stop", () => {
      delivery.sendHead(this.#head);
      delivery.end(this.#held);
    });
  }

  fail(error: Error): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const { delivery } = this.#context;
    if (!delivery.isHeadSent)
      return this.#context.finish(
        delivery.isDisconnected ? { kind: "disconnected" } : { kind: "failed", failure: brokenStream(error) },
      );
    const reason: FinishReason = delivery.isDisconnected ? "client_abort" : "upstream_cut";
    this.#settled(reason, () => delivery.destroy());
  }

  soFar(): Completion | undefined {
    return this.#context.delivery.isHeadSent ? this.#completion("server_shutdown") : undefined;
  }

  stop(error: AppError): void {
    this.#context.controller.abort(error);
    this.fail(error);
  }

  /** Sound cannot carry an error: a broken connection signals an internal error. */
  #settled(reason: FinishReason, deliver: () => void): void {
    const done = async () => {
      await this.#context.settle(this.#completion(reason));
      deliver();
      this.#context.finish({ kind: "delivered", reason });
    };
    done().catch((error: unknown) => {
      this.#context.fault(error);
      this.#context.delivery.destroy();
      this.#context.finish({ kind: "delivered", reason: "internal_error" });
    });
  }

  /** Sound has no usage: the request's characters or seconds are charged. */
  #completion(reason: FinishReason): Completion {
    const usage = { ...NO_USAGE, units: this.#context.request.spec.units };
    return { reason, usage, countOutput: () => Promise.resolve(0), firstContentAt: this.#firstContentAt };
  }
}
