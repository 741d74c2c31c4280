import { useQuery, type UseQueryOptions } from "@tanstack/react-query";
import { useState } from "react";
import { isStale } from "../../lib/problems.ts";
import type { Version } from "../../lib/rows.ts";
import { ask } from "../feedback/ask.ts";
import { say } from "../texts.ts";
import { toastProblem } from "../feedback/toaster.ts";

/** The row that a form edits, with its version. */
export interface Edited<R> extends Version<R> {
  /** Key of the form: a new value resets it. */
  readonly edition: number;
  /** Shows why saving failed; offers the newer version if there is one. */
  onProblem(problem: unknown): void;
}

/** Asks after a conflict whether the newer version shall replace the input. */
export function askForNewer(): Promise<boolean> {
  return ask({
    title: say("staleTitle"),
    body: say("staleBody"),
    confirm: say("staleLoad"),
    cancel: say("keepEditing"),
    isDangerous: true,
  });
}

/** Reads the row that a form edits. A newer version replaces it only on request, because that discards the input. */
export function useEdited<R>(query: UseQueryOptions<Version<R>, Error, Version<R>, (string | number)[]>) {
  const { data, error, refetch } = useQuery(query);
  const [edition, setEdition] = useState(0);
  async function loadNewer(): Promise<void> {
    if (!(await askForNewer())) return;
    const loaded = await refetch();
    if (loaded.error) toastProblem(loaded.error);
    else setEdition(edition + 1);
  }
  const onProblem = (problem: unknown) => (isStale(problem) ? void loadNewer() : toastProblem(problem));
  const edited: Edited<R> | undefined = data && { ...data, edition, onProblem };
  return { edited, error, retry: () => void refetch() };
}
