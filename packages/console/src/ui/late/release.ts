import { useEffect } from "react";
import { ownRelease, serverRelease } from "../../lib/server/release.ts";
import { stored } from "../../lib/storage.ts";
import { toast } from "../feedback/toaster.ts";
import { hasUnsaved } from "../feedback/unsaved-guard.ts";
import { say } from "../texts.ts";

let isAnnounced = false;

/** Says once that a reload brings the new release; the user decides when. */
function announce(): void {
  if (isAnnounced) return;
  isAnnounced = true;
  toast("info", say("newRelease"), {
    action: { label: say("reload"), run: () => location.reload() },
    durationMs: Infinity,
  });
}

/** The code of a part of the page did not come: an upgrade would explain it. */
export async function whenPartMissing(): Promise<void> {
  if ((await serverRelease()) === "other") announce();
}

/** The code of a page did not come from a server that answers: a reload helps, once and if no form holds anything. */
export async function whenPageMissing(): Promise<void> {
  const release = await serverRelease();
  if (release === undefined) return;
  if (hasUnsaved() || stored.reloaded.read() === ownRelease) return release === "other" ? announce() : undefined;
  stored.reloaded.write(ownRelease);
  location.reload();
  // What is shown meanwhile is of no use.
  await new Promise(() => undefined);
}

const CHECK_MS = 300_000;
/** Between two checks because the page came into view. */
const REST_MS = 30_000;

/** Asks from time to time, and when the page comes into view again, whether there is a new release. */
export function useReleaseCheck(): void {
  useEffect(() => {
    let checked = performance.now();
    const check = async (rest: number) => {
      if (document.hidden || isAnnounced || performance.now() - checked < rest) return;
      checked = performance.now();
      if ((await serverRelease()) === "other") announce();
    };
    const onView = () => void check(REST_MS);
    const timer = setInterval(() => void check(0), CHECK_MS);
    document.addEventListener("visibilitychange", onView);
    addEventListener("focus", onView);
    return () => {
      clearInterval(timer);
      document.removeEventListener("visibilitychange", onView);
      removeEventListener("focus", onView);
    };
  }, []);
}
