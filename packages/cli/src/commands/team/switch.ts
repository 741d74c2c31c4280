import { teamGet, type Client } from "@fairway/wire";
import { NO_TEAM, type Reference } from "../../core/arguments.ts";
import { CliError, EXIT } from "../../core/exit.ts";
import type { Output } from "../../print/output.ts";
import type { CommandContext } from "../../session/command-context.ts";
import { storedProfile, writeProfile } from "../../session/config.ts";

interface Place {
  readonly client: Client;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly resolveId: CommandContext["resolveId"];
}

/** Writes the team into the sign-in of the current context. */
export async function switchTeam({ client, env, resolveId }: Place, one: Reference, output: Output): Promise<void> {
  const profile = storedProfile(env);
  if (!profile)
    throw new CliError("there is no stored sign-in that could hold a team", EXIT.usage, "name the team with --team");
  if (typeof one === "object" && one.name === NO_TEAM) {
    writeProfile(env, { ...profile, team: undefined });
    return output.note("Commands are about your own keys, log and reports again.");
  }
  const { data } = await client.call(teamGet, { params: { id: await resolveId(one) } });
  writeProfile(env, { ...profile, team: data.slug });
  output.note(`Commands that take --team are about ${data.slug} (${data.name}) now.`);
}
