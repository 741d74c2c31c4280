import { useQuery } from "@tanstack/react-query";
import { Link } from "react-router";
import { FailedCall } from "../../../shared/failures/failed-call.tsx";
import { logAddress } from "../../../shared/usage/log-link.ts";
import { Panel } from "../../../ui/display/panel.tsx";
import { LoadFailed } from "../../../ui/feedback/empty.tsx";
import { useTexts } from "../texts.ts";
import { failuresQuery } from "./api.ts";

/** The newest calls that failed at this channel; each leads to its row of the log. */
export function FailuresPanel({ id }: { readonly id: number }) {
  const t = useTexts();
  const { data, error, refetch } = useQuery(failuresQuery(id));
  if (error && !data) return <LoadFailed problem={error} onRetry={() => void refetch()} />;
  return (
    <Panel
      title={t("failures")}
      count={data?.items.length}
      empty={t("failuresNone")}
      link={
        <Link className="link" to={logAddress({ range: "30d", isErrors: true, channel: String(id) })}>
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
