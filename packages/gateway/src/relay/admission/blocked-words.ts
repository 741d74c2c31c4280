import { AppError } from "../../lib/app-error.ts";
import { createWordFinder } from "../../lib/text/word-finder.ts";
import type { Logger } from "../../observability/log.ts";
import type { SnapshotStore } from "../../snapshot/types.ts";

/** Refuses prompts that contain a word of the operator's list; throws `sensitive_words_detected`. */
export type CheckWords = (texts: () => readonly string[], requestId: string) => void;

/** The list is parsed again when it changes; while the check is off, nothing is read. */
export function createBlockedWords(snapshots: SnapshotStore, log: Logger): CheckWords {
  let source: readonly string[] | undefined;
  let known = "";
  let finder = createWordFinder([]);
  const refresh = (words: readonly string[]) => {
    source = words;
    const text = words.join("\n");
    if (text === known) return;
    known = text;
    finder = createWordFinder(words);
  };
  return (texts, requestId) => {
    const { CheckSensitiveEnabled, CheckSensitiveOnPromptEnabled, SensitiveWords } = snapshots.current().options;
    if (!CheckSensitiveEnabled || !CheckSensitiveOnPromptEnabled) return;
    if (source !== SensitiveWords) refresh(SensitiveWords);
    if (known === "") return;
    for (const part of texts()) {
      const word = finder.find(part);
      if (word === undefined) continue;
      log.info("a prompt was refused", { request_id: requestId, word });
      throw new AppError("sensitive_words_detected", { retryable: false });
    }
  };
}
