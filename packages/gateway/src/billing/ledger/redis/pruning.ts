import { repeat } from "../../../lib/async/repeat.ts";
import type { Runnable } from "../../../lib/async/runnable.ts";
import type { Logger } from "../../../observability/log.ts";
import type { Journal } from "../journal/journal.ts";
import type { Settler } from "./settler/settler.ts";
import { isPast } from "./settler/streams.ts";

export interface PruningDeps {
  readonly journal: Journal;
  readonly settler: Settler;
  /** True once the journals of earlier processes were compared with the books. */
  readonly isChecked: () => boolean;
  readonly log: Logger;
}

const PRUNE_MS = 10_000;

/** Removes journal files whose charges can no longer be lost with Redis. */
export function createPruning({ journal, settler, isChecked, log }: PruningDeps): Runnable {
  const work = async () => {
    const oldest = await settler.oldest(journal.prunable());
    journal.prune(({ shard, id }) => isPast(oldest.get(shard), id), { mayRemove: isChecked() });
  };
  const onError = (error: unknown) => log.warn("old journal files are retained until Redis answers", { error });
  return repeat({ name: "journal pruning", everyMs: PRUNE_MS, work, onError });
}
