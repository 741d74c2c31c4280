import { Button, Text } from "@chakra-ui/react";
import { useQuery } from "@tanstack/react-query";
import { Panel, PanelRow } from "../../../ui/display/panel.tsx";
import { When } from "../../../ui/display/when.tsx";
import { LoadFailed } from "../../../ui/feedback/empty.tsx";
import { toast, toastProblem } from "../../../ui/feedback/toaster.ts";
import { useTexts } from "../texts.ts";
import { roleText } from "../words.ts";
import { invitationsQuery, revokeInvitation } from "./members-api.ts";
import type { PartProps } from "./part.ts";

/** Invitations that can still be used; their links are not shown again. */
export function Invitations({ team }: Pick<PartProps, "team">) {
  const t = useTexts();
  const { data, error, refetch } = useQuery(invitationsQuery(team.id));
  if (error && !data) return <LoadFailed problem={error} onRetry={() => void refetch()} />;
  const revoke = (id: number) =>
    void revokeInvitation(team.id, id).then(() => toast("success", t("revoked")), toastProblem);
  return (
    <Panel title={t("pending")} count={data?.length} empty={t("noPending")}>
      {data?.map((one) => (
        <PanelRow key={one.id}>
          <Text flex="1" minW="10rem" overflowWrap="anywhere">
            <bdi>{one.email === "" ? t("anyone") : one.email}</bdi>{" "}
            <span className="soft">{roleText(t, one.role)}</span>
          </Text>
          <Text color="fg.muted">{t("usesOf", { uses: one.uses, most: one.max_uses })}</Text>
          <Text color="fg.muted">
            {t("until")} <When at={one.expires_at} />
          </Text>
          <Button size="xs" variant="outline" onClick={() => revoke(one.id)}>
            {t("revoke")}
          </Button>
        </PanelRow>
      ))}
    </Panel>
  );
}
