import { printable } from "../../print/printable.ts";
import { FieldProblem, readValues, withProblem, type Form } from "./form.ts";
import type { Resource, WantedRows } from "./lists/resource.ts";
import { createMatcher, meantItems, describeError, shownColumns, visibleItems, wantedBy, type State } from "./state.ts";

/** What the calls of a screen share. */
export interface Calls {
  current(): Resource | undefined;
  now(): State;
  update(change: (now: State) => State): void;
  load(): Promise<void>;
}

/** How many rows are written between two progress notices. */
const PROGRESS_ROWS = 2_000;

/** Sends forms. A mistake is shown in the form, with the field and the remedy. */
export function createSender(calls: Calls) {
  let writing = new AbortController();
  const send: Readonly<Record<Form["kind"], (form: Form) => Promise<void>>> = {
    create: (form) => create(calls, form),
    disable: (form) => disable(calls, form),
    filter: (form) => filter(calls, form),
    write: (form) => write(calls, form, (writing = new AbortController()).signal),
  };
  return {
    async send(form: Form): Promise<void> {
      try {
        await send[form.kind](form);
      } catch (error) {
        const field = error instanceof FieldProblem ? error.field : "";
        const problem = withProblem(form, field, describeError(error));
        calls.update((now) => ({ ...now, mode: "form", form: problem, notice: "" }));
      }
    },
    /** Stops the writing of a file. */
    stop: () => writing.abort(),
  };
}

async function create({ current, update, load }: Calls, form: Form): Promise<void> {
  update((now) => ({ ...now, notice: `${form.title} …` }));
  const made = await current()?.create?.(readValues(form));
  const secret = made?.secret ?? "";
  const notice = printable(made?.notice ?? "");
  const detail = ["This is shown once.", "", ...secret.split("\n")];
  const next = secret === "" ? ({ mode: "list" } as const) : ({ mode: "secret", secret, detail, offset: 0 } as const);
  update((now) => ({ ...now, ...next, form: undefined, notice }));
  await load();
}

async function disable({ current, update, now: stateNow, load }: Calls, form: Form): Promise<void> {
  const said = (await current()?.disable?.(meantItems(stateNow()), readValues(form))) ?? "";
  update((now) => ({ ...now, mode: "list", form: undefined, marked: [] }));
  await load();
  update((now) => ({ ...now, notice: printable(said) }));
}

async function filter({ current, update, load }: Calls, form: Form): Promise<void> {
  const query = readValues(form);
  await current()?.check?.(query);
  const fresh = { query, items: [], pages: 1, isLoading: true, notice: "" };
  update((now) => ({ ...now, ...fresh, mode: "list", form: undefined }));
  await load();
}

async function write({ current, update, now: stateNow }: Calls, form: Form, signal: AbortSignal): Promise<void> {
  const state = stateNow();
  const rows: WantedRows = {
    wanted: wantedBy(state),
    keys: visibleItems(state).map(({ key }) => key),
    isShown: createMatcher(state.filter, shownColumns(state)),
    mayReplace: form.isAgreed,
    signal,
    onProgress(count) {
      if (count % PROGRESS_ROWS === 0)
        update((now) => ({ ...now, notice: `Writing, ${count} rows so far; esc stops …` }));
    },
  };
  update((now) => ({ ...now, mode: "list", form: undefined, isWriting: true, notice: "Writing …" }));
  try {
    const written = await current()?.write?.(readValues(form), rows);
    if (!written) return;
    if ("notice" in written) return update((now) => ({ ...now, notice: printable(written.notice) }));
    const question = `${printable(written.exists)} exists: replace it?`;
    update((now) => ({ ...now, mode: "form", notice: "", form: { ...form, question } }));
  } finally {
    update((now) => ({ ...now, isWriting: false }));
  }
}
