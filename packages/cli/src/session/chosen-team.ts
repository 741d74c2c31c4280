import { NO_TEAM, type Reference } from "../core/arguments.ts";
import { readProfile } from "./config.ts";

/** Returns the team of the flag, or that of `fairway team switch`; undefined = the user's own keys and rows. */
export function chooseTeam(
  flag: Reference | undefined,
  env: Readonly<Record<string, string | undefined>>,
  note: (text: string) => void,
): Reference | undefined {
  if (flag !== undefined) return typeof flag === "object" && flag.name === NO_TEAM ? undefined : flag;
  const name = readProfile(env)?.team;
  if (name === undefined) return undefined;
  note(`Of the team ${name}; --team ${NO_TEAM} for your own.`);
  return { noun: "team", name };
}
