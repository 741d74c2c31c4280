import { ApiProblem } from "../../lib/problems.ts";
import type { Version } from "../../lib/rows.ts";
import { say as sayUi } from "../texts.ts";
import { runEach, type BulkAction, type Chosen, type Outcome, type Track } from "./bulk.ts";
import { say } from "./texts.ts";

/** One row of a plan: what is sent for it, and what takes that back. */
export interface PlannedChange<Row, Patch> {
  readonly row: Row;
  readonly patch: Patch;
  readonly undo: Patch;
}

export type Plan<Row, Patch> = readonly PlannedChange<Row, Patch>[];

export interface PlanJob<Row, Patch> {
  /** As on the button that starts it. */
  readonly label: string;
  send(changes: Plan<Row, Patch>, track: Track): Promise<readonly Outcome[]>;
  /** Reads the list again, once after all. */
  refresh(): Promise<void>;
  /** The message about the rows that succeeded. */
  done(count: number, isUndo: boolean): string;
}

/** Sends a plan; what went well can be taken back. */
export function planAction<Row extends Pick<Chosen, "id">, Patch>(
  job: PlanJob<Row, Patch>,
  plan: Plan<Row, Patch>,
  isUndo = false,
): BulkAction {
  const of = (ids: readonly number[]) => {
    const wanted = new Set(ids);
    return plan.filter(({ row }) => wanted.has(row.id));
  };
  return {
    label: isUndo ? sayUi("undo") : job.label,
    isCounted: true,
    send: async (ids, track) => {
      try {
        return await job.send(of(ids), track);
      } finally {
        await job.refresh();
      }
    },
    done: (count) => job.done(count, isUndo),
    ...(!isUndo && {
      undo: (ids) => {
        const back = of(ids).map(({ row, patch, undo }) => ({ row, patch: undo, undo: patch }));
        return planAction(job, back, true);
      },
    }),
  };
}

/** The members of `wanted` that differ from `before`, with what they were; undefined when none does. */
export function diffPatch<Patch extends object>(wanted: Patch, before: Patch) {
  const names = (Object.keys(wanted) as (keyof Patch)[]).filter((name) => wanted[name] !== before[name]);
  if (names.length === 0) return undefined;
  const members = (values: Patch) => Object.fromEntries(names.map((name) => [name, values[name]])) as Partial<Patch>;
  return { patch: members(wanted), undo: members(before) };
}

/** Sends each change of a plan in calls of its own. */
export function eachChange<Row extends Pick<Chosen, "id">, Patch>(
  changes: Plan<Row, Patch>,
  act: (change: PlannedChange<Row, Patch>) => Promise<unknown>,
  track: Track,
): Promise<Outcome[]> {
  const byId = new Map(changes.map((change) => [change.row.id, change]));
  const send = async (id: number) => {
    const change = byId.get(id);
    if (change) await act(change);
  };
  return runEach([...byId.keys()], send, track);
}

/**
 * Reads a row that is about to be changed. Refuses when a member is neither what the preview showed nor, after a try
 * that got half way, what it is to be.
 */
export async function readAsShown<Row extends object>(
  read: Promise<Version<Row>>,
  { patch, undo }: { readonly patch: Partial<Row>; readonly undo: Partial<Row> },
): Promise<Version<Row>> {
  const version = await read;
  const { row } = version;
  const names = Object.keys(undo) as (keyof Row)[];
  if (names.every((name) => row[name] === undo[name] || row[name] === patch[name])) return version;
  throw new ApiProblem(say("changedSince"), "entity_changed");
}
