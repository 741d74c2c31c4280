import { flag, option } from "./option-definition.ts";
import { choiceType, integerType } from "./option-kinds.ts";

const MAX_RESTORE_DAYS = 365;

/** Options for teams with a shared wallet. */
export const TEAM_OPTIONS = {
  TeamsEnabled: option(flag, "true", ["login", "People may work in teams; existing teams continue if this is off."], {
    shownAs: "teams_enabled",
  }),
  TeamCreation: option(
    choiceType(["admin", "user"], "admin or user"),
    "admin",
    ["login", "Who creates teams: administrators, or every user."],
    { shownAs: "team_creation" },
  ),
  TeamRestoreDays: option(integerType(0, MAX_RESTORE_DAYS), "30", [
    "login",
    "Days within which an administrator can restore a deleted team.",
  ]),
} as const;
