import { Button, SimpleGrid, Text } from "@chakra-ui/react";
import { tokenGet, type Token } from "@fairway/wire";
import { queryOptions, useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Link, useNavigate, useParams } from "react-router";
import { call } from "../../../lib/http.ts";
import { queryKeys } from "../../../lib/query-keys.ts";
import { RowPage } from "../../../shared/row/row-page.tsx";
import { logAddress } from "../../../shared/usage/log-link.ts";
import { RangeChoice } from "../../../shared/usage/range-choice.tsx";
import { UsageBlock } from "../../../shared/usage/usage-block.tsx";
import { SpendTrend } from "../../../shared/usage/usage-trends.tsx";
import { useUsage } from "../../../shared/usage/use-usage.ts";
import { Money } from "../../../ui/display/money.tsx";
import { Page } from "../../../ui/display/page.tsx";
import { Panel, PanelRow } from "../../../ui/display/panel.tsx";
import { useLimitsLine } from "../../../ui/form/limits-line.ts";
import { When } from "../../../ui/display/when.tsx";
import { useTexts } from "../texts.ts";

function shownTokenQuery(id: number) {
  return queryOptions({
    queryKey: queryKeys.tokens.shown(id),
    queryFn: ({ signal }) => call(tokenGet, { params: { id }, signal }),
  });
}

function Fact(props: { readonly name: string; readonly children: ReactNode }) {
  return (
    <PanelRow>
      <Text color="fg.muted" width="32" flex="none">
        {props.name}
      </Text>
      <Text as="div" flex="1" minW="0" overflowWrap="anywhere">
        {props.children}
      </Text>
    </PanelRow>
  );
}

/** The permissions of the token, and its last use. */
function Facts({ token }: { readonly token: Token }) {
  const t = useTexts();
  const limits = useLimitsLine()(token.limits);
  return (
    <Panel title={t("facts")} count={1} empty="">
      <Fact name={t("lastUse")}>{token.accessed_time > 0 ? <When at={token.accessed_time} /> : t("never")}</Fact>
      <Fact name={t("usedSoFar")}>
        <Money quota={token.used_quota} />
      </Fact>
      <Fact name={t("remaining")}>{token.unlimited_quota ? t("noLimit") : <Money quota={token.remain_quota} />}</Fact>
      <Fact name={t("expiry")}>{token.expired_time < 0 ? t("never") : <When at={token.expired_time} />}</Fact>
      {token.group !== "" && <Fact name={t("groupFact")}>{token.group}</Fact>}
      <Fact name={t("modelsFact")}>
        {token.model_limits_enabled ? token.model_limits.replaceAll(",", ", ") : t("noLimit")}
      </Fact>
      {token.allow_ips !== "" && <Fact name={t("addresses")}>{token.allow_ips.replaceAll("\n", ", ")}</Fact>}
      {limits !== undefined && <Fact name={t("requests")}>{limits}</Fact>}
    </Panel>
  );
}

function Shown({ token }: { readonly token: Token }) {
  const t = useTexts();
  const navigate = useNavigate();
  const usage = useUsage({ by: "token", subject: String(token.id), isOwn: true }, "7d");
  return (
    <Page
      title={token.name}
      actions={
        <>
          <RangeChoice range={usage.range} choose={usage.choose} />
          <Button asChild>
            <Link to={`/token/edit/${token.id}`}>{t("editRow")}</Link>
          </Button>
        </>
      }
    >
      <UsageBlock usage={usage} part={{ token: token.name }} />
      <SimpleGrid columns={{ base: 1, lg: 2 }} gap="3" alignItems="start">
        <Facts token={token} />
        {usage.data && (
          <SpendTrend
            usage={usage.data}
            onOpen={(span) => void navigate(logAddress({ span, isErrors: false, token: token.name }))}
          />
        )}
      </SimpleGrid>
    </Page>
  );
}

/** One token of the reader: what it spent, when it was last used, and its limits. */
export function TokenPage() {
  const t = useTexts();
  const id = Number(useParams()["id"]);
  const query = useQuery(shownTokenQuery(id));
  const missing = {
    key: "token_not_found",
    icon: "key",
    title: t("missingTitle"),
    body: t("missingBody"),
    list: { path: "/token", label: t("allTokens") },
  } as const;
  return (
    <RowPage title={t("title")} id={id} row={query.data} query={query} missing={missing}>
      {(token) => <Shown token={token} />}
    </RowPage>
  );
}
