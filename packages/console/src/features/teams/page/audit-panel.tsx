import { Text } from "@chakra-ui/react";
import { useQuery } from "@tanstack/react-query";
import { useSentence } from "../../../shared/audit/words.ts";
import { Panel, PanelRow } from "../../../ui/display/panel.tsx";
import { When } from "../../../ui/display/when.tsx";
import { LoadFailed } from "../../../ui/feedback/empty.tsx";
import { auditQuery } from "../api.ts";
import { useTexts } from "../texts.ts";

/** Who changed the team, its members and its keys, the latest first. */
export function AuditPanel({ id }: { readonly id: number }) {
  const t = useTexts();
  const sentence = useSentence();
  const { data, error, refetch } = useQuery(auditQuery(id));
  if (error && !data) return <LoadFailed problem={error} onRetry={() => void refetch()} />;
  return (
    <Panel title={t("audit")} count={data?.length} empty={t("noAudit")}>
      {data?.map((row) => (
        <PanelRow key={row.id}>
          <Text color="fg.muted" width="24" flex="none">
            <When at={row.created_at} />
          </Text>
          <Text flex="1" minW="8rem" overflowWrap="anywhere">
            <bdi>{row.username}</bdi> {sentence(row) ?? row.action}
          </Text>
        </PanelRow>
      ))}
    </Panel>
  );
}
