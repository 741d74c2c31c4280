import { ApiProblem } from "../../lib/problems.ts";
import type { Version } from "../../lib/rows.ts";
import { say as sayUi } from "../texts.ts";
import { runEach, type BulkAction, type Chosen, type Outcome, type Track } from "./bulk.ts";
import { say } from "./texts.ts";

/** One row of a plan: what is sent for it, and what undoes that. */
export interface PlannedChange<Row, Patch> {
  readonly row: Row;
  readonly patch: Patch;
  readonly undo: Patch;
}

export type Plan<Row, Patch> = readonly PlannedChange<Row, Patch>[];

export interface PlanJob<Row, Patch> {
  /** The text of the button that starts it. */
  readonly label: string;
  send(changes: Plan<Row, Patch>, track: Track): Promise<readonly Outcome[]>;
  /** Reloads the list once after all changes. */
  refresh(): Promise<void>;
  /** Returns the message about the rows that succeeded. */
  done(count: number, isUndo: boolean): string;
}

/** Sends a plan; successful changes can be undone. */
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

/** Returns the members of `wanted` that differ from `before`, with their old values; undefined if none does. */
export function diffPatch<Patch extends object>(wanted: Patch, before: Patch) {
  const names = (Object.keys(wanted) as (keyof Patch)[]).filter((name) => wanted[name] !== before[name]);
  if (names.length === 0) return undefined;
  const members = (values: Patch) => Object.fromEntries(names.map((name) => [name, values[name]])) as Partial<Patch>;
  return { patch: members(wanted), undo: members(before) };
}

/** Sends each change of a plan in its own calls. */
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
 * Reads a row that is about to be changed. Throws if a member has neither the value of the preview nor, after a partial
 * attempt, the new value.
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
