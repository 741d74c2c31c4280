import type { TeamView } from "@fairway/wire";
import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { useParams } from "react-router";
import { isRowId, RowPage } from "../../shared/row/row-page.tsx";
import { useRights } from "../../shared/teams/rights.ts";
import { teamQuery } from "../../shared/teams/team-query.ts";
import { useHolders } from "../../shared/teams/use-holders.ts";
import type { Reader } from "./reader.ts";
import { Reports } from "./reports.page.tsx";
import { useTexts } from "./texts.ts";

function OfTeam({ team }: { readonly team: TeamView }) {
  const t = useTexts();
  const { report, manage, isOperator } = useRights(team);
  const holders = useHolders({ team: team.id, isManager: manage });
  const reader = useMemo(
    (): Reader => ({
      of: "team",
      team: team.id,
      inLog: isOperator ? `team:${team.slug}` : undefined,
      saved: manage ? "change" : report ? "run" : "none",
    }),
    [team.id, team.slug, isOperator, manage, report],
  );
  return <Reports title={t("teamTitle", { name: team.name })} reader={reader} holders={holders} />;
}

/** What the keys of one team used and cost; its admins save and schedule the question. */
export function TeamReportsPage() {
  const t = useTexts();
  const id = Number(useParams()["team"]);
  const query = useQuery({ ...teamQuery(id), enabled: isRowId(id) });
  const missing = {
    key: "team_not_found",
    icon: "users",
    title: t("missingTeam"),
    body: t("missingTeamBody"),
    list: { path: "/team", label: t("allTeams") },
  } as const;
  return (
    <RowPage title={t("title")} id={id} row={query.data?.row} query={query} missing={missing}>
      {(team) => <OfTeam key={team.id} team={team} />}
    </RowPage>
  );
}
