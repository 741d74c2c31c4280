import { redemptionGet, redemptionSetStatus, redemptionUpdate, type Redemption } from "@fairway/wire";
import { Suspense, useState } from "react";
import { call } from "../../../lib/http.ts";
import { readVersion } from "../../../lib/rows.ts";
import type { Bulk } from "../../../ui/bulk/bulk.ts";
import { BulkButton } from "../../../ui/bulk/bulk-bar.tsx";
import { eachChange, planAction, readAsShown, type Plan, type PlanJob } from "../../../ui/bulk/plan.ts";
import { lateOverlay } from "../../../ui/late/late.tsx";
import { refresh } from "../api.ts";
import { useTexts } from "../texts.ts";
import type { CodeChange, CodePatch } from "./plan.ts";

const CodesDialog = lateOverlay(async () => (await import("./codes-dialog.tsx")).CodesDialog);

/** Sends the changes of one code, unless it differs from the preview. */
async function changeCode({ row: { id }, patch, undo }: CodeChange): Promise<void> {
  const { row, tag } = await readAsShown(readVersion(redemptionGet, { params: { id } }), { patch, undo });
  const { status = row.status, name = row.name, quota = row.quota } = patch;
  if (name !== row.name || quota !== row.quota)
    await call(redemptionUpdate, { body: { id, name, quota }, ifMatch: tag });
  if (status !== row.status) await call(redemptionSetStatus, { query: { status_only: true }, body: { id, status } });
}

/** The button that changes the chosen codes, and its dialog. */
export function ChangeCodes({ chosen, bulk }: { readonly chosen: readonly Redemption[]; readonly bulk: Bulk }) {
  const t = useTexts();
  const [isOpen, setOpen] = useState(false);
  const apply = (plan: Plan<Redemption, CodePatch>) => {
    setOpen(false);
    const job: PlanJob<Redemption, CodePatch> = {
      label: t("changeTitle"),
      send: (changes, track) => eachChange(changes, changeCode, track),
      refresh,
      done: (count, isUndo) => t(isUndo ? "restoredMany" : "changedMany", { count }),
    };
    bulk.run(
      planAction(job, plan),
      plan.map(({ row }) => row),
    );
  };
  return (
    <>
      <BulkButton label={t("changeMany")} run={() => setOpen(true)} />
      <Suspense>{isOpen && <CodesDialog codes={chosen} onApply={apply} onClose={() => setOpen(false)} />}</Suspense>
    </>
  );
}
