import { Suspense } from "react";
import { HttpProblem } from "../../../lib/problems.ts";
import { ask } from "../../../ui/feedback/ask.ts";
import type { useTexts } from "../texts.ts";
import { late } from "../../../ui/late/late.tsx";

const RunningBatches = late(async () => (await import("./running-batches.tsx")).RunningBatches);

/**
 * Deletes channels; if batches run there, shows them and deletes by force only if the user says so. Returns undefined
 * if the channels stay.
 */
export async function deleteAnyway<T>(
  remove: (isForced: boolean) => Promise<T>,
  { t, channel }: { readonly t: ReturnType<typeof useTexts>; readonly channel?: number },
): Promise<{ readonly answer: T } | undefined> {
  try {
    return { answer: await remove(false) };
  } catch (problem) {
    if (!(problem instanceof HttpProblem) || problem.key !== "channel_has_batches") throw problem;
    const isForced = await ask({
      title: t("batchesRun"),
      body: (
        <Suspense>
          <RunningBatches reason={problem.message} channel={channel} />
        </Suspense>
      ),
      confirm: t("removeAnyway"),
      cancel: t("waitForBatches"),
      isDangerous: true,
    });
    return isForced ? { answer: await remove(true) } : undefined;
  }
}
