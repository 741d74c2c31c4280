import { ROLE, selfGet } from "@fairway/wire";
import type { Io } from "../../core/io.ts";
import { CliError, EXIT } from "../../core/exit.ts";
import { formatErrorMessage } from "../../core/problem.ts";
import { isForPeople, type Output } from "../../print/output.ts";
import { detectSigns, isLinesOnly, type Signs } from "../../print/signs.ts";
import { loadWidths } from "../../print/width.ts";
import { openPage } from "../../terminal/browser.ts";
import { copyToClipboard } from "../../terminal/clipboard.ts";
import { editText } from "../../terminal/editor.ts";
import type { Session } from "../../session/session.ts";
import { channelShape, CHANNELS } from "../channel/channel.ts";
import { MistakenDocuments } from "../documents/plan.ts";
import { editChannel } from "../channel/edit.ts";
import { editOption } from "../option/option.ts";
import { readColumns, writeColumns } from "./columns.ts";
import { formatDraft, withDraft, type Form } from "./form.ts";
import { planResource, type PlanFiles } from "./lists/plan.ts";
import type { Resource } from "./lists/resource.ts";
import { listResources } from "./lists/resources.ts";
import type { Left, Outside } from "./performer.ts";
import { findResource, createInitialState, type Scope, type State } from "./state.ts";

export interface UiOptions {
  readonly resource: string | undefined;
  /** Documents to compare, for the resource `apply`. */
  readonly files: readonly string[];
  readonly readOnly?: boolean;
  readonly plain?: boolean;
  /** Opens the calls of one channel. */
  readonly scope?: Scope;
  /** With `apply`: also deletes what the documents no longer mention. */
  readonly prune?: boolean;
}

/** Shows the screen, and again after each visit to the editor. */
export async function runUi({ client, profile }: Session, options: UiOptions, output: Output, io: Io): Promise<void> {
  if (!isForPeople(output))
    throw new CliError(`a screen has no -o ${output.format}`, EXIT.usage, "use the list commands in scripts");
  const isPlain = options.plain === true || isLinesOnly(io.env);
  if (!isPlain && !io.isTerminal)
    throw new CliError("ui needs a terminal", EXIT.usage, "use commands such as `fairway channel list` in scripts");
  await loadWidths();
  const { data: self } = await client.call(selfGet, {});
  const isAdmin = self.role >= ROLE.admin;
  const signs: Signs = isPlain ? "words" : detectSigns(io.env);
  const columns = readColumns(io.env);
  const resources = listResources(client, {
    isAdmin,
    quotaPerUnit: await output.quotaPerUnit(),
    channels: isAdmin ? await channelShape(client, output) : CHANNELS,
    signs,
  });
  const plan = (files: PlanFiles) => planResource(client, files, io.env);
  const { resource, all } = await openedWith(resources, options, { plan, note: output.note });
  const browse = (page: string) => {
    const url = `${profile.server.replace(/\/$/, "")}${page}`;
    openPage(url, io.env);
    return `The page is ${url}`;
  };
  const keep = (chosen: State["columns"]) => writeColumns(io.env, chosen);
  const outside: Outside = { plan, browse, keep, copy: isPlain ? (text) => text : copyToClipboard };
  const screen = { server: profile.server, user: self.username, resources: all, outside, signs };
  const show = async (from: State): Promise<Left> =>
    isPlain
      ? (await import("./plain.ts")).showPlain({ ...screen, state: from, width: io.width ?? 80, out: io.out })
      : (await import("./screen.tsx")).showUi({ ...screen, state: from });
  let state: State = {
    ...createInitialState(resource, { isReadOnly: options.readOnly === true, columns }),
    scope: options.scope,
  };
  for (;;) {
    const left = await show(state);
    if (left.isSuspended) state = suspend(left.state);
    else if (left.draft) state = { ...left.state, form: await edited(left.draft, io) };
    else if (left.edit) state = { ...left.state, notice: await edit(client, left.edit, { output, io }) };
    else return;
  }
}

/** Stops this program as Ctrl-Z does elsewhere; the rows may be old when it continues, so they are read again. */
function suspend(state: State): State {
  process.stdin.ref();
  process.kill(process.pid, "SIGTSTP");
  return { ...state, isLoading: true };
}

/** Returns the form with the text from the editor, or with the mistake in it. */
async function edited(form: Form, io: Io): Promise<Form> {
  let next = form;
  const save = async (text: string) => void (next = withDraft(form, await readYaml(text)));
  try {
    await editText({ text: formatDraft(form), fileName: "fairway.yaml" }, save, { ...io, note: () => undefined });
    return next;
  } catch (error) {
    return { ...form, problem: formatErrorMessage(error) };
  }
}

async function readYaml(text: string): Promise<unknown> {
  try {
    return (await import("yaml")).parse(text);
  } catch (error) {
    throw new CliError(error instanceof Error ? (error.message.split("\n", 1)[0] ?? "") : "no YAML", EXIT.usage);
  }
}

interface Opening {
  plan(files: PlanFiles): Promise<Resource>;
  note(text: string): void;
}

/** Returns the initial state of the screen and everything that it can open. */
async function openedWith(
  resources: readonly Resource[],
  { resource: word, files, prune = false }: UiOptions,
  { plan, note }: Opening,
) {
  if (word === "apply") {
    if (files.length === 0) throw new CliError("apply needs files", EXIT.usage, "name files or folders of documents");
    const changes = await plan({ file: files, prune }).catch((error: unknown) => {
      if (error instanceof MistakenDocuments) for (const line of error.lines) note(line);
      throw error;
    });
    return { resource: changes, all: [...resources, changes] };
  }
  const names = resources.map(({ name }) => name);
  const wanted = word ?? names[0] ?? "";
  const resource = findResource(resources, wanted);
  if (!resource) throw new CliError(`there is no resource ${wanted} for you`, EXIT.usage, `use ${names.join(", ")}`);
  if (prune) throw new CliError("--prune goes with apply", EXIT.usage, "`fairway ui apply --prune FILE`");
  if (files.length > 0) throw new CliError(`${wanted} takes no files`, EXIT.usage, "`fairway ui apply FILE` does");
  return { resource, all: resources };
}

/** Returns a message about the result. */
async function edit(
  client: Session["client"],
  { resource, key }: NonNullable<Left["edit"]>,
  { output, io }: { readonly output: Output; readonly io: Io },
): Promise<string> {
  let notice = "";
  try {
    const tools = { output: { ...output, note: (text: string) => (io.note(text), void (notice = text.trim())) }, io };
    if (resource === "channels") await editChannel(client, Number(key), tools);
    else await editOption(client, key, tools);
  } catch (error) {
    notice = formatErrorMessage(error);
  }
  return notice;
}
