import { createDeriveId } from "../relay/tenancy/derive-id.ts";
import { listsIds } from "../relay/request/shared-ids.ts";
import type { JsonObject } from "../dialects/core/types.ts";
import { AppError, invalidRequest } from "../lib/app-error.ts";
import type { TaskIdRules } from "../providers/core/task-ids.ts";
import type { TaskTarget } from "./channels.ts";
import { readTaskIds, type TaskId } from "./task-ids.ts";
import type { TaskDeps } from "./types.ts";

/** How one protocol stores the ids of its tasks. */
export interface TaskIdSource {
  readonly rules: TaskIdRules;
  /** Returns the channels of the user's own ids; other ids are missing. */
  readonly find: (userId: number, ids: readonly string[]) => Promise<ReadonlyMap<string, number>>;
  /** The protocol's error for an id that does not exist; the same for another user's id. */
  readonly unknown: (id: TaskId) => Error;
}

/** A task request that names nothing of another user of the same upstream account. */
interface CheckedTask {
  readonly body: JsonObject;
  /** True if the request names something, so that exactly what was checked must be sent. */
  readonly namesIds: boolean;
  /**
   * Returns the channels that have what the request names, or list it in `shared_ids`. Throws if there are none: for an
   * id that is not the user's own, the same error whatever else is missing.
   */
  readonly keep: (targets: () => readonly TaskTarget[]) => readonly TaskTarget[];
}

const MAX_IDS = 100;

/** Looks up every id that the request names. */
export async function keepToOwner(
  sent: JsonObject,
  { rules, find, unknown }: TaskIdSource,
  userId: number,
  { sign }: Pick<TaskDeps, "sign">,
): Promise<CheckedTask> {
  const deriveId = createDeriveId({ hashKey: sign });
  const { body, ids } = readTaskIds(sent, rules, (member, value) => deriveId(userId, member, value));
  const values = [...new Set(ids.map(({ value }) => value))];
  if (values.length > MAX_IDS) throw invalidRequest(ids[0]?.member ?? "", `A task may name up to ${MAX_IDS} ids.`);
  const own = values.length === 0 ? new Map<string, number>() : await find(userId, values);
  const foreign = ids.filter(({ value }) => !own.has(value));
  const [first] = foreign;
  const keep = (targets: () => readonly TaskTarget[]) => {
    const listing = first ? listingChannels(targets, foreign) : targets();
    if (first && listing.length === 0) throw unknown(first);
    const channels = new Set(own.values());
    const having = listing.filter(({ channel }) => [...channels].every((id) => id === channel.id));
    if (having.length === 0) throw unavailable(channels.size);
    return having;
  };
  return { body, namesIds: ids.length > 0, keep };
}

function listingChannels(targets: () => readonly TaskTarget[], foreign: readonly TaskId[]): readonly TaskTarget[] {
  const ids = foreign.map(({ value }) => value);
  try {
    return targets().filter(({ channel }) => listsIds(channel, { ids }));
  } catch (error) {
    if (error instanceof AppError) return [];
    throw error;
  }
}

function unavailable(accounts: number): AppError {
  return new AppError("unsupported_by_channel", {
    message:
      accounts > 1
        ? "What this task names is at different upstream accounts."
        : "No channel that may take this task has what it names.",
  });
}
