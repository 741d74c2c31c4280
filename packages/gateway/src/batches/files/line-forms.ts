import { text } from "../../dialects/core/read.ts";
import type { JsonObject } from "../../dialects/core/types.ts";
import { AppError } from "../../lib/app-error.ts";
import { isObject } from "../../lib/text/json.ts";
import { namesModel } from "../protocols/gemini-inline.ts";
import { LineFault } from "./line-errors.ts";
import type { RenamedModel } from "./rename-models.ts";

/** One request of a file. */
export interface Line {
  /** Undefined where the protocol lets requests go without one. */
  readonly customId: string | undefined;
  /** The member that holds the request, and its value. */
  readonly member: string;
  readonly body: JsonObject;
  readonly model: string;
}

/** How a protocol writes requests into files. */
export interface LineForm {
  /** The member that holds the id of a request. */
  readonly idMember: string;
  /** Reads the outermost members of a line; throws LineFault. */
  read(line: JsonObject): Line;
}

const REQUIRED = ["custom_id", "method", "url", "body"];
/** Members that cannot be in a batch, with the values that turn them on. */
const UNSUPPORTED: Readonly<Record<string, (value: unknown) => boolean>> = {
  stream: (value) => value === true,
  background: (value) => value === true,
  previous_response_id: (value) => value !== null && value !== undefined,
  conversation: (value) => value !== null && value !== undefined,
};

/**
 * OpenAI's lines. @param url the path that every line calls
 * @param renamed the names of the model if the gateway renamed it when the file was uploaded
 */
export function createOpenAiForm(url: string, renamed?: RenamedModel): LineForm {
  return {
    idMember: "custom_id",
    read(line) {
      const missing = REQUIRED.find((name) => line[name] === undefined || line[name] === null);
      if (missing !== undefined)
        throw new LineFault("missing_required_parameter", `The line has no ${missing}.`, missing);
      const { custom_id: customId, method, url: asked, body } = line;
      if (typeof customId !== "string" || !isObject(body))
        throw new LineFault("missing_required_parameter", "custom_id must be a text and body an object.", "body");
      if (method !== "POST") throw new LineFault("invalid_method", "The method must be POST.", "method");
      if (asked !== url) throw new LineFault("url_mismatch", `The url must be the batch's endpoint, ${url}.`, "url");
      const model = readBodyModel(body);
      return { customId, member: "body", body, model: model === renamed?.upstream ? renamed.model : model };
    },
  };
}

function readBodyModel(body: JsonObject): string {
  const { model } = body;
  if (typeof model !== "string" || model === "")
    throw new LineFault("missing_required_parameter", "The request names no model.", "body.model");
  for (const [name, isOn] of Object.entries(UNSUPPORTED))
    if (isOn(body[name]))
      throw new LineFault("unsupported_parameter", `${name} cannot be used in batches.`, `body.${name}`);
  return model;
}

/** Google's lines. @param isMapped true if the upstream knows the model by another name than the client */
export function createGeminiForm(model: string, isMapped: boolean): LineForm {
  return {
    idMember: "key",
    read(line) {
      const { request } = line;
      if (!isObject(request))
        throw new LineFault("missing_required_parameter", "The line has no request, or it is no object.", "request");
      if (repeatsModel(request, model) && isMapped)
        throw new LineFault("batch_model_mapped", "The model of the path is mapped: leave model out.", "request.model");
      return { customId: text(line, "key"), member: "request", body: request, model };
    },
  };
}

function repeatsModel(request: JsonObject, model: string): boolean {
  try {
    return namesModel(request, model, "request.model");
  } catch (error) {
    throw new LineFault("model_mismatch", AppError.from(error).message, "request.model");
  }
}
