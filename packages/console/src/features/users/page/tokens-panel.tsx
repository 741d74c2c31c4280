import { resolveLastUse } from "@fairway/wire";
import { Text } from "@chakra-ui/react";
import { useQuery } from "@tanstack/react-query";
import { Link } from "react-router";
import { StateMark } from "../../../shared/tokens/state-mark.tsx";
import { Money } from "../../../ui/display/money.tsx";
import { Panel, PanelRow } from "../../../ui/display/panel.tsx";
import { When } from "../../../ui/display/when.tsx";
import { LoadFailed } from "../../../ui/feedback/empty.tsx";
import { useTexts } from "../texts.ts";
import { tokensQuery } from "./api.ts";

/** Tokens of the user, newest first; each links to its page. */
export function TokensPanel({ id }: { readonly id: number }) {
  const t = useTexts();
  const { data, error, refetch } = useQuery(tokensQuery(id));
  if (error && !data) return <LoadFailed problem={error} onRetry={() => void refetch()} />;
  const rest = (data?.total ?? 0) - (data?.rows.length ?? 0);
  return (
    <Panel title={t("tokens")} count={data?.rows.length} empty={t("tokensNone")} isShortened>
      {data?.rows.map((token) => (
        <PanelRow key={token.id}>
          <Link className="link cut" style={{ flex: 1, minWidth: "8rem" }} to={`/token/${token.id}`}>
            <bdi>{token.name || `#${token.id}`}</bdi>
          </Link>
          <StateMark token={token} />
          <Text color="fg.muted">
            {t("tokenUsed")} {resolveLastUse(token) > 0 ? <When at={resolveLastUse(token)} /> : "–"}
          </Text>
          <Text fontWeight="medium" minW="20" textAlign="end">
            <Money quota={token.used_quota} />
          </Text>
        </PanelRow>
      ))}
      {rest > 0 && (
        <PanelRow>
          <Text color="fg.muted">{t("tokensMore", { count: rest })}</Text>
        </PanelRow>
      )}
    </Panel>
  );
}
