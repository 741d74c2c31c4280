import { CHANNEL_STATUS, type Channel } from "@fairway/wire";
import { Suspense, useState } from "react";
import { ask } from "../../../ui/feedback/ask.ts";
import { runEach, runParts, useBulk, type BulkAction } from "../../../ui/bulk/bulk.ts";
import { BulkBar, BulkButton } from "../../../ui/bulk/bulk-bar.tsx";
import { planAction } from "../../../ui/bulk/plan.ts";
import { deleteMany, patchMany, refreshChannels } from "../api.ts";
import { buildCalls, type BulkChange } from "./bulk-calls.ts";
import { useTexts } from "../texts.ts";
import { lateOverlay } from "../../../ui/late/late.tsx";

const TagDialog = lateOverlay(async () => (await import("./tag-dialog.tsx")).TagDialog);
const PauseDialog = lateOverlay(async () => (await import("./pause-dialog.tsx")).PauseDialog);
const BulkPatchDialog = lateOverlay(async () => (await import("./bulk-patch-dialog.tsx")).BulkPatchDialog);

interface BulkActionsProps {
  readonly chosen: readonly Channel[];
  select(ids: ReadonlySet<number>): void;
  /** Tests one channel, and shows the result in its row. */
  test(id: number): Promise<unknown>;
}

/** Actions for many channels at once. */
export function BulkActions({ chosen, select, test }: BulkActionsProps) {
  const t = useTexts();
  const bulk = useBulk(select);
  const [dialog, setDialog] = useState<"tag" | "change" | "pause">();
  const { patchAction, statusAction } = useActions();
  const testing: BulkAction = {
    label: t("testMany"),
    isCounted: true,
    send: (ids, track) => runEach(ids, test, track),
    done: (count) => t("testedMany", { count }),
  };
  const removing: BulkAction = {
    label: t("remove"),
    isCounted: false,
    send: deleteMany,
    done: (count) => t("removedMany", { count }),
  };
  const remove = async () => {
    const title = t("removeManyTitle", { count: chosen.length });
    if (!(await ask({ title, body: t("removeManyBody"), confirm: t("remove"), isDangerous: true }))) return;
    bulk.run(removing, chosen);
  };
  const patch = (label: string, plan: readonly BulkChange[]) => {
    setDialog(undefined);
    if (plan.length === 0) return select(new Set());
    bulk.run(
      patchAction(label, plan),
      plan.map(({ row }) => row),
    );
  };
  const close = () => setDialog(undefined);
  return (
    <>
      <BulkBar count={chosen.length} onClear={() => select(new Set())} bulk={bulk}>
        <BulkButton label={t("enable")} run={() => bulk.run(statusAction(true, chosen), chosen)} />
        <BulkButton label={t("disable")} run={() => bulk.run(statusAction(false, chosen), chosen)} />
        <BulkButton label={t("pauseMany")} run={() => setDialog("pause")} />
        <BulkButton label={t("testMany")} run={() => bulk.run(testing, chosen)} />
        <BulkButton label={t("tagMany")} run={() => setDialog("tag")} />
        <BulkButton label={t("changeMany")} run={() => setDialog("change")} />
        <BulkButton label={t("remove")} isDangerous run={() => void remove()} />
      </BulkBar>
      <Suspense>
        {dialog === "tag" && (
          <TagDialog channels={chosen} onApply={(plan) => patch(t("tagMany"), plan)} onClose={close} />
        )}
        {dialog === "pause" && (
          <PauseDialog
            channels={chosen}
            onDone={() => {
              close();
              select(new Set());
            }}
            onClose={close}
          />
        )}
        {dialog === "change" && (
          <BulkPatchDialog channels={chosen} onApply={(plan) => patch(t("changeTitle"), plan)} onClose={close} />
        )}
      </Suspense>
    </>
  );
}

function useActions() {
  const t = useTexts();
  const patchAction = (label: string, plan: readonly BulkChange[]) =>
    planAction(
      {
        label,
        send: (changes, track) => runParts(buildCalls(changes), patchMany, track),
        refresh: refreshChannels,
        done: (count, isUndo) => t(isUndo ? "restoredMany" : "changedMany", { count }),
      },
      plan,
    );
  /** Sent for all channels, because the page may show an outdated status. */
  const statusAction = (isOn: boolean, channels: readonly Channel[]): BulkAction => {
    const { enabled, disabledByHand } = CHANNEL_STATUS;
    const plan = channels.map((row) => ({
      row,
      patch: { status: isOn ? enabled : disabledByHand },
      undo: { status: row.status === enabled ? enabled : disabledByHand },
    }));
    return patchAction(t(isOn ? "enable" : "disable"), plan);
  };
  return { patchAction, statusAction };
}
