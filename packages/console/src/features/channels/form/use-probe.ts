import { useState } from "react";
import { problemText } from "../../../ui/feedback/toaster.ts";
import { probeChannel } from "../form-api.ts";
import { toChannelInput, type ChannelDraft } from "./channel-form.ts";
import { useTexts } from "../texts.ts";

export interface Probe {
  readonly isRunning: boolean;
  /** The last test result; undefined before the first test, and after it is closed. */
  readonly result: { readonly isGood: boolean; readonly model: string; readonly text: string } | undefined;
  run(form: ChannelDraft, model: string): Promise<void>;
  close(): void;
}

/** Sends a test request with the current form, saved or not. */
export function useProbe(id: number | undefined): Probe {
  const t = useTexts();
  const [isRunning, setRunning] = useState(false);
  const [result, setResult] = useState<Probe["result"]>();
  return {
    isRunning,
    result,
    async run(form, model) {
      setRunning(true);
      try {
        const answer = await probeChannel(id, { ...toChannelInput(form), test_model: model });
        const text = answer.ok
          ? t("probeGood", { seconds: (answer.latency_ms / 1000).toFixed(2) })
          : t("probeBad", { message: answer.message });
        setResult({ isGood: answer.ok, model, text });
      } catch (problem) {
        setResult({ isGood: false, model, text: problemText(problem) });
      } finally {
        setRunning(false);
      }
    },
    close: () => setResult(undefined),
  };
}
