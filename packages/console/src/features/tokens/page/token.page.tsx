import { Button, SimpleGrid, Stack, Text } from "@chakra-ui/react";
import { TOKEN_STATUS, type TokenFacts } from "@fairway/wire";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link, useNavigate, useParams } from "react-router";
import type { Version } from "../../../lib/rows.ts";
import { getRole, useUser } from "../../../session/session.ts";
import { isRowId, RowPage } from "../../../shared/row/row-page.tsx";
import { isOwnersToSwitch } from "../../../shared/tokens/state.ts";
import { shownTokenQuery } from "../../../shared/tokens/shown-token.ts";
import { logAddress, type LogPart } from "../../../shared/usage/log-link.ts";
import { RangeChoice } from "../../../shared/usage/range-choice.tsx";
import { UsageBlock } from "../../../shared/usage/usage-block.tsx";
import { SpendTrend } from "../../../shared/usage/usage-trends.tsx";
import { useUsage } from "../../../shared/usage/use-usage.ts";
import { HistoryButton } from "../../../ui/menu/history-button.tsx";
import { Page } from "../../../ui/display/page.tsx";
import { toastProblem, toastUndo } from "../../../ui/feedback/toaster.ts";
import { RotateDialog } from "../rotate-dialog.tsx";
import { useTexts } from "../texts.ts";
import { switchToken } from "./api.ts";
import { ActivityPanels } from "./activity-panels.tsx";
import { BudgetsPanel } from "./budgets-panel.tsx";
import { FactsPanel } from "./facts-panel.tsx";
import { FailuresPanel } from "./failures-panel.tsx";
import { ReplaceDialog } from "./replace-dialog.tsx";

/** Enables or disables the token in place. */
function Switch({ version, isOwn }: { readonly version: Version<TokenFacts>; readonly isOwn: boolean }) {
  const t = useTexts();
  const [isRunning, setRunning] = useState(false);
  const { name, status } = version.row;
  const isOn = status === TOKEN_STATUS.enabled;
  const run = (from: Version<TokenFacts>, isWanted: boolean, isUndo = false) => {
    setRunning(true);
    switchToken(from, isWanted, isOwn)
      .then(() => {
        const undo = { row: from.row, tag: undefined };
        const said = t(isWanted ? "isEnabled" : "isDisabled", { name });
        if (!isUndo) toastUndo(said, () => run(undo, !isWanted, true));
      }, toastProblem)
      .finally(() => setRunning(false));
  };
  return (
    <Button variant="outline" loading={isRunning} onClick={() => run(version, !isOn)}>
      {t(isOn ? "disable" : "enable")}
    </Button>
  );
}

function Owner({ token }: { readonly token: TokenFacts }) {
  return (
    <Link className="link" to={`/user/${token.user_id}`}>
      <bdi>{token.username}</bdi>
    </Link>
  );
}

function Shown({ version }: { readonly version: Version<TokenFacts> }) {
  const t = useTexts();
  const navigate = useNavigate();
  const [isRotating, setRotating] = useState(false);
  const user = useUser();
  const { row: token } = version;
  const isOwn = token.user_id === user?.id;
  const usage = useUsage({ by: "token", subject: String(token.id), isOwn, userId: token.user_id }, "7d");
  const part: LogPart = { tokenId: String(token.id) };
  const owner = isOwn ? undefined : <Owner token={token} />;
  return (
    <Page
      title={token.name || `#${token.id}`}
      aside={
        owner && (
          <Text color="fg.muted">
            {t("ofUser")} {owner}
          </Text>
        )
      }
      actions={
        <>
          <RangeChoice range={usage.range} choose={usage.choose} />
          <HistoryButton target={`token ${token.id}`} />
          <Button asChild variant="outline">
            <Link to={logAddress({ range: usage.range, ...part })}>{t("openLog")}</Link>
          </Button>
          {(!isOwn || isOwnersToSwitch(token, getRole(user))) && <Switch version={version} isOwn={isOwn} />}
          <Button variant="outline" onClick={() => setRotating(true)}>
            {t("rotateMenu")}
          </Button>
          {isOwn && (
            <Button asChild>
              <Link to={`/token/edit/${token.id}`}>{t("editRow")}</Link>
            </Button>
          )}
        </>
      }
    >
      {isRotating && isOwn && <RotateDialog token={token} onClose={() => setRotating(false)} />}
      {isRotating && !isOwn && <ReplaceDialog version={version} onClose={() => setRotating(false)} />}
      <UsageBlock usage={usage} part={part} />
      <SimpleGrid columns={{ base: 1, lg: 2 }} gap="3" alignItems="start">
        <Stack gap="3" minW="0">
          <FactsPanel token={token} owner={owner} />
          <FailuresPanel token={token} isOwn={isOwn} part={part} />
        </Stack>
        <Stack gap="3" minW="0">
          {usage.data && (
            <SpendTrend
              usage={usage.data}
              onOpen={(span) => void navigate(logAddress({ span, isErrors: false, ...part }))}
            />
          )}
          <ActivityPanels token={token} range={usage.range} />
          <BudgetsPanel token={token} isOwn={isOwn} />
        </Stack>
      </SimpleGrid>
    </Page>
  );
}

/** Shows one token: its spending, last use, limits and budgets; administrators also see their users' tokens. */
export function TokenPage() {
  const t = useTexts();
  const id = Number(useParams()["id"]);
  const query = useQuery({ ...shownTokenQuery(id), enabled: isRowId(id) });
  const missing = {
    key: "token_not_found",
    icon: "key",
    title: t("missingTitle"),
    body: t("missingBody"),
    list: { path: "/token", label: t("allTokens") },
  } as const;
  return (
    <RowPage title={t("title")} id={id} row={query.data} query={query} missing={missing}>
      {(version) => <Shown version={version} />}
    </RowPage>
  );
}
