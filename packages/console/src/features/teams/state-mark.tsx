import { TEAM_STATUS, type TeamSummary } from "@fairway/wire";
import { Mark } from "../../ui/display/mark.tsx";
import { useTexts } from "./texts.ts";

/** Shows whether keys of the team work. */
export function TeamMark({ team }: { readonly team: Pick<TeamSummary, "status"> }) {
  const t = useTexts();
  const isOn = team.status === TEAM_STATUS.on;
  return <Mark kind={isOn ? "go" : "parked"} label={t(isOn ? "on" : "off")} />;
}
