import { TEAM_STATUS, teamCreate, teamDelete, teamGet, teamRestore, teamUpdate, type Client } from "@fairway/wire";
import type { Reference } from "../../core/arguments.ts";
import { CliError, EXIT } from "../../core/exit.ts";
import { printDone, type Output } from "../../print/output.ts";
import { moneyText } from "../../print/sheet.ts";
import type { CommandContext } from "../../session/command-context.ts";
import type { SessionClient } from "../../session/session.ts";
import { readLabels, readSettings, type TeamTerms } from "./settings.ts";
import { TEAMS } from "./team.ts";

interface Resolver {
  readonly client: Client;
  readonly resolveId: CommandContext["resolveId"];
}

export interface TeamCreateOptions extends TeamTerms {
  readonly name: string;
  readonly slug?: string;
  readonly owner?: Reference;
}

export async function createTeam(
  { client, resolveId }: Resolver,
  options: TeamCreateOptions,
  output: Output,
): Promise<void> {
  const { name, slug, owner } = options;
  const body = {
    name,
    ...(slug !== undefined && { slug }),
    ...(owner !== undefined && { owner_id: await resolveId(owner) }),
    ...readTerms(options, {}),
  };
  const { data } = await client.call(teamCreate, { body });
  await printDone(output, data, `Created team ${data.id}, ${data.slug}.`, TEAMS);
}

export interface TeamUpdateOptions extends TeamTerms {
  readonly name?: string;
  readonly group?: string;
  readonly enable?: boolean;
  readonly disable?: boolean;
}

export async function updateTeam(
  client: SessionClient,
  id: number,
  options: TeamUpdateOptions,
  output: Output,
): Promise<void> {
  if (Object.keys(options).length === 0)
    throw new CliError("nothing to change", EXIT.usage, "name a flag of `fairway team update --help`");
  const { data: team, tag } = await client.read(teamGet, { params: { id } });
  const { name, group, enable, disable } = options;
  const body = {
    ...(name !== undefined && { name }),
    ...(group !== undefined && { group }),
    ...(enable && { status: TEAM_STATUS.on }),
    ...(disable && { status: TEAM_STATUS.off }),
    ...readTerms(options, team.settings),
  };
  const { data } = await client.call(teamUpdate, { params: { id }, body, headers: { "If-Match": tag } });
  await printDone(output, data, `Changed team ${id}, ${data.slug}.`, TEAMS);
}

function readTerms(options: TeamTerms, before: Parameters<typeof readSettings>[1]) {
  const { description, label } = options;
  const settings = readSettings(options, before);
  return {
    ...(description !== undefined && { description }),
    ...(label && { labels: readLabels(label) }),
    ...(Object.keys(settings).length > 0 && { settings }),
  };
}

export async function deleteTeam(
  client: Client,
  id: number,
  { yes }: { readonly yes?: boolean },
  output: Output,
): Promise<void> {
  const { data: team } = await client.call(teamGet, { params: { id } });
  await output.confirm(`Delete the team ${team.slug} (${team.name}); its ${team.keys} keys stop at once`, 1, yes);
  const { data } = await client.call(teamDelete, { params: { id }, query: { confirm: team.slug } });
  const left = moneyText(data.quota, await output.quotaPerUnit());
  const sentence = `Deleted team ${id}, ${team.slug}; ${left} stays on its wallet.`;
  await printDone(output, { id, slug: team.slug, quota: data.quota }, sentence);
}

export async function restoreTeam(client: Client, id: number, output: Output): Promise<void> {
  const { data } = await client.call(teamRestore, { params: { id } });
  await printDone(output, data, `Team ${id}, ${data.slug}, is back with its members and keys.`, TEAMS);
}
