import {
  teamGet,
  teamLeave,
  teamMemberAdd,
  teamMemberDelete,
  teamMemberList,
  teamMemberUpdate,
  nearest,
  USER_STATUS,
  type Client,
  type TeamMember,
  type TeamRole,
} from "@fairway/wire";
import { CliError, EXIT } from "../../core/exit.ts";
import { number, plain, time } from "../../print/columns.ts";
import { printDone, printList, type Output, type Shape } from "../../print/output.ts";

const MEMBERS: Shape<TeamMember> = {
  kind: "TeamMember",
  columns: [
    number("USER ID", "user_id"),
    plain("USER", "username"),
    plain("ROLE", "role"),
    { title: "STATUS", value: ({ status }) => (status === USER_STATUS.enabled ? "enabled" : "disabled") },
    plain("SOURCE", "source"),
    time("SINCE", "created_at"),
  ],
  wide: [plain("DISPLAY NAME", "display_name")],
  name: ({ user_id: id }) => `user/${id}`,
};

export async function listMembers(client: Client, id: number, output: Output): Promise<void> {
  const { data: rows } = await client.call(teamMemberList, { params: { id } });
  await printList(output, { ...MEMBERS, rows, empty: "No members." });
}

interface Change {
  readonly user: string;
  readonly role: TeamRole;
}

export async function addMember(client: Client, id: number, { user, role }: Change, output: Output): Promise<void> {
  const username = user.replace(/^user\//, "");
  const person = /^\d+$/.test(username) ? { user_id: Number(username) } : { username };
  await client.call(teamMemberAdd, { params: { id }, body: { ...person, role } });
  await printDone(output, { team: id, user: username, role }, `${username} is ${role} of team ${id} now.`);
}

export async function changeRole(client: Client, id: number, { user, role }: Change, output: Output): Promise<void> {
  const { user_id: uid, username } = await findMember(client, id, user);
  await client.call(teamMemberUpdate, { params: { id, uid }, body: { role } });
  await printDone(output, { team: id, user: username, role }, `${username} is ${role} of team ${id} now.`);
}

export async function removeMember(
  client: Client,
  id: number,
  { user, yes }: { readonly user: string; readonly yes?: boolean },
  output: Output,
): Promise<void> {
  const { user_id: uid, username } = await findMember(client, id, user);
  const { data: team } = await client.call(teamGet, { params: { id } });
  await output.confirm(`Remove ${username} from ${team.slug}; ${describeKeys(team.settings.on_leave)}`, 1, yes);
  await client.call(teamMemberDelete, { params: { id, uid } });
  await printDone(output, { team: id, user: username }, `${username} is no member of ${team.slug} any longer.`);
}

function describeKeys(onLeave: "disable" | "transfer"): string {
  return onLeave === "disable"
    ? "keys that the member made are disabled"
    : "keys that the member made stay with the team and are replaced at once";
}

export async function leave(
  client: Client,
  id: number,
  { yes }: { readonly yes?: boolean },
  output: Output,
): Promise<void> {
  const { data: team } = await client.call(teamGet, { params: { id } });
  await output.confirm(`Leave the team ${team.slug}`, 1, yes);
  await client.call(teamLeave, { params: { id } });
  await printDone(output, { team: id }, `You are no member of ${team.slug} any longer.`);
}

async function findMember(client: Client, id: number, text: string): Promise<TeamMember> {
  const name = text.replace(/^user\//, "");
  const { data: rows } = await client.call(teamMemberList, { params: { id } });
  const found = rows.find((row) => row.username === name) ?? rows.find((row) => String(row.user_id) === name);
  if (found) return found;
  const near = nearest(
    name,
    rows.map((row) => row.username),
  );
  const hint = near === undefined ? "`fairway team members` lists them" : `did you mean ${near}?`;
  throw new CliError(`the team has no member ${name}`, EXIT.notFound, hint);
}
