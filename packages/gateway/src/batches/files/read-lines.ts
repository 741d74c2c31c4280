import type { JsonObject, RequestSpec } from "../../dialects/core/types.ts";
import { AppError } from "../../lib/app-error.ts";
import { JsonScanner, MAX_JSON_DEPTH, MAX_JSON_VALUES } from "../../lib/text/json-scanner.ts";
import { topLevelMembers } from "../../lib/text/json-top-level.ts";
import { isObject, parseObject } from "../../lib/text/json.ts";
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

/** What the lines of a file have to be. */
export interface LineRules extends Endpoint {
  /** The path that every line calls. */
  readonly url: string;
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
const REQUIRED = ["custom_id", "method", "url", "body"];
/** Members that cannot be in a batch, with the values that turn them on. */
const UNSUPPORTED: Readonly<Record<string, (value: unknown) => boolean>> = {
  stream: (value) => value === true,
  background: (value) => value === true,
  previous_response_id: (value) => value !== null && value !== undefined,
  conversation: (value) => value !== null && value !== undefined,
};

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
    const line = parseLine(bytes);
    const { customId, body } = readMembers(line, this.#rules.url);
    if (!this.#customIds.add(customId))
      throw new LineFault("duplicate_custom_id", "Another line has the same custom_id.", "custom_id");
    const model = this.#readModel(body);
    for (const [name, isOn] of Object.entries(UNSUPPORTED))
      if (isOn(body[name]))
        throw new LineFault("unsupported_parameter", `${name} cannot be used in batches.`, `body.${name}`);
    const { operation, dialect, channel } = this.#rules;
    const span = topLevelMembers(bytes, ["body"])?.get("body");
    const text = span ? bytes.subarray(span.start, span.end) : bytes;
    const item = { member: "body", body, bytes: text, model, operation, dialect };
    const { spec, sharedIds } = await checkItem(item, this.#call, this.#deps);
    if (sharedIds && !listsIds(channel, sharedIds))
      throw new LineFault("unsupported_parameter", sharedIds.refusal.message, "body");
    if (this.#specs.length < this.#rules.maxItems) this.#specs.push(spec);
  }

  #readModel(body: JsonObject): string {
    const { model } = body;
    if (typeof model !== "string" || model === "")
      throw new LineFault("missing_required_parameter", "The request names no model.", "body.model");
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
    return model;
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

function readMembers(line: JsonObject, url: string): { readonly customId: string; readonly body: JsonObject } {
  const missing = REQUIRED.find((name) => line[name] === undefined || line[name] === null);
  if (missing !== undefined) throw new LineFault("missing_required_parameter", `The line has no ${missing}.`, missing);
  const { custom_id: customId, method, url: asked, body } = line;
  if (typeof customId !== "string" || !isObject(body))
    throw new LineFault("missing_required_parameter", "custom_id must be a text and body an object.", "body");
  if (method !== "POST") throw new LineFault("invalid_method", "The method must be POST.", "method");
  if (asked !== url) throw new LineFault("url_mismatch", `The url must be the batch's endpoint, ${url}.`, "url");
  return { customId, body: body as JsonObject };
}

/** Returns the fault of the line; failures of the gateway itself end the creation. */
function toFault(error: unknown): LineFault {
  if (error instanceof LineFault) return error;
  const { code, status, message, param } = AppError.from(error);
  if (status >= 500) throw error;
  const isBlocked = code === "sensitive_words_detected" || code === "prompt_blocked";
  return new LineFault(isBlocked ? code : "unsupported_parameter", message, param ?? null);
}
