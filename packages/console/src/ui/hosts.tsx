import { Suspense, useEffect } from "react";
import { useStore } from "../lib/store.ts";
import { uncopied } from "./content/copy.ts";
import { pendingQuestion } from "./feedback/ask.ts";
import { menu } from "./menu/menu.ts";
import { TipLayer } from "./feedback/tip-layer.tsx";
import { ToastRegion } from "./feedback/toast-region.tsx";
import { lateNeeded, lateOverlay } from "./late/late.tsx";
import { useReleaseCheck } from "./late/release.ts";

const loadMenu = () => import("./menu/menu-host.tsx");
const loadAsk = () => import("./feedback/ask-dialog.tsx");
const MenuHost = lateOverlay(
  async () => (await loadMenu()).MenuHost,
  () => menu.write(undefined),
);
const CopyDialog = lateNeeded(async () => (await import("./content/copy-dialog.tsx")).CopyDialog);
const AskDialog = lateOverlay(
  async () => (await loadAsk()).AskDialog,
  () => pendingQuestion.read()?.answer(false),
);

const whenIdle = globalThis.requestIdleCallback ?? ((run: () => void) => setTimeout(run, 1_000));

/** Components that exist once in the application and serve all pages; the heavy ones load on idle or on demand. */
export function Hosts() {
  const isMenuOpen = useStore(menu) !== undefined;
  const isAsking = useStore(pendingQuestion) !== undefined;
  const isUncopied = useStore(uncopied) !== undefined;
  useEffect(() => {
    // A failed early load is retried when the part is needed.
    whenIdle(() => void Promise.allSettled([loadMenu(), loadAsk()]));
  }, []);
  useReleaseCheck();
  return (
    <>
      <TipLayer />
      <ToastRegion />
      <Suspense>{isMenuOpen && <MenuHost />}</Suspense>
      <Suspense>{isUncopied && <CopyDialog />}</Suspense>
      <Suspense>{isAsking && <AskDialog />}</Suspense>
    </>
  );
}
