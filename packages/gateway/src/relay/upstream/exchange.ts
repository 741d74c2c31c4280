import type { IncomingHttpHeaders } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import type { Dispatcher } from "undici";
import type { ExchangeContext, UpstreamAnswer } from "../../providers/core/types.ts";
import { UpstreamRefusal } from "../../providers/core/failed-answer.ts";
import { sendCall, type SendSettings } from "./collected-answer.ts";
import type { RemoteFiles } from "./remote-files.ts";
import { openSocket } from "./socket.ts";
import type { Upstreams } from "./upstream.ts";

export interface ExchangeDeps {
  readonly upstreams: Upstreams;
  readonly files: RemoteFiles;
}

/** Returns the tools of a multi-step exchange: pools, sockets and files, bound to one signal and one proxy. */
export function exchangeTools(
  settings: SendSettings,
  { upstreams, files }: ExchangeDeps,
): Pick<ExchangeContext, "send" | "connect" | "sleep" | "download" | "signal"> {
  const { proxy, timeouts, signal } = settings;
  return {
    signal,
    send: (call) => sendCall(upstreams, call, settings),
    connect: (call) =>
      openSocket(call, upstreams.socketOptions(call.url, proxy), { signal, timeoutMs: timeouts.headersMs }),
    sleep: (ms) => sleep(ms, undefined, { signal }),
    download: (url) => files.read(url, { signal }),
  };
}

/**
 * Feeds an answer that took several steps to the handler as if it came from a single call: same back-pressure, same
 * abort. `onRefusal` gets refusals that a provider has already read.
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
    await feed(await talk(abort.signal), handler, controller);
  } catch (error) {
    if (error instanceof UpstreamRefusal) onRefusal(error);
    else handler.onResponseError?.(controller, controller.reason ?? asError(error));
  }
}

async function feed(
  answer: UpstreamAnswer,
  handler: Dispatcher.DispatchHandler,
  controller: FedController,
): Promise<void> {
  handler.onResponseStart?.(controller, answer.status, answer.headers as IncomingHttpHeaders);
  for await (const chunk of answer.body) {
    controller.throwIfAborted();
    handler.onResponseData?.(controller, chunk);
    await controller.flowing();
  }
  controller.throwIfAborted();
  handler.onResponseEnd?.(controller, {});
}

function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
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

  throwIfAborted(): void {
    if (this.reason) throw this.reason;
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
