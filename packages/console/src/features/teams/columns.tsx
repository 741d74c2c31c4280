import type { TeamSummary } from "@fairway/wire";
import { Link } from "react-router";
import { formatCount } from "../../lib/format.ts";
import { currentLanguage } from "../../lib/i18n.ts";
import { Money } from "../../ui/display/money.tsx";
import { When } from "../../ui/display/when.tsx";
import type { Column } from "../../ui/grid/grid-props.ts";
import { printLabels } from "./labels.ts";
import { TeamMark } from "./state-mark.tsx";
import type { useTexts } from "./texts.ts";
import { roleText } from "./words.ts";

export function teamColumns(t: ReturnType<typeof useTexts>): Column<TeamSummary>[] {
  const count = (value: number) => formatCount(value, currentLanguage());
  return [
    {
      id: "name",
      header: t("name"),
      width: 200,
      isElastic: true,
      isTitle: true,
      cell: (team) => (
        <span className="cut">
          <Link className="link" to={`/team/${team.id}`}>
            <bdi>{team.name}</bdi>
          </Link>{" "}
          <span className="soft mono">{team.slug}</span>
        </span>
      ),
    },
    {
      id: "role",
      header: t("ownRole"),
      width: 90,
      rank: 2,
      cell: ({ role }) => (role === "" ? <span className="soft">–</span> : roleText(t, role)),
    },
    { id: "state", header: t("state"), width: 90, rank: 3, cell: (team) => <TeamMark team={team} /> },
    {
      id: "balance",
      header: t("balance"),
      width: 90,
      rank: 0,
      align: "end",
      cell: ({ quota }) => <Money quota={quota} />,
    },
    {
      id: "used",
      header: t("spent"),
      width: 90,
      rank: 1,
      align: "end",
      cell: ({ used_quota: used }) => <Money quota={used} />,
    },
    { id: "members", header: t("members"), width: 80, rank: 4, align: "end", cell: (team) => count(team.members) },
    { id: "keys", header: t("keys"), width: 70, rank: 5, align: "end", cell: (team) => count(team.keys) },
    {
      id: "labels",
      header: t("labels"),
      width: 150,
      rank: 6,
      isMinor: true,
      cell: (team) => <span className="cut">{printLabels(team.labels) || <span className="soft">–</span>}</span>,
    },
    {
      id: "created",
      header: t("created"),
      width: 110,
      rank: 7,
      isMinor: true,
      cell: (team) => <When at={team.created_at} />,
    },
  ];
}
