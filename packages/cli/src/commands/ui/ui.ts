import { ROLE, selfGet } from "@fairway/wire";
import type { Io } from "../../core/command-context.ts";
import { CliError, EXIT } from "../../core/exit.ts";
import { messageOf } from "../../core/problem.ts";
import { isForPeople, type Output } from "../../print/output.ts";
import { loadWidths } from "../../print/width.ts";
import { openPage } from "../../terminal/browser.ts";
import { copyToClipboard } from "../../terminal/clipboard.ts";
import type { Session } from "../../session/session.ts";
import { channelShape, CHANNELS } from "../channel/channel.ts";
import { MistakenDocuments } from "../documents/plan.ts";
import { editChannel } from "../channel/edit.ts";
import { editOption } from "../option/option.ts";
import { resourcesOf } from "./resources.ts";
import type { Left, Outside } from "./machine.ts";
import { planResource } from "./plan.ts";
import type { Resource } from "./resource.ts";
import { findResource, startOf, type State } from "./state.ts";

export interface UiOptions {
  readonly resource: string | undefined;
  /** Documents to compare, for the resource `apply`. */
  readonly files: readonly string[];
  readonly readOnly?: boolean;
  readonly plain?: boolean;
}

/** Shows the screen, and again after each visit to the editor. */
export async function runUi({ client, profile }: Session, options: UiOptions, output: Output, io: Io): Promise<void> {
  if (!isForPeople(output))
    throw new CliError(`a screen has no -o ${output.format}`, EXIT.usage, "use the list commands in scripts");
  const isPlain = options.plain || io.env["INK_SCREEN_READER"] === "true";
  if (!isPlain && !io.isTerminal)
    throw new CliError("ui needs a terminal", EXIT.usage, "use commands such as `fairway channel list` in scripts");
  await loadWidths();
  const { data: self } = await client.call(selfGet, {});
  const isAdmin = self.role >= ROLE.admin;
  const resources = resourcesOf(client, {
    isAdmin,
    quotaPerUnit: await output.quotaPerUnit(),
    channels: isAdmin ? await channelShape(client, output) : CHANNELS,
  });
  const plan = (files: readonly string[]) => planResource(client, files, io.env);
  const { resource, all } = await openedWith(resources, options, { plan, note: output.note });
  const browse = (page: string) => {
    const url = `${profile.server.replace(/\/$/, "")}${page}`;
    openPage(url, io.env);
    return `The page is ${url}`;
  };
  const outside: Outside = { plan, browse, copy: isPlain ? (text) => text : copyToClipboard };
  const screen = { server: profile.server, user: self.username, resources: all, outside };
  const show = async (from: State): Promise<Left> =>
    isPlain
      ? (await import("./plain.ts")).showPlain({ ...screen, state: from, width: io.width ?? 80, out: io.out })
      : (await import("./screen.tsx")).showUi({ ...screen, state: from });
  let state: State = startOf(resource, options.readOnly === true);
  for (;;) {
    const left = await show(state);
    if (!left.edit) return;
    state = { ...left.state, notice: await edit(client, left.edit, { output, io }) };
  }
}

interface Opening {
  plan(files: readonly string[]): Promise<Resource>;
  note(text: string): void;
}

/** What the screen begins with, and all that it can open. */
async function openedWith(
  resources: readonly Resource[],
  { resource: word, files }: UiOptions,
  { plan, note }: Opening,
) {
  if (word === "apply") {
    if (files.length === 0) throw new CliError("apply needs files", EXIT.usage, "name files or folders of documents");
    const changes = await plan(files).catch((error: unknown) => {
      if (error instanceof MistakenDocuments) for (const line of error.lines) note(line);
      throw error;
    });
    return { resource: changes, all: [...resources, changes] };
  }
  const names = resources.map(({ name }) => name);
  const wanted = word ?? names[0] ?? "";
  const resource = findResource(resources, wanted);
  if (!resource) throw new CliError(`there is no resource ${wanted} for you`, EXIT.usage, `use ${names.join(", ")}`);
  if (files.length > 0) throw new CliError(`${wanted} takes no files`, EXIT.usage, "`fairway ui apply FILE` does");
  return { resource, all: resources };
}

/** Answers what came of it. */
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
    notice = messageOf(error);
  }
  return notice;
}
