import type { Token } from "@fairway/wire";
import { Button, Flex, Text } from "@chakra-ui/react";
import { useQuery } from "@tanstack/react-query";
import { useCallback, useState } from "react";
import { Link } from "react-router";
import { Connect } from "../../shared/connect/connect.tsx";
import { FirstCall } from "../../shared/connect/first-call.tsx";
import { isAdmin, useUser } from "../../session/session.ts";
import { Page } from "../../ui/display/page.tsx";
import { LoadFailed, Loading } from "../../ui/feedback/empty.tsx";
import { AccountStep } from "./account-step.tsx";
import { channelsQuery, modelCount, tokensQuery } from "./api.ts";
import { ProviderStep } from "./provider-step.tsx";
import { Step } from "./step.tsx";
import { useTexts } from "./texts.ts";
import { TokenStep } from "./token-step.tsx";

/** Leads from an empty gateway to the first request in the log. */
export function SetupPage() {
  const t = useTexts();
  const user = useUser();
  return (
    <Page title={t("title")} width="form">
      <Text color="fg.muted" mb="4" maxW="40rem">
        {t("body")}
      </Text>
      {user ? <Steps isOperator={isAdmin(user)} /> : <FirstAccount />}
    </Page>
  );
}

function FirstAccount() {
  const t = useTexts();
  return (
    <Flex as="ol" direction="column" gap="3" listStyleType="none">
      <Step number={1} title={t("account")} state="now" doneLabel={t("done")}>
        <AccountStep />
      </Step>
      {(["provider", "token", "first"] as const).map((name, index) => (
        <Step key={name} number={index + 2} title={t(name)} state="later" doneLabel={t("done")} />
      ))}
    </Flex>
  );
}

function Steps({ isOperator }: { readonly isOperator: boolean }) {
  const channels = useQuery({ ...channelsQuery, enabled: isOperator });
  const tokens = useQuery(tokensQuery);
  const failed = [channels, tokens].find(({ error, data }) => error && !data);
  if (failed) return <LoadFailed problem={failed.error} onRetry={() => void failed.refetch()} />;
  if ((isOperator && !channels.data) || !tokens.data) return <Loading />;
  return <Begun isOperator={isOperator} />;
}

type Redone = "provider" | "token";

function Begun({ isOperator }: { readonly isOperator: boolean }) {
  const t = useTexts();
  const channel = useQuery({ ...channelsQuery, enabled: isOperator }).data?.rows[0];
  const stored: Token | undefined = useQuery(tokensQuery).data?.rows[0];
  const [redone, setRedone] = useState<Redone>();
  const [hasArrived, setArrived] = useState(false);
  const markArrived = useCallback(() => setArrived(true), []);
  const needsProvider = isOperator && (channel === undefined || redone === "provider");
  const needsToken = !needsProvider && (stored === undefined || redone === "token");
  const provider = needsProvider ? "now" : "done";
  const token = needsToken ? "now" : needsProvider ? (stored ? "done" : "later") : "done";
  const first = needsProvider || needsToken ? "later" : "now";
  const again = (what: Redone, label: string) => (
    <Button size="xs" variant="outline" onClick={() => setRedone(what)}>
      {label}
    </Button>
  );
  const offset = isOperator ? 1 : 0;
  return (
    <Flex as="ol" direction="column" gap="3" listStyleType="none">
      {isOperator && (
        <Step
          number={1}
          title={t("provider")}
          state={provider}
          doneLabel={t("done")}
          summary={
            channel && (
              <>
                <Link className="link" to={`/channel/edit/${channel.id}`}>
                  {t("channelSummary", { name: channel.name, count: modelCount(channel.models) })}
                </Link>
                {again("provider", t("another"))}
              </>
            )
          }
        >
          <ProviderStep onDone={() => setRedone(undefined)} />
        </Step>
      )}
      <Step
        number={offset + 1}
        title={t("token")}
        state={token}
        doneLabel={t("done")}
        summary={
          stored && (
            <>
              <Link className="link" to={`/token/edit/${stored.id}`}>
                {stored.name}
              </Link>
              {again("token", t("another"))}
            </>
          )
        }
      >
        <TokenStep onDone={() => setRedone(undefined)} />
      </Step>
      <Step number={offset + 2} title={t("first")} state={first} doneLabel={t("done")}>
        {stored && <Connect token={stored} isPrimary onArrived={markArrived} />}
        {stored && <FirstCall token={stored} onArrived={markArrived} />}
        {hasArrived && <Afterwards isOperator={isOperator} />}
      </Step>
    </Flex>
  );
}

function Afterwards({ isOperator }: { readonly isOperator: boolean }) {
  const t = useTexts();
  const links = [
    ["/playground", t("toPlayground")],
    ["/log", t("toLog")],
    ...(isOperator ? [["/user/add", t("toUsers")] as const] : []),
  ] as const;
  return (
    <Flex direction="column" gap="2" mt="4" borderTopWidth="1px" pt="4">
      <Text fontWeight="semibold">{t("ready")}</Text>
      <Flex gap="2" wrap="wrap">
        {links.map(([to, label]) => (
          <Button key={to} asChild variant="outline" size="sm">
            <Link to={to}>{label}</Link>
          </Button>
        ))}
      </Flex>
    </Flex>
  );
}
