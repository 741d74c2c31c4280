import type { MessageKey } from "@fairway/wire";

/** The server refused: `success` was false. `key` names the message, `field` the input it concerns. */
export class ApiProblem extends Error {
  readonly key: MessageKey | undefined;
  readonly field: string | undefined;
  /** `data` of the answer; a few calls of compatible gateways report their failure in it. */
  readonly data: unknown;

  constructor(message: string, key?: MessageKey, field?: string, data?: unknown) {
    super(message);
    this.name = "ApiProblem";
    this.key = key;
    this.field = field;
    this.data = data;
  }
}

/** The answer had a failing HTTP status. */
export class HttpProblem extends Error {
  readonly status: number;
  /** Seconds to wait, if the server named them. */
  readonly retryAfter: number | undefined;
  readonly requestId: string | undefined;
  /** What the server refused for, if it is one of its own refusals. */
  readonly key: MessageKey | undefined;

  constructor(
    status: number,
    message: string,
    detail: {
      retryAfter?: number | undefined;
      requestId?: string | undefined;
      key?: MessageKey | undefined;
    } = {},
  ) {
    super(message);
    this.name = "HttpProblem";
    this.status = status;
    this.retryAfter = detail.retryAfter;
    this.requestId = detail.requestId;
    this.key = detail.key;
  }
}

/** There was no answer: the network or the server is unreachable. */
export class OfflineProblem extends Error {
  constructor(cause: unknown) {
    super("Unable to connect to the server!", { cause });
    this.name = "OfflineProblem";
  }
}

/** The server accepted a model call and then was silent for so long that the call counts as lost. */
export class SilentProblem extends Error {
  /** Milliseconds. */
  readonly silence: number;

  constructor(silence: number) {
    super(`Nothing came for ${silence} ms.`);
    this.name = "SilentProblem";
    this.silence = silence;
  }
}

/** Returns whether an edit came too late, because there is a newer version. Channels have their own code for this. */
export function isStale(problem: unknown): boolean {
  return problem instanceof ApiProblem && (problem.key === "entity_changed" || problem.key === "channel_changed");
}

/** Returns whether a retry may help although nothing has changed. */
export function isTransient(problem: unknown): boolean {
  if (problem instanceof OfflineProblem) return true;
  return problem instanceof HttpProblem && problem.status >= 500;
}

const UNAVAILABLE = 503;

/** Returns after what time the server wants to be asked again, if a part of it is away. */
export function readWaitMs(problem: unknown): number | undefined {
  if (!(problem instanceof HttpProblem) || problem.status !== UNAVAILABLE || problem.retryAfter === undefined)
    return undefined;
  return problem.retryAfter * 1000;
}
