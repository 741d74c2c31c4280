import { Text } from "@chakra-ui/react";
import type { TokenFacts } from "@fairway/wire";
import { useQuery } from "@tanstack/react-query";
import { Link } from "react-router";
import { FailureText } from "../../../shared/failures/failure-text.tsx";
import { logAddress, type LogPart } from "../../../shared/usage/log-link.ts";
import { Panel, PanelRow } from "../../../ui/display/panel.tsx";
import { When } from "../../../ui/display/when.tsx";
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
  const failed = { range: "30d", isErrors: true } as const;
  return (
    <Panel
      title={t("failures")}
      count={data?.items.length}
      empty={t("failuresNone")}
      link={
        <Link className="link" to={logAddress({ ...failed, ...part })}>
          {t("failuresAll")}
        </Link>
      }
    >
      {data?.items.map((row) => (
        <PanelRow key={row.id}>
          <Text color="fg.muted" width="24" flex="none">
            <When at={row.created_at} />
          </Text>
          <Text fontFamily="mono" flex="1" minW="0" truncate>
            {row.model_name}
          </Text>
          {row.request_id !== "" && (
            <Link className="link" to={`${logAddress(failed)}&request=${row.request_id}`}>
              {t("failureOpen")}
            </Link>
          )}
          <FailureText row={row} />
        </PanelRow>
      ))}
    </Panel>
  );
}
