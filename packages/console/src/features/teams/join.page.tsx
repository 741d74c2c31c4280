import { teamJoin } from "@fairway/wire";
import { Button } from "@chakra-ui/react";
import { useState } from "react";
import { Link, useSearchParams } from "react-router";
import { call } from "../../lib/http.ts";
import { ApiProblem } from "../../lib/problems.ts";
import { Page } from "../../ui/display/page.tsx";
import { EmptyTeach } from "../../ui/feedback/empty.tsx";
import { problemText, toastProblem } from "../../ui/feedback/toaster.ts";
import { refreshTeams } from "./api.ts";
import { useTexts } from "./texts.ts";

interface Joined {
  readonly id: number;
  readonly name: string;
}

/** The page of an invitation's link. */
export function JoinPage() {
  const t = useTexts();
  const [search] = useSearchParams();
  const code = search.get("code") ?? "";
  const [team, setTeam] = useState<Joined>();
  const [refusal, setRefusal] = useState<ApiProblem>();
  return (
    <Page title={t("joinTitle")}>
      {code === "" ? (
        <EmptyTeach icon="users" title={t("noCode")} body={t("noCodeBody")} />
      ) : team ? (
        <EmptyTeach icon="users" title={t("joined", { name: team.name })} body={t("joinedBody")}>
          <Button asChild>
            <Link to={`/team/${team.id}`}>{t("openTeam")}</Link>
          </Button>
        </EmptyTeach>
      ) : refusal ? (
        <EmptyTeach icon="warning" title={t("notJoined")} body={problemText(refusal)}>
          <Button asChild variant="outline">
            <Link to="/team">{t("allTeams")}</Link>
          </Button>
        </EmptyTeach>
      ) : (
        <Invited code={code} onJoined={setTeam} onRefused={setRefusal} />
      )}
    </Page>
  );
}

interface InvitedProps {
  readonly code: string;
  onJoined(team: Joined): void;
  onRefused(problem: ApiProblem): void;
}

/** A link that a preview of a chat opens must use up nothing, so joining takes a press. */
function Invited({ code, onJoined, onRefused }: InvitedProps) {
  const t = useTexts();
  const [isJoining, setJoining] = useState(false);
  function join(): void {
    setJoining(true);
    call(teamJoin, { body: { code } })
      .then(onJoined, (problem: unknown) => {
        if (problem instanceof ApiProblem) onRefused(problem);
        else toastProblem(problem);
      })
      .finally(() => {
        setJoining(false);
        void refreshTeams();
      });
  }
  return (
    <EmptyTeach icon="users" title={t("invited")} body={t("invitedBody")}>
      <Button loading={isJoining} onClick={join}>
        {t("join")}
      </Button>
    </EmptyTeach>
  );
}
