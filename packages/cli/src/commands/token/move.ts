import { tokenMove, type CallAnswer } from "@fairway/wire";
import { CliError, EXIT } from "../../core/exit.ts";
import type { Reference } from "../../core/arguments.ts";
import { number, quota } from "../../print/columns.ts";
import { printDone, type Output, type Shape } from "../../print/output.ts";
import { moneyText } from "../../print/sheet.ts";
import type { CommandContext } from "../../session/command-context.ts";
import type { TokenOwner } from "./owner.ts";

export interface TokenMoveOptions {
  readonly toTeam?: Reference;
  readonly toUser?: Reference;
}

type Moved = CallAnswer<typeof tokenMove>["data"];

const MOVED: Shape<Moved> = {
  kind: "TokenMove",
  columns: [
    number("ID", "id"),
    number("TEAM", "team_id"),
    number("ACCOUNT", "user_id"),
    quota("LEFT", "remain_quota"),
    quota("HELD", "held"),
  ],
  name: ({ id }) => `token/${id}`,
};

/** Gives a key to another owner; clients notice nothing. */
export async function moveToken(
  owner: TokenOwner,
  id: number,
  { toTeam, toUser }: TokenMoveOptions,
  { output, resolveId }: { readonly output: Output; readonly resolveId: CommandContext["resolveId"] },
): Promise<void> {
  if ((toTeam === undefined) === (toUser === undefined))
    throw new CliError("a key moves to one owner", EXIT.usage, "name --to-team or --to-user");
  const body = toTeam === undefined ? { user_id: await resolveId(toUser ?? 0) } : { team_id: await resolveId(toTeam) };
  const { data } = await owner.client.call(tokenMove, { params: { id }, body });
  const to = data.team_id === 0 ? `user ${data.user_id}` : `team ${data.team_id}`;
  if (data.held > 0) {
    const held = moneyText(data.held, await output.quotaPerUnit());
    output.note(`Running calls have reserved ${held} of its limit, which stays with the earlier owner.`);
  }
  await printDone(output, data, `Moved token ${id} to ${to}, where it is token ${data.id}.`, MOVED);
}
