import type { ChannelKey } from "@fairway/wire";
import { useState } from "react";
import { problemText, toastProblem } from "../../../ui/feedback/toaster.ts";
import { addKey, removeKey, setKeyStatus } from "../form-api.ts";
import { bindObjects, testKey } from "./api.ts";
import { isKeyInUse, removeAnyway } from "./remove-key.tsx";
import type { useTexts } from "./texts.ts";

type TestResult =
  | { readonly state: "running" }
  | { readonly state: "good"; readonly ms: number }
  | { readonly state: "bad"; readonly message: string };

/** How far the replacement of a key is; each step needs the one before. */
export interface Progress {
  readonly added?: ChannelKey;
  readonly test?: TestResult;
  readonly isSwitched?: boolean;
  /** Why the old key was not removed: files or batches need it. */
  readonly reason?: string;
  readonly isRemoved?: boolean;
}

interface Replacing {
  readonly id: number;
  readonly keys: readonly ChannelKey[];
  readonly old: ChannelKey;
  readonly canTest: boolean;
  readonly t: ReturnType<typeof useTexts>;
}

/** The steps that replace a key of a channel while requests run. */
export function useReplacement({ id, keys, old, canTest, t }: Replacing) {
  const [progress, setProgress] = useState<Progress>({});
  const [isBusy, setBusy] = useState(false);
  const note = (step: Progress) => setProgress((known) => ({ ...known, ...step }));
  const during = (work: () => Promise<unknown>) => {
    setBusy(true);
    void work()
      .catch(toastProblem)
      .finally(() => setBusy(false));
  };

  const test = async (key: ChannelKey) => {
    if (!canTest) return;
    note({ test: { state: "running" } });
    await testKey(id, key.index).then(
      (ms) => note({ test: { state: "good", ms } }),
      (problem: unknown) => note({ test: { state: "bad", message: problemText(problem) } }),
    );
  };
  const remove = async (isBound: boolean) => {
    const { added } = progress;
    if (!added) return;
    if (isBound) await bindObjects(id, old.index, added.index);
    try {
      await removeKey(id, old);
      note({ isRemoved: true });
    } catch (problem) {
      if (!isKeyInUse(problem)) throw problem;
      note({ reason: problem.message });
    }
  };
  const force = async (reason: string) => {
    if (await removeAnyway(id, old, { t, reason })) note({ isRemoved: true });
  };

  return {
    progress,
    isBusy,
    add: (text: string, whenKnown: () => void) =>
      during(async () => {
        const added = await addKey(id, text, keys.length);
        if (!added) return whenKnown();
        note({ added });
        await test(added);
      }),
    testAgain: () => during(async () => progress.added && test(progress.added)),
    /** The new key first, so that the channel has a key in use at any time. */
    switchOver: () =>
      during(async () => {
        if (!progress.added) return;
        await setKeyStatus(id, progress.added.index, true);
        await setKeyStatus(id, old.index, false);
        note({ isSwitched: true });
      }),
    remove: (isBound = false) => during(() => remove(isBound)),
    force: (reason: string) => during(() => force(reason)),
  };
}
