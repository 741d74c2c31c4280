import type { IdKind } from "../../dialects/client-ids.ts";
import { AppError } from "../../lib/app-error.ts";

const MAX_SHOWN = 100;

const PROMPT_INSIDE = "Send the text of the stored prompt as instructions and input.";

/** Returns the same error for an id that does not exist and for another user's id. */
export function unknownId(kind: IdKind, id: string, param: string): AppError {
  const shown = id.slice(0, MAX_SHOWN);
  switch (kind) {
    case "response":
      return new AppError("response_not_found", { param, values: { id: shown } });
    case "item":
    case "approval":
      return new AppError("item_not_found", { param, values: { id: shown } });
    case "file":
      return new AppError("file_not_found", { param, values: { id: shown } });
    case "cached content":
      return new AppError("cache_not_found", { param, values: { id: shown } });
    case "prompt":
      return new AppError("object_not_found", {
        param,
        message: `The prompt ${shown} does not exist. ${PROMPT_INSIDE}`,
      });
    default:
      return new AppError("object_not_found", { param, values: { kind, id: shown } });
  }
}
