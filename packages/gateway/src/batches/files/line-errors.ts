import type { JsonObject } from "../../dialects/core/types.ts";

/** A fault of one line, as OpenAI reports it. */
export interface LineError {
  readonly code: string;
  /** Counts from 1; null = the whole file. */
  readonly line: number | null;
  readonly message: string;
  readonly param: string | null;
}

const MAX_REPORTED = 100;

/** Thrown for a line that cannot be part of a batch. */
export class LineFault extends Error {
  override readonly name = "LineFault";
  readonly code: string;
  readonly param: string | null;

  constructor(code: string, message: string, param: string | null = null) {
    super(message);
    this.code = code;
    this.param = param;
  }
}

/** The faults of a file; only the first ones are reported. */
export class LineErrors {
  readonly #errors: LineError[] = [];

  get isEmpty(): boolean {
    return this.#errors.length === 0;
  }

  add({ code, message, param }: LineFault, line: number | null): void {
    if (this.#errors.length < MAX_REPORTED) this.#errors.push({ code, line, message, param });
  }

  /** Says all reported faults in one text. */
  describe(): string {
    return this.#errors.map(({ line, message }) => (line === null ? message : `Line ${line}: ${message}`)).join("\n");
  }

  /** Returns the batch that OpenAI would answer with. */
  toBatch(asked: JsonObject, createdAt: number): JsonObject {
    const { endpoint = "", completion_window: window = "24h", metadata = null } = asked;
    return {
      id: "",
      object: "batch",
      endpoint,
      errors: { object: "list", data: this.#errors.map((error) => ({ ...error })) },
      input_file_id: "",
      completion_window: window,
      status: "failed",
      output_file_id: null,
      error_file_id: null,
      created_at: createdAt,
      failed_at: createdAt,
      request_counts: { total: 0, completed: 0, failed: 0 },
      metadata,
    };
  }
}
