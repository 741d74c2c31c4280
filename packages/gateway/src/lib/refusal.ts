import { MESSAGE_CODES, messageText, MESSAGES, type MessageKey, type MessageValues } from "@fairway/wire";

export interface RefusalOptions {
  readonly values?: MessageValues;
  /** Overrides the status of the catalogue. */
  readonly status?: number;
  /** Name of the input field that is at fault. */
  readonly field?: string;
  readonly retryAfterSeconds?: number;
  /** Members next to `message` in the envelope (a channel test's `time`). */
  readonly siblings?: Readonly<Record<string, unknown>>;
  readonly cause?: unknown;
}

/** A business refusal of the management API: a message of the catalogue, sent in the envelope. */
export class Refusal extends Error {
  readonly key: MessageKey;
  /** The code of the message, as it is sent. */
  readonly code: string;
  readonly values: MessageValues | undefined;
  readonly status: number;
  readonly field: string | undefined;
  readonly retryAfterSeconds: number | undefined;
  readonly siblings: Readonly<Record<string, unknown>>;

  constructor(key: MessageKey, options: RefusalOptions = {}) {
    super(messageText(key, options.values), { cause: options.cause });
    this.name = "Refusal";
    this.key = key;
    this.code = MESSAGE_CODES[key];
    this.values = options.values;
    this.status = options.status ?? MESSAGES[key].status;
    this.field = options.field;
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.siblings = options.siblings ?? {};
  }
}
