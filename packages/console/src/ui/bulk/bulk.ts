import { useEffect, useRef, useState } from "react";
import { HttpProblem } from "../../lib/problems.ts";
import { say } from "../texts.ts";
import { problemText, toast, toastUndo } from "../feedback/toaster.ts";

/** The result for one of many rows. */
export interface Outcome {
  readonly id: number;
  readonly success: boolean;
  readonly message: string;
}

/** Lets the user watch and stop a long run. */
export interface Track {
  readonly signal: AbortSignal;
  /** Reports that one more row is done. */
  step(): void;
}

/** An action on many rows. */
export interface BulkAction {
  /** The text of the button that starts it. */
  readonly label: string;
  /** Whether each row is a call of its own, so that progress can be counted. */
  readonly isCounted: boolean;
  send(ids: readonly number[], track: Track): Promise<readonly Outcome[]>;
  /** Returns the message about the rows that succeeded. */
  done(count: number): string;
  /** Undoes it for the rows that succeeded; absent if that is not possible. */
  undo?(ids: readonly number[]): BulkAction;
}

/** A chosen row with its name for the report: it may have left the page since. */
export interface Chosen {
  readonly id: number;
  readonly name: string;
}

/** Changes of rows that can be disabled. */
export type RowChange = "enable" | "disable" | "delete";

export interface BulkReport {
  readonly action: BulkAction;
  readonly count: number;
  readonly failed: readonly (Chosen & { readonly reason: string })[];
}

export interface BulkProgress {
  readonly label: string;
  readonly done: number;
  /** Undefined while one call changes all rows. */
  readonly total: number | undefined;
}

const AT_ONCE = 4;

/** Runs an action on each row, a few at a time; after a stop the remaining rows are reported as not tried. */
export async function runEach(
  ids: readonly number[],
  act: (id: number) => Promise<unknown>,
  { signal, step }: Track,
): Promise<Outcome[]> {
  const outcomes = new Map<number, Outcome>();
  const waiting = [...ids];
  const work = async () => {
    for (let id = waiting.shift(); id !== undefined; id = waiting.shift()) {
      outcomes.set(id, signal.aborted ? failed(id, say("notTried")) : await runOne(id, act));
      step();
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return ids.flatMap((id) => outcomes.get(id) ?? []);
}

async function runOne(id: number, act: (id: number) => Promise<unknown>): Promise<Outcome> {
  try {
    await act(id);
    return { id, success: true, message: "" };
  } catch (problem) {
    if (isSessionLost(problem)) throw problem;
    return failed(id, problemText(problem));
  }
}

/** Sends one call for several rows after another; after a stop the remaining rows are reported as not tried. */
export async function runParts<P extends { readonly ids: readonly number[] }>(
  parts: readonly P[],
  send: (part: P) => Promise<readonly Outcome[]>,
  { signal, step }: Track,
): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  for (const part of parts) {
    outcomes.push(...(signal.aborted ? part.ids.map((id) => failed(id, say("notTried"))) : await runPart(part, send)));
    for (const _ of part.ids) step();
  }
  return outcomes;
}

async function runPart<P extends { readonly ids: readonly number[] }>(
  part: P,
  send: (part: P) => Promise<readonly Outcome[]>,
): Promise<readonly Outcome[]> {
  try {
    return await send(part);
  } catch (problem) {
    if (isSessionLost(problem)) throw problem;
    return part.ids.map((id) => failed(id, problemText(problem)));
  }
}

function failed(id: number, message: string): Outcome {
  return { id, success: false, message };
}

/** The sign-in page reports it. */
function isSessionLost(problem: unknown): boolean {
  return problem instanceof HttpProblem && problem.status === 401;
}

/** Runs bulk actions one at a time; failed rows stay selected, and the report shows the reasons and can retry them. */
export function useBulk(select: (ids: ReadonlySet<number>) => void) {
  const [progress, setProgress] = useState<BulkProgress>();
  const [report, setReport] = useState<BulkReport>();
  const running = useRef<AbortController>(undefined);
  useEffect(() => () => running.current?.abort(), []);

  async function run(action: BulkAction, rows: readonly Chosen[]): Promise<void> {
    const ids = rows.map(({ id }) => id);
    const controller = new AbortController();
    running.current = controller;
    setReport(undefined);
    setProgress({ label: action.label, done: 0, total: action.isCounted ? ids.length : undefined });
    const step = () => setProgress((current) => current && { ...current, done: current.done + 1 });
    try {
      tell(action, rows, await action.send(ids, { signal: controller.signal, step }));
    } catch (problem) {
      const reason = problemText(problem);
      // The result is unknown for all of them.
      if (!isSessionLost(problem))
        tell(
          action,
          rows,
          ids.map((id) => failed(id, reason)),
        );
    } finally {
      setProgress(undefined);
    }
  }

  function tell(action: BulkAction, rows: readonly Chosen[], outcomes: readonly Outcome[]): void {
    const reasons = new Map(outcomes.flatMap(({ id, success, message }) => (success ? [] : [[id, message] as const])));
    const bad = rows.flatMap((row) => {
      const reason = reasons.get(row.id);
      return reason === undefined ? [] : [{ ...row, reason }];
    });
    const good = rows.filter(({ id }) => !reasons.has(id));
    const undo = good.length > 0 && action.undo?.(good.map(({ id }) => id));
    if (undo) toastUndo(action.done(good.length), () => void run(undo, good));
    else if (good.length > 0) toast("success", action.done(good.length));
    if (bad.length > 0) setReport({ action, count: rows.length, failed: bad });
    select(new Set(bad.map(({ id }) => id)));
  }

  return {
    progress,
    report,
    run: (action: BulkAction, rows: readonly Chosen[]) => void run(action, rows),
    stop: () => running.current?.abort(),
    retry: () => report && void run(report.action, report.failed),
    closeReport: () => setReport(undefined),
  };
}

export type Bulk = ReturnType<typeof useBulk>;
