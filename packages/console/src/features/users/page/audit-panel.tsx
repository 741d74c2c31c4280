import { Text } from "@chakra-ui/react";
import { useQuery } from "@tanstack/react-query";
import { Link } from "react-router";
import { useSentence } from "../../../shared/audit/words.ts";
import { Panel, PanelRow } from "../../../ui/display/panel.tsx";
import { When } from "../../../ui/display/when.tsx";
import { LoadFailed } from "../../../ui/feedback/empty.tsx";
import { useTexts } from "../texts.ts";
import { auditQuery } from "./api.ts";

/** Changes by the user through the management API, newest first. */
export function AuditPanel({ id }: { readonly id: number }) {
  const t = useTexts();
  const sentence = useSentence();
  const { data, error, refetch } = useQuery(auditQuery(id));
  if (error && !data) return <LoadFailed problem={error} onRetry={() => void refetch()} />;
  return (
    <Panel
      title={t("audit")}
      count={data?.length}
      empty={t("auditNone")}
      link={
        <Link className="link" to="/audit">
          {t("auditAll")}
        </Link>
      }
    >
      {data?.map((row) => (
        <PanelRow key={row.id}>
          <Text color="fg.muted" width="24" flex="none">
            <When at={row.created_at} />
          </Text>
          <Text flex="1" minW="6rem" overflowWrap="anywhere">
            {sentence(row) ?? row.action}
          </Text>
          <Text color="fg.muted">{row.ip}</Text>
        </PanelRow>
      ))}
    </Panel>
  );
}
