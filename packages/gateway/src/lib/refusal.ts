import { messageText, MESSAGES, type MessageCode, type MessageValues } from "@fairway/wire";

export interface RefusalOptions {
  readonly values?: MessageValues;
  /** Overrides the status of the catalogue. */
  readonly status?: number;
  /** Name of the input field that is at fault. */
  readonly field?: string;
  readonly retryAfterSeconds?: number;
  /** Members beside `message` in the envelope (a channel test's `time`). */
  readonly siblings?: Readonly<Record<string, unknown>>;
  readonly cause?: unknown;
}

/** A business refusal of the management API: a code of the message catalogue, answered in the envelope. */
export class Refusal extends Error {
  readonly code: MessageCode;
  readonly status: number;
  readonly field: string | undefined;
  readonly retryAfterSeconds: number | undefined;
  readonly siblings: Readonly<Record<string, unknown>>;

  constructor(code: MessageCode, options: RefusalOptions = {}) {
    super(messageText(code, options.values), { cause: options.cause });
    this.name = "Refusal";
    this.code = code;
    this.status = options.status ?? MESSAGES[code].status;
    this.field = options.field;
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.siblings = options.siblings ?? {};
  }
}
