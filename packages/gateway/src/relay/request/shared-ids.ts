import { list } from "../../dialects/core/read.ts";
import type { AppError } from "../../lib/app-error.ts";
import type { ChannelRecord } from "../../providers/core/types.ts";

/** Ids that are not the user's own: only a channel that lists them may serve. */
export interface SharedIds {
  readonly ids: readonly string[];
  /** The error if no channel lists them, worded like the one for an id that does not exist. */
  readonly refusal: AppError;
}

/** True if the operator lets clients of this channel name all of the ids. */
export function listsIds(
  { setting }: Pick<ChannelRecord, "setting">,
  { ids }: Partial<SharedIds> & Pick<SharedIds, "ids">,
): boolean {
  const listed = list(setting, "shared_ids");
  return ids.every((id) => listed.includes(id));
}
