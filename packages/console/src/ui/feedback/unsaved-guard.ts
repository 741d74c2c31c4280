import { useCallback, useEffect, useRef } from "react";
import { useBlocker } from "react-router";
import { ask } from "./ask.ts";
import { say } from "../texts.ts";

/** The forms with unsaved input. */
const unsaved = new Set<object>();

export function hasUnsaved(): boolean {
  return unsaved.size > 0;
}

/**
 * Asks before unsaved input is lost, whichever way the user leaves; a page may have several such forms. Returns a
 * function to leave without a question.
 */
export function useUnsavedGuard(isDirty: boolean): () => void {
  const form = useRef({});
  useEffect(() => {
    if (!isDirty) return;
    const own = form.current;
    const warn = (event: BeforeUnloadEvent) => event.preventDefault();
    unsaved.add(own);
    addEventListener("beforeunload", warn);
    return () => {
      unsaved.delete(own);
      removeEventListener("beforeunload", warn);
    };
  }, [isDirty]);
  return useCallback(() => void unsaved.delete(form.current), []);
}

function askToDiscard(isEnded: boolean): Promise<boolean> {
  return ask({
    title: say(isEnded ? "endedTitle" : "unsavedTitle"),
    body: say(isEnded ? "endedBody" : "unsavedBody"),
    confirm: say("discard"),
    cancel: say("keepEditing"),
    isDangerous: true,
  });
}

/** For leaving by something other than a link; if the user agrees, the input is discarded. */
export async function mayLeaveForms(): Promise<boolean> {
  if (unsaved.size > 0 && !(await askToDiscard(false))) return false;
  unsaved.clear();
  return true;
}

/** Rendered once in the application, because the router supports only one blocker. */
export function UnsavedGuard(): null {
  const blocker = useBlocker(
    ({ currentLocation, nextLocation }) => unsaved.size > 0 && currentLocation.pathname !== nextLocation.pathname,
  );
  const latest = useRef(blocker);
  latest.current = blocker;
  const isBlocked = blocker.state === "blocked";
  // The user did not choose to leave: the session has expired.
  const isEnded = blocker.location?.pathname === "/login";
  useEffect(() => {
    if (!isBlocked) return;
    void askToDiscard(isEnded).then((isConfirmed) =>
      isConfirmed ? latest.current.proceed?.() : latest.current.reset?.(),
    );
  }, [isBlocked, isEnded]);
  return null;
}
