import type { LogRow, Token } from "@fairway/wire";
import { Box, Button, Flex, Text } from "@chakra-ui/react";
import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { Link } from "react-router";
import { formatCount, milliseconds } from "../../lib/format.ts";
import { useLanguage } from "../../lib/i18n.ts";
import { queryKeys } from "../../lib/query-keys.ts";
import { queryClient } from "../../lib/query.ts";
import { Icon } from "../../ui/display/icon.tsx";
import { Mark } from "../../ui/display/mark.tsx";
import { Money } from "../../ui/display/money.tsx";
import { toastProblem } from "../../ui/feedback/toaster.ts";
import { rowQuery, sendTest } from "./api.ts";
import type { Reply } from "./reply.ts";
import { useTexts } from "./texts.ts";

function useTest(token: Token, model: string | undefined) {
  const [reply, setReply] = useState<Reply>();
  const [isWaiting, setWaiting] = useState(false);
  const running = useRef<AbortController>(undefined);
  useEffect(() => () => running.current?.abort(), []);

  async function send(): Promise<void> {
    if (model === undefined) return;
    const abort = new AbortController();
    running.current = abort;
    setReply(undefined);
    setWaiting(true);
    try {
      setReply(await sendTest(token, model, abort.signal));
    } catch (problem) {
      if (!abort.signal.aborted) toastProblem(problem);
    } finally {
      if (!abort.signal.aborted) setWaiting(false);
    }
  }

  return { reply, isWaiting, send };
}

function Row({ row }: { readonly row: LogRow }) {
  const t = useTexts();
  const language = useLanguage();
  const count = (value: number) => formatCount(value, language);
  const facts = [
    [t("rowModel"), row.model_name],
    [t("rowTokens"), t("rowTokensOf", { input: count(row.prompt_tokens), output: count(row.completion_tokens) })],
    [t("rowCost"), <Money key="cost" quota={row.quota} isPrecise />],
    [t("rowRequest"), row.request_id],
  ] as const;
  return (
    <Flex as="dl" wrap="wrap" columnGap="6" rowGap="1" textStyle="sm">
      {facts.map(([name, value]) => (
        <Flex key={name} gap="2" minW="0">
          <Box as="dt" color="fg.muted">
            {name}
          </Box>
          <Box as="dd" overflowWrap="anywhere">
            {value}
          </Box>
        </Flex>
      ))}
    </Flex>
  );
}

function Arrival(props: { readonly requestId: string; readonly teamId: number | undefined; onArrived?(): void }) {
  const t = useTexts();
  const { data: row, isError } = useQuery(rowQuery(props.requestId, props.teamId));
  const { requestId, teamId, onArrived } = props;
  useEffect(() => {
    if (!row) return;
    void queryClient.invalidateQueries({ queryKey: queryKeys.logs.recent });
    onArrived?.();
  }, [row, onArrived]);
  if (isError) return <Text textStyle="sm">{t("noRow")}</Text>;
  if (!row) return <Mark kind="underway" label={t("waitingRow")} />;
  return (
    <Flex direction="column" gap="2">
      <Flex align="center" gap="3" wrap="wrap">
        <Mark kind="go" label={t("arrived")} />
        {teamId === undefined && (
          <Link className="link" to={`/log?request=${encodeURIComponent(requestId)}`}>
            {t("openRow")}
          </Link>
        )}
      </Flex>
      <Row row={row} />
    </Flex>
  );
}

function Answer(props: { readonly reply: Reply; readonly teamId: number | undefined; onArrived?(): void }) {
  const t = useTexts();
  const { reply } = props;
  const time = milliseconds(reply.elapsedMs);
  return (
    <Flex direction="column" gap="3" borderWidth="1px" borderRadius="l3" bg="bg.panel" p="4">
      {reply.isOk ? (
        <Mark kind="go" label={t("answered", { time })} />
      ) : (
        <Mark kind="stop" label={t("refused", { status: reply.status })} />
      )}
      <Text fontFamily="mono" textStyle="sm" overflowWrap="anywhere" maxH="40" overflowY="auto">
        {reply.text || t("emptyAnswer")}
      </Text>
      {reply.requestId !== undefined && (
        <Arrival
          key={reply.requestId}
          requestId={reply.requestId}
          teamId={props.teamId}
          {...(reply.isOk && props.onArrived ? { onArrived: props.onArrived } : {})}
        />
      )}
    </Flex>
  );
}

/** Sends a request with the token's key and shows its answer and its row in the log. */
export function TestRequest(props: {
  readonly token: Token;
  readonly model: string | undefined;
  readonly isPrimary?: boolean;
  readonly teamId?: number | undefined;
  onArrived?(): void;
}) {
  const t = useTexts();
  const { token, model } = props;
  const { reply, isWaiting, send } = useTest(token, model);
  return (
    <Flex direction="column" gap="3" role="group" aria-label={t("send")}>
      <Flex align="center" gap="3" wrap="wrap">
        <Button
          variant={props.isPrimary && !reply ? "solid" : "outline"}
          disabled={model === undefined}
          loading={isWaiting}
          onClick={() => void send()}
        >
          <Icon name="send" />
          {t(reply ? "sendAgain" : "send")}
        </Button>
        <Text textStyle="sm" color="fg.muted" flex="1" minW="48">
          {model === undefined ? t("noModel") : t("sendHelp")}
        </Text>
      </Flex>
      <Box role="status">
        {isWaiting && <Mark kind="underway" label={t("sending", { model: model ?? "" })} />}
        {reply && (
          <Answer reply={reply} teamId={props.teamId} {...(props.onArrived ? { onArrived: props.onArrived } : {})} />
        )}
      </Box>
    </Flex>
  );
}
