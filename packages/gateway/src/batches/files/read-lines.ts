import type { JsonObject, RequestSpec } from "../../dialects/core/types.ts";
import { AppError } from "../../lib/app-error.ts";
import { JsonScanner, MAX_JSON_DEPTH, MAX_JSON_VALUES } from "../../lib/text/json-scanner.ts";
import { topLevelMembers } from "../../lib/text/json-top-level.ts";
import { parseObject } from "../../lib/text/json.ts";
import type { ChannelRecord } from "../../providers/core/types.ts";
import { listsIds } from "../../relay/request/shared-ids.ts";
import { mayBatchModel } from "../choose-channel.ts";
import { CustomIds } from "../custom-ids.ts";
import { checkItem } from "../items/check-item.ts";
import { LineSplitter } from "../results/lines.ts";
import { readPieces, type Piece } from "../results/pieces.ts";
import type { BatchCall, BatchDeps } from "../types.ts";
import type { Endpoint } from "./endpoints.ts";
import { LineErrors, LineFault } from "./line-errors.ts";
import type { LineForm } from "./line-forms.ts";

/** What the lines of a file have to be. */
export interface LineRules extends Endpoint {
  readonly form: LineForm;
  readonly channel: ChannelRecord;
  readonly maxItems: number;
  readonly maxBytes: number;
}

export interface FileLines {
  readonly errors: LineErrors;
  /** "" if no line has one. */
  readonly model: string;
  readonly specs: readonly RequestSpec[];
  readonly customIds: CustomIds;
}

const MAX_LINE_BYTES = 16 * 1024 * 1024;
/** Reads a file of requests line by line and collects its faults. Throws for a file that is too large. */
export async function readFileLines(
  stream: AsyncIterable<Uint8Array>,
  rules: LineRules,
  call: BatchCall,
  deps: BatchDeps,
): Promise<FileLines> {
  const reader = new LineReader(rules, call, deps);
  for await (const pieces of readPieces(stream, new LineSplitter(MAX_LINE_BYTES)))
    for (const piece of pieces) await reader.read(piece);
  return reader.end();
}

class LineReader {
  readonly #rules: LineRules;
  readonly #call: BatchCall;
  readonly #deps: BatchDeps;
  readonly #errors = new LineErrors();
  readonly #customIds = new CustomIds();
  readonly #specs: RequestSpec[] = [];
  #model = "";
  #line = 0;
  #bytes = 0;
  /** Only the last line may be blank. */
  #blankLine = 0;

  constructor(rules: LineRules, call: BatchCall, deps: BatchDeps) {
    this.#rules = rules;
    this.#call = call;
    this.#deps = deps;
  }

  async read(piece: Piece): Promise<void> {
    this.#line += 1;
    if (!piece)
      throw new AppError("batch_line_too_large", { message: `Line ${this.#line} exceeds ${MAX_LINE_BYTES} bytes.` });
    this.#bytes += piece.length + 1;
    if (this.#bytes > this.#rules.maxBytes)
      throw new AppError("request_too_large", { values: { limit: this.#rules.maxBytes } });
    if (this.#blankLine > 0) this.#errors.add(invalidLine(), this.#blankLine);
    this.#blankLine = 0;
    if (piece.length < 3 && piece.toString("latin1").trim() === "") {
      this.#blankLine = this.#line;
      return;
    }
    try {
      await this.#item(piece);
    } catch (error) {
      this.#errors.add(toFault(error), this.#line);
    }
  }

  end(): FileLines {
    const count = this.#line - (this.#blankLine > 0 ? 1 : 0);
    if (count === 0) this.#errors.add(new LineFault("empty_file", "The file has no requests."), null);
    const { maxItems } = this.#rules;
    if (count > maxItems)
      this.#errors.add(new LineFault("too_many_tasks", `A batch may have up to ${maxItems} requests.`), null);
    return { errors: this.#errors, model: this.#model, specs: this.#specs, customIds: this.#customIds };
  }

  async #item(bytes: Buffer): Promise<void> {
    const { form, operation, dialect, channel, maxItems } = this.#rules;
    const { customId, member, body, model } = form.read(parseLine(bytes));
    if (customId !== undefined && !this.#customIds.add(customId))
      throw new LineFault("duplicate_custom_id", `Another line has the same ${form.idMember}.`, form.idMember);
    this.#checkModel(model);
    const span = topLevelMembers(bytes, [member])?.get(member);
    const text = span ? bytes.subarray(span.start, span.end) : bytes;
    const item = { member, body, bytes: text, model, operation, dialect };
    const { spec, sharedIds } = await checkItem(item, this.#call, this.#deps);
    if (sharedIds && !listsIds(channel, sharedIds))
      throw new LineFault("unsupported_parameter", sharedIds.refusal.message, member);
    // Lines that were renamed have the price of the client's name.
    if (this.#specs.length < maxItems) this.#specs.push(spec.model === model ? spec : { ...spec, model });
  }

  #checkModel(model: string): void {
    if (this.#model !== "" && model !== this.#model)
      throw new LineFault(
        "model_mismatch",
        `All requests of a batch must name one model: ${this.#model}.`,
        "body.model",
      );
    if (this.#model === "" && !mayBatchModel(this.#call.caller, model, this.#deps.snapshots.current())) {
      const { message } = new AppError("model_not_found", { values: { model, group: this.#call.caller.group } });
      throw new LineFault("model_not_found", message, "body.model");
    }
    this.#model = model;
  }
}

function invalidLine(): LineFault {
  return new LineFault("invalid_json_line", "This line is not a valid JSON object.");
}

function parseLine(bytes: Buffer): JsonObject {
  const scanner = new JsonScanner({ maxDepth: MAX_JSON_DEPTH, maxValues: MAX_JSON_VALUES, maxBytes: bytes.length });
  scanner.write(bytes);
  const isWhole = scanner.end() && bytes[0] !== 0xef;
  const line = isWhole ? parseObject(bytes.toString("utf8")) : undefined;
  if (!line) throw invalidLine();
  return line as JsonObject;
}

/** Returns the fault of the line; failures of the gateway itself end the creation. */
function toFault(error: unknown): LineFault {
  if (error instanceof LineFault) return error;
  const { code, status, message, param } = AppError.from(error);
  if (status >= 500) throw error;
  const isBlocked = code === "sensitive_words_detected" || code === "prompt_blocked";
  return new LineFault(isBlocked ? code : "unsupported_parameter", message, param ?? null);
}
