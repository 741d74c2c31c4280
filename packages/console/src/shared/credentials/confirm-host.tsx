import { Suspense } from "react";
import { useStore } from "../../lib/store.ts";
import { pendingConfirmation } from "./confirm.ts";
import { lateOverlay } from "../../ui/late/late.tsx";

const ConfirmDialog = lateOverlay(
  async () => (await import("./confirm-dialog.tsx")).ConfirmDialog,
  () => pendingConfirmation.read()?.answer(false),
);

/** Rendered once in the application; the dialog loads when it is needed. */
export function ConfirmHost() {
  const pending = useStore(pendingConfirmation);
  return <Suspense>{pending && <ConfirmDialog onAnswer={pending.answer} />}</Suspense>;
}
