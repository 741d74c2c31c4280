import { ApiProblem } from "@fairway/wire";
import { CliError, EXIT } from "../core/exit.ts";
import { toExitCode, isNotSent } from "../core/problem.ts";
import { number, plain } from "../print/columns.ts";
import { openRows, type Output } from "../print/output.ts";
import { printable } from "../print/printable.ts";
import { type Column } from "../print/table.ts";

type Id = number | string;

interface Outcome {
  readonly id: Id;
  readonly ok: boolean;
  readonly message: string;
}

const COLUMNS: readonly Column<Outcome>[] = [number("ID", "id"), plain("OK", "ok"), plain("MESSAGE", "message")];

export interface Batch<I extends Id = number> {
  /** The noun of the ids, such as `channel`. */
  readonly noun: string;
  /** Prefix of the id in `-o name`, if it differs from the noun. */
  readonly prefix?: string;
  /** The word for a finished row, such as `deleted`. */
  readonly done: string;
  /** Kind of the document in JSON output, without `List`. */
  readonly kind: string;
  readonly ids: readonly I[];
  /** May return a text to print instead of `done`. */
  act(id: I): Promise<string | void>;
}

/**
 * Runs an action on each id in turn. If only one id was given, its error is thrown; if some of several fail, exit 8.
 */
export async function doEach<I extends Id>(batch: Batch<I>, output: Output): Promise<void> {
  const { noun, prefix = noun, done, kind, ids, act } = batch;
  const shape = { kind, columns: COLUMNS, name: ({ id }: Outcome) => `${prefix}/${id}` };
  const printer = await openRows(output, shape, (outcome) => formatOutcome(noun, outcome));
  let failures = 0;
  let printed = 0;
  const tell = (outcome: Outcome) => {
    printed += 1;
    if (!outcome.ok) failures += 1;
    // `-o name` feeds the next command, so failed rows are left out.
    if (outcome.ok || output.format !== "name") printer.add(outcome);
    else output.note(formatOutcome(noun, outcome));
  };
  try {
    for (const id of ids) {
      try {
        tell({ id, ok: true, message: (await act(id)) ?? done });
      } catch (error) {
        if (isNotSent(error)) continue;
        if (ids.length === 1 || !isSingleRefusal(error)) throw error;
        tell({ id, ok: false, message: error.message });
      }
    }
  } finally {
    if (printed > 0) printer.end();
  }
  if (failures > 0) throw new CliError(`${failures} of ${ids.length} ${noun}s failed`, EXIT.partial);
}

export interface Deletion<I extends Id = number> extends Pick<Batch<I>, "noun" | "prefix" | "kind" | "ids"> {
  /** The question that confirms the action for all of `named`. */
  question(named: string): string;
  loadName(id: I): Promise<string>;
  remove(id: I): Promise<unknown>;
}

/** Asks once for all of them, then deletes one after the other. An unknown id fails before the first deletion. */
export async function deleteEach<I extends Id>(
  deletion: Deletion<I>,
  isAgreed: boolean | undefined,
  output: Output,
): Promise<void> {
  const { ids } = deletion;
  const named: string[] = [];
  for (const id of ids) named.push(`${id} (${await deletion.loadName(id)})`);
  await output.confirm(deletion.question(named.join(", ")), ids.length, isAgreed);
  const act = async (id: I) => void (await deletion.remove(id));
  await doEach({ ...deletion, done: "deleted", act }, output);
}

function formatOutcome(noun: string, { id, ok, message }: Outcome): string {
  return `${ok ? "ok  " : "FAIL"}  ${noun} ${id}  ${printable(message)}`;
}

const OF_ALL: readonly number[] = [EXIT.notSignedIn, EXIT.unreachable];

/** Returns true for a refusal that says nothing about the next row. */
function isSingleRefusal(error: unknown): error is ApiProblem {
  return error instanceof ApiProblem && error.key !== "permission_denied" && !OF_ALL.includes(toExitCode(error));
}
