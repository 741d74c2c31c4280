import type { IncomingHttpHeaders } from "node:http";
import type { Dispatcher } from "undici";
import { UpstreamRefusal, type UpstreamAnswer } from "../providers/types.ts";

/**
 * Lets an answer that was put together in several steps arrive like one of a single call: same handler, same
 * back-pressure, same abort. `onRefusal` gets refusals that a provider has read already.
 */
export async function feedHandler(
  talk: (signal: AbortSignal) => Promise<UpstreamAnswer>,
  handler: Dispatcher.DispatchHandler,
  onRefusal: (error: unknown) => void,
): Promise<void> {
  const abort = new AbortController();
  const controller = new FedController(abort);
  handler.onRequestStart?.(controller, {});
  try {
    const answer = await talk(abort.signal);
    handler.onResponseStart?.(controller, answer.status, answer.headers as IncomingHttpHeaders);
    for await (const chunk of answer.body) {
      if (controller.aborted) throw controller.reason;
      handler.onResponseData?.(controller, chunk);
      await controller.flowing();
    }
    if (controller.aborted) throw controller.reason;
    handler.onResponseEnd?.(controller, {});
  } catch (error) {
    if (error instanceof UpstreamRefusal) onRefusal(error);
    else
      handler.onResponseError?.(
        controller,
        controller.reason ?? (error instanceof Error ? error : new Error(String(error))),
      );
  }
}

class FedController implements Dispatcher.DispatchController {
  readonly #abort: AbortController;
  #resumed: Promise<void> | undefined;
  #resume: (() => void) | undefined;
  reason: Error | null = null;

  constructor(abort: AbortController) {
    this.#abort = abort;
  }

  get aborted(): boolean {
    return this.reason !== null;
  }

  get paused(): boolean {
    return this.#resumed !== undefined;
  }

  abort(reason: Error): void {
    if (this.reason) return;
    this.reason = reason;
    this.resume();
    this.#abort.abort(reason);
  }

  pause(): void {
    this.#resumed ??= new Promise((resolve) => {
      this.#resume = resolve;
    });
  }

  resume(): void {
    this.#resume?.();
    this.#resumed = undefined;
  }

  async flowing(): Promise<void> {
    await this.#resumed;
  }
}
