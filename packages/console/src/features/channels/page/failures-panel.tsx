import { Text } from "@chakra-ui/react";
import { useQuery } from "@tanstack/react-query";
import { Link } from "react-router";
import { FailureText } from "../../../shared/failures/failure-text.tsx";
import { logAddress } from "../../../shared/usage/log-link.ts";
import { Panel, PanelRow } from "../../../ui/display/panel.tsx";
import { When } from "../../../ui/display/when.tsx";
import { LoadFailed } from "../../../ui/feedback/empty.tsx";
import { useTexts } from "./texts.ts";
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
        <PanelRow key={row.id}>
          <Text color="fg.muted" width="24" flex="none">
            <When at={row.created_at} />
          </Text>
          <Text fontFamily="mono" flex="1" minW="0" truncate>
            {row.model_name}
          </Text>
          <Link className="link" to={`${logAddress({ range: "30d", isErrors: true })}&request=${row.request_id}`}>
            {t("failureOpen")}
          </Link>
          <FailureText row={row} />
        </PanelRow>
      ))}
    </Panel>
  );
}
