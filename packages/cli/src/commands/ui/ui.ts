import { ROLE, selfGet } from "@fairway/wire";
import type { Io } from "../../core/command-context.ts";
import { CliError, EXIT } from "../../core/exit.ts";
import { messageOf } from "../../core/problem.ts";
import { isForPeople, type Output } from "../../print/output.ts";
import type { Session } from "../../session/session.ts";
import { channelShape, CHANNELS } from "../channel/channel.ts";
import { editChannel } from "../channel/edit.ts";
import { editOption } from "../option/option.ts";
import { resourcesOf } from "./resources.ts";
import { findResource, startOf, type State } from "./state.ts";

export interface UiOptions {
  readonly resource: string | undefined;
  readonly readOnly?: boolean;
}

/** Shows the screen, and again after each visit to the editor. */
export async function runUi({ client, profile }: Session, options: UiOptions, output: Output, io: Io): Promise<void> {
  if (!isForPeople(output))
    throw new CliError(`a screen has no -o ${output.format}`, EXIT.usage, "use the list commands in scripts");
  if (!io.isTerminal)
    throw new CliError("ui needs a terminal", EXIT.usage, "use commands such as `fairway channel list` in scripts");
  const { data: self } = await client.call(selfGet, {});
  const isAdmin = self.role >= ROLE.admin;
  const resources = resourcesOf(client, {
    isAdmin,
    quotaPerUnit: await output.quotaPerUnit(),
    channels: isAdmin ? await channelShape(client, output) : CHANNELS,
  });
  const names = resources.map(({ name }) => name);
  const wanted = options.resource ?? names[0] ?? "";
  const resource = findResource(resources, wanted);
  if (!resource) throw new CliError(`there is no resource ${wanted} for you`, EXIT.usage, `use ${names.join(", ")}`);
  const { showUi } = await import("./screen.tsx");
  let state: State = startOf(resource, options.readOnly === true);
  for (;;) {
    const left = await showUi({ server: profile.server, user: self.username, resources, state });
    if (!left.edit) return;
    const { resource: kind, key } = left.edit;
    let notice = "";
    try {
      const tools = { output: { ...output, note: (text: string) => (io.note(text), void (notice = text.trim())) }, io };
      if (kind === "channels") await editChannel(client, Number(key), tools);
      else await editOption(client, key, tools);
    } catch (error) {
      notice = messageOf(error);
    }
    state = { ...left.state, notice };
  }
}
