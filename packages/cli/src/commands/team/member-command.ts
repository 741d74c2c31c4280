import { TEAM_ROLES, type TeamRole } from "@fairway/wire";
import { Argument, Option, type Command } from "commander";
import { examples, id, positive, yes, type Reference } from "../../core/arguments.ts";
import type { CommandContext } from "../../session/command-context.ts";
import type { InviteOptions } from "./invitations.ts";

const load = () => import("./members.ts");
const loadInvitations = () => import("./invitations.ts");
const TEAM = "short name or id, as `fairway team list` shows it";
const PERSON = "id or name of a member, as `fairway team members` shows it";

export function memberCommands(team: Command, context: CommandContext): void {
  people(team, context);
  inviting(team, context);
  joining(team, context);
}

function people(team: Command, { client, output, resolveId }: CommandContext): void {
  const members = team
    .command("members")
    .argument("<team>", TEAM, id("team"))
    .description("who is in a team, the longest-serving first")
    .action(async (one: Reference) => (await load()).listMembers(await client(), await resolveId(one), output()));
  examples(members, "fairway team members research");
  const role = () => new Argument("<role>").choices(TEAM_ROLES);
  const add = team
    .command("add")
    .argument("<team>", TEAM, id("team"))
    .argument("<user>", "name of an account")
    .addArgument(role())
    .description("make a person a member without an invitation (administrators)")
    .action(async (one: Reference, user: string, chosen: TeamRole) =>
      (await load()).addMember(await client(), await resolveId(one), { user, role: chosen }, output()),
    );
  examples(add, "fairway team add research ann member");
  const change = team
    .command("role")
    .argument("<team>", TEAM, id("team"))
    .argument("<user>", PERSON)
    .addArgument(role())
    .description("change the role of a member; only owners make and end owners")
    .action(async (one: Reference, user: string, chosen: TeamRole) =>
      (await load()).changeRole(await client(), await resolveId(one), { user, role: chosen }, output()),
    );
  examples(change, "fairway team role research ann admin");
  const remove = team
    .command("remove")
    .argument("<team>", TEAM, id("team"))
    .argument("<user>", PERSON)
    .description("remove a member; the keys of the member are disabled, or replaced and left to the team")
    .addOption(yes())
    .action(async (one: Reference, user: string, options: { yes?: boolean }) =>
      (await load()).removeMember(await client(), await resolveId(one), { user, ...options }, output()),
    );
  examples(remove, "fairway team remove research ann");
}

function inviting(team: Command, { client, output, session, resolveId }: CommandContext): void {
  const invite = team
    .command("invite")
    .argument("<team>", TEAM, id("team"))
    .description("make an invitation and print its link, once")
    .addOption(new Option("--role <role>").choices(["admin", "member", "viewer"]).default("member"))
    .option("--email <address>", "only the person with this address may use it; without it anyone with the link")
    .option("--expires <span>", "30d at most", "7d")
    .option("--uses <count>", "how many people may use it, 1000 at most", positive)
    .action(async (one: Reference, options: InviteOptions) =>
      (await loadInvitations()).invite(await session(), await resolveId(one), options, output()),
    );
  examples(invite, "fairway team invite research --email ann@example.com", "fairway team invite research --uses 20");
  const list = team
    .command("invitations")
    .argument("<team>", TEAM, id("team"))
    .description("invitations that can still be used, newest first")
    .action(async (one: Reference) =>
      (await loadInvitations()).listInvitations(await client(), await resolveId(one), output()),
    );
  examples(list, "fairway team invitations research");
  const revoke = team
    .command("revoke")
    .argument("<team>", TEAM, id("team"))
    .argument("<invitation>", "id, as `fairway team invitations` shows it", positive)
    .description("end an invitation")
    .action(async (one: Reference, invitation: number) =>
      (await loadInvitations()).revoke(await client(), await resolveId(one), invitation, output()),
    );
  examples(revoke, "fairway team revoke research 7");
}

function joining(team: Command, { client, output, io, session, resolveId }: CommandContext): void {
  const join = team
    .command("join")
    .argument("<link>", "the link of an invitation, or its code")
    .description("open the page on which you accept an invitation")
    .action(async (link: string) => {
      const { profile } = await session();
      return (await loadInvitations()).join(profile.server, link, { output: output(), io });
    });
  examples(join, "fairway team join 'https://ai.example.com/team/join?code=…'");
  const leave = team
    .command("leave")
    .argument("<team>", TEAM, id("team"))
    .description("end your own membership")
    .addOption(yes())
    .action(async (one: Reference, options: { yes?: boolean }) =>
      (await load()).leave(await client(), await resolveId(one), options, output()),
    );
  examples(leave, "fairway team leave research");
}
