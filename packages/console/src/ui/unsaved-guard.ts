import { useEffect, useRef } from "react";
import { useBlocker } from "react-router";
import { ask } from "./ask.ts";
import { useTexts } from "./texts.ts";

/**
 * Asks before unsaved input is lost, whichever way the user leaves. Answers how to leave without a question. One at a
 * time: the router takes no second.
 */
export function useUnsavedGuard(isDirty: boolean) {
  const t = useTexts();
  const mayLeave = useRef(false);
  const blocker = useBlocker(({ currentLocation, nextLocation }) => {
    return isDirty && !mayLeave.current && currentLocation.pathname !== nextLocation.pathname;
  });
  const latest = useRef(blocker);
  latest.current = blocker;
  const isBlocked = blocker.state === "blocked";
  // Nobody asked to leave: the server no longer knows the session.
  const isEnded = blocker.location?.pathname === "/login";
  useEffect(() => {
    if (!isBlocked) return;
    void ask({
      title: t(isEnded ? "endedTitle" : "unsavedTitle"),
      body: t(isEnded ? "endedBody" : "unsavedBody"),
      confirm: t("discard"),
      cancel: t("keepEditing"),
      isDangerous: true,
    }).then((isConfirmed) => (isConfirmed ? latest.current.proceed?.() : latest.current.reset?.()));
  }, [isBlocked, isEnded, t]);
  useEffect(() => {
    if (!isDirty) return;
    const warn = (event: BeforeUnloadEvent) => event.preventDefault();
    addEventListener("beforeunload", warn);
    return () => removeEventListener("beforeunload", warn);
  }, [isDirty]);
  return () => {
    mayLeave.current = true;
  };
}
