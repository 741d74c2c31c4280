import type { IdKind } from "../../dialects/client-ids.ts";
import { list } from "../../dialects/core/read.ts";
import { AppError } from "../../lib/app-error.ts";
import type { ChannelRecord } from "../../providers/core/types.ts";

const MAX_SHOWN = 100;

const PROMPT_INSIDE = "Send the text of the stored prompt as instructions and input.";

/** Ids that are not the user's own: only a channel that lists them may serve. */
export interface SharedIds {
  readonly ids: readonly string[];
  /** The answer where no channel does, in the words for an id that does not exist. */
  readonly refusal: AppError;
}

/** True when the operator lets clients of this channel name all of the ids. */
export function listsIds(
  { setting }: Pick<ChannelRecord, "setting">,
  { ids }: Partial<SharedIds> & Pick<SharedIds, "ids">,
): boolean {
  const listed = list(setting, "shared_ids");
  return ids.every((id) => listed.includes(id));
}

/** The same error for an id that does not exist and for one of another user. */
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
    case "prompt":
      return new AppError("object_not_found", {
        param,
        message: `The prompt ${shown} does not exist. ${PROMPT_INSIDE}`,
      });
    default:
      return new AppError("object_not_found", { param, values: { kind, id: shown } });
  }
}
