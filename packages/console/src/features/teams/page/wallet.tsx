import { Button, Flex, Stack, Text } from "@chakra-ui/react";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Money } from "../../../ui/display/money.tsx";
import { Panel, PanelRow } from "../../../ui/display/panel.tsx";
import { When } from "../../../ui/display/when.tsx";
import { LoadFailed } from "../../../ui/feedback/empty.tsx";
import { FigureCard } from "../../../shared/usage/figure-card.tsx";
import { moneyQuery } from "../api.ts";
import { useTexts } from "../texts.ts";
import { AdjustDialog, TransferDialog } from "./money-dialogs.tsx";
import type { PartProps } from "./part.ts";

/** What was moved to the wallet and from it. Calls are in the usage. */
function Movements({ team }: Pick<PartProps, "team">) {
  const t = useTexts();
  const { data, error, refetch } = useQuery(moneyQuery(team.id));
  if (error && !data) return <LoadFailed problem={error} onRetry={() => void refetch()} />;
  return (
    <Panel title={t("movements")} count={data?.length} empty={t("noMovements")}>
      {data?.map((row) => (
        <PanelRow key={`${row.request_id} ${row.content}`}>
          <Text color="fg.muted" width="24" flex="none">
            <When at={row.created_at} />
          </Text>
          <Text flex="1" minW="8rem" overflowWrap="anywhere">
            <bdi>{row.content}</bdi>
          </Text>
        </PanelRow>
      ))}
    </Panel>
  );
}

/** The balance of a team, and the ways to change it. */
export function Wallet({ team, rights }: PartProps) {
  const t = useTexts();
  const [dialog, setDialog] = useState<"transfer" | "adjust">();
  const close = () => setDialog(undefined);
  const hasWay = rights.transfer || rights.isOperator;
  return (
    <Stack gap="4">
      <Flex gap="3" wrap="wrap" align="stretch">
        <FigureCard label={t("balance")} hasTrend={false}>
          <Money quota={team.quota} />
        </FigureCard>
        <FigureCard label={t("spentEver")} hasTrend={false}>
          <Money quota={team.used_quota} />
        </FigureCard>
      </Flex>
      <Text color="fg.muted">{t(hasWay ? "walletHelp" : "walletAsk")}</Text>
      {hasWay && (
        <Flex gap="2" wrap="wrap">
          {rights.transfer && <Button onClick={() => setDialog("transfer")}>{t("transfer")}</Button>}
          {rights.isOperator && (
            <Button variant="outline" onClick={() => setDialog("adjust")}>
              {t("adjust")}
            </Button>
          )}
        </Flex>
      )}
      {rights.report && <Movements team={team} />}
      {dialog === "transfer" && <TransferDialog team={team} onClose={close} />}
      {dialog === "adjust" && <AdjustDialog team={team} onClose={close} />}
    </Stack>
  );
}
