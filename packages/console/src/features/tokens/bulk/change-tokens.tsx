import { TOKEN_STATUS, tokenGet, tokenSetStatus, tokenUpdate, type Token } from "@fairway/wire";
import { Suspense, useState } from "react";
import { call, request } from "../../../lib/http.ts";
import { readVersion } from "../../../lib/rows.ts";
import type { Bulk } from "../../../ui/bulk/bulk.ts";
import { BulkButton } from "../../../ui/bulk/bulk-bar.tsx";
import { eachChange, planAction, readAsShown, type Plan, type PlanJob } from "../../../ui/bulk/plan.ts";
import { lateOverlay } from "../../../ui/late/late.tsx";
import { refresh } from "../api.ts";
import { useTexts } from "../texts.ts";
import type { TokenChange, TokenPatch } from "./plan.ts";

const TokensDialog = lateOverlay(async () => (await import("./tokens-dialog.tsx")).TokensDialog);

/** Sends the changes of one token, unless it differs from the preview. */
async function changeToken({ row: { id }, patch, undo }: TokenChange): Promise<void> {
  let { row, tag } = await readAsShown<Token>(readVersion(tokenGet, { params: { id } }), { patch, undo });
  const { status: wanted = row.status, ...fields } = patch;
  if (Object.keys(fields).length > 0) {
    // Spending in the meantime is preserved.
    const body = { ...row, ...fields, original_remain_quota: row.remain_quota };
    ({ data: row, tag } = await request(tokenUpdate, { body, ifMatch: tag }));
  }
  // Only the server sets the other states.
  const status = wanted === TOKEN_STATUS.enabled ? wanted : TOKEN_STATUS.disabled;
  if (patch.status === undefined || status === row.status) return;
  await call(tokenSetStatus, { query: { status_only: true }, body: { id, status }, ifMatch: tag });
}

/** The button that changes the chosen tokens, and its dialog. */
export function ChangeTokens({ chosen, bulk }: { readonly chosen: readonly Token[]; readonly bulk: Bulk }) {
  const t = useTexts();
  const [isOpen, setOpen] = useState(false);
  const apply = (plan: Plan<Token, TokenPatch>) => {
    setOpen(false);
    const job: PlanJob<Token, TokenPatch> = {
      label: t("changeTitle"),
      send: (changes, track) => eachChange(changes, changeToken, track),
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
      <Suspense>{isOpen && <TokensDialog tokens={chosen} onApply={apply} onClose={() => setOpen(false)} />}</Suspense>
    </>
  );
}
