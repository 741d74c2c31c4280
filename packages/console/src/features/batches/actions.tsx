import { ROLE, type Batch } from "@fairway/wire";
import { getRole, useUser } from "../../session/session.ts";
import { ask } from "../../ui/feedback/ask.ts";
import { toast, toastProblem } from "../../ui/feedback/toaster.ts";
import type { IconName } from "../../ui/display/icon.tsx";
import { DetailToggle } from "../../ui/grid/detail-toggle.tsx";
import type { MenuEntry } from "../../ui/menu/menu.ts";
import { RowMenu } from "../../ui/menu/row-menu.tsx";
import { changeBatch, type BatchAction } from "./api.ts";
import { useTexts } from "./texts.ts";

interface BatchActionsProps {
  readonly row: Batch;
  readonly isOpen: boolean;
  onToggle(): void;
}

/** What this person may do with the batch in its phase, and the switch of its details. */
export function BatchActions({ row, isOpen, onToggle }: BatchActionsProps) {
  const t = useTexts();
  const role = getRole(useUser());
  const { id, phase } = row;
  const run = async (action: BatchAction) => {
    if (action !== "settle") {
      const isCancel = action === "cancel";
      const question = {
        title: t(isCancel ? "cancelTitle" : "abandonTitle"),
        body: t(isCancel ? "cancelBody" : "abandonBody"),
        confirm: t(action),
        isDangerous: true,
      };
      if (!(await ask(question))) return;
    }
    await changeBatch(id, action).then(() => toast("success", t(DONE[action])), toastProblem);
  };
  const entry = (action: BatchAction, icon: IconName, isDangerous: boolean): MenuEntry => ({
    id: action,
    label: t(action),
    icon,
    isDangerous,
    run: () => void run(action),
  });
  const entries = [
    ...(phase === "open" ? [entry("cancel", "stop", true)] : []),
    ...(role >= ROLE.admin && (phase === "ended" || phase === "stuck") ? [entry("settle", "refresh", false)] : []),
    ...(role >= ROLE.root && phase === "stuck" ? [entry("abandon", "trash", true)] : []),
  ];
  return (
    <div className="row-actions">
      <DetailToggle isOpen={isOpen} onToggle={onToggle} />
      {entries.length > 0 && <RowMenu name={id} entries={entries} />}
    </div>
  );
}

const DONE = { cancel: "cancelDone", settle: "settleDone", abandon: "abandonDone" } as const;
