import { lazy, Suspense } from "react";
import { useStore } from "../../lib/store.ts";
import { pendingConfirmation } from "./confirm.ts";

const ConfirmDialog = lazy(async () => ({ default: (await import("./confirm-dialog.tsx")).ConfirmDialog }));

/** Rendered once in the application; the dialog loads when it is needed. */
export function ConfirmHost() {
  const pending = useStore(pendingConfirmation);
  return <Suspense>{pending && <ConfirmDialog onAnswer={pending.answer} />}</Suspense>;
}
