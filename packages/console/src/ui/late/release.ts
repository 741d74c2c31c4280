import { useEffect } from "react";
import { ownRelease, serverRelease } from "../../lib/server/release.ts";
import { stored } from "../../lib/storage.ts";
import { toast } from "../feedback/toaster.ts";
import { hasUnsaved } from "../feedback/unsaved-guard.ts";
import { say } from "../texts.ts";

let isAnnounced = false;

/** Announces once that a reload brings the new release; the user decides when. */
function announce(): void {
  if (isAnnounced) return;
  isAnnounced = true;
  toast("info", say("newRelease"), {
    action: { label: say("reload"), run: () => location.reload() },
    durationMs: Infinity,
  });
}

/** Called if the code of a part of the page did not load, which an upgrade would explain. */
export async function whenPartMissing(): Promise<void> {
  if ((await serverRelease()) === "other") announce();
}

/**
 * Called if the code of a page did not load although the server answers: a reload helps, but happens only once and only
 * if no form has input.
 */
export async function whenPageMissing(): Promise<void> {
  const release = await serverRelease();
  if (release === undefined) return;
  if (hasUnsaved() || stored.reloaded.read() === ownRelease) return release === "other" ? announce() : undefined;
  stored.reloaded.write(ownRelease);
  location.reload();
  // What is shown until the reload is useless.
  await new Promise(() => undefined);
}

const CHECK_MS = 300_000;
/** The least time between two checks when the page becomes visible. */
const REST_MS = 30_000;

/** Checks for a new release from time to time, and when the page becomes visible. */
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
