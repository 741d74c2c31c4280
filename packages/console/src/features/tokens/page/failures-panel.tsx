import type { TokenFacts } from "@fairway/wire";
import { useQuery } from "@tanstack/react-query";
import { Link } from "react-router";
import { FailedCall } from "../../../shared/failures/failed-call.tsx";
import { logAddress, type LogPart } from "../../../shared/usage/log-link.ts";
import { Panel } from "../../../ui/display/panel.tsx";
import { LoadFailed } from "../../../ui/feedback/empty.tsx";
import { useTexts } from "../texts.ts";
import { failuresQuery } from "./api.ts";

interface FailuresProps {
  readonly token: TokenFacts;
  readonly isOwn: boolean;
  readonly part: LogPart;
}

/** The newest failed calls with the token; each leads to its row of the log. */
export function FailuresPanel({ token, isOwn, part }: FailuresProps) {
  const t = useTexts();
  const { data, error, refetch } = useQuery(failuresQuery(token, isOwn));
  if (error && !data) return <LoadFailed problem={error} onRetry={() => void refetch()} />;
  return (
    <Panel
      title={t("failures")}
      count={data?.items.length}
      empty={t("failuresNone")}
      link={
        <Link className="link" to={logAddress({ range: "30d", isErrors: true, ...part })}>
          {t("failuresAll")}
        </Link>
      }
    >
      {data?.items.map((row) => (
        <FailedCall key={row.id} row={row} />
      ))}
    </Panel>
  );
}
