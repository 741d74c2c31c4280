import { Box, Button, Flex, Text } from "@chakra-ui/react";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { formatCount, seconds } from "../../lib/format.ts";
import { useLanguage } from "../../lib/i18n.ts";
import { CopyButton } from "../../ui/content/copy-button.tsx";
import { Icon, type IconName } from "../../ui/display/icon.tsx";
import { IconButton } from "../../ui/display/icon-button.tsx";
import { Markdown } from "../../ui/content/markdown.tsx";
import { Mark } from "../../ui/display/mark.tsx";
import { Money } from "../../ui/display/money.tsx";
import type { Failure } from "./answer.ts";
import { chargeQuery } from "./api.ts";
import type { Answer, Conversation, Round } from "./conversation.ts";
import { useTexts } from "./texts.ts";

function FailureCard(props: { readonly failure: Failure; onAgain(): void }) {
  const t = useTexts();
  const { failure } = props;
  const facts = [failure.status > 0 && t("failedStatus", { status: failure.status }), failure.code];
  return (
    <Box role="alert" borderWidth="1px" borderColor="port.border" bg="bg.error" borderRadius="l3" px="4" py="3">
      <Flex align="center" gap="3" wrap="wrap">
        <Mark kind="stop" label={t("failed")} />
        <Text textStyle="xs" color="fg.muted" fontFamily="mono">
          {facts.filter(Boolean).join(" · ")}
        </Text>
      </Flex>
      <Text mt="1.5" overflowWrap="anywhere">
        {failure.message}
      </Text>
      {failure.retryAfter !== undefined && (
        <Text textStyle="sm" color="fg.muted">
          {t("failedWait", { seconds: failure.retryAfter })}
        </Text>
      )}
      <Flex gap="2" mt="2" align="center">
        <Button size="xs" variant="outline" onClick={props.onAgain}>
          <Icon name="refresh" size={14} />
          {t("again")}
        </Button>
        {failure.requestId !== undefined && (
          <>
            <Text textStyle="xs" color="fg.muted" fontFamily="mono" truncate>
              {failure.requestId}
            </Text>
            <CopyButton text={failure.requestId} label={t("copyRequestId")} />
          </>
        )}
      </Flex>
    </Box>
  );
}

function Charge(props: { readonly requestId: string }) {
  const t = useTexts();
  const { data } = useQuery(chargeQuery(props.requestId));
  if (data === undefined) return null;
  return (
    <span title={t("charged")}>
      <Money quota={data} isPrecise />
    </span>
  );
}

/** Duration and tokens, shown below an answer. */
function Measures({ answer }: { readonly answer: Answer }) {
  const t = useTexts();
  const language = useLanguage();
  const { firstMs, totalMs, usage, requestId, state } = answer;
  return (
    <>
      {firstMs !== undefined && <span>{t("firstSign", { time: seconds(firstMs) })}</span>}
      {totalMs !== undefined && <span>{t("inAll", { time: seconds(totalMs) })}</span>}
      {usage && (
        <span>
          {t("tokens", { input: formatCount(usage.input, language), output: formatCount(usage.output, language) })}
        </span>
      )}
      {requestId !== undefined && state === "complete" && <Charge requestId={requestId} />}
    </>
  );
}

function Action(props: { readonly icon: IconName; readonly label: string; readonly isOff: boolean; run(): void }) {
  return (
    <IconButton size="xs" label={props.label} disabled={props.isOff} onClick={() => props.run()}>
      <Icon name={props.icon} size={15} />
    </IconButton>
  );
}

function Foot(props: { readonly children?: ReactNode; readonly text: string; readonly buttons: ReactNode }) {
  const t = useTexts();
  return (
    <Flex className="message-foot" align="center" columnGap="3" rowGap="0" wrap="wrap" mt="1" minH="7">
      {props.children}
      <Flex className="message-actions" gap="0.5">
        {props.text !== "" && <CopyButton text={props.text} label={t("copyMessage")} />}
        {props.buttons}
      </Flex>
    </Flex>
  );
}

interface AnswerProps {
  readonly answer: Answer;
  /** Whether other models answered next to it. */
  readonly isCompared: boolean;
  readonly isBusy: boolean;
  onAgain(): void;
}

function AnswerView({ answer, isCompared, isBusy, onAgain }: AnswerProps) {
  const t = useTexts();
  const { state, text, thought, failure, model } = answer;
  return (
    <Box role="group" aria-label={t("answerOf", { model })} minW="0">
      {isCompared && (
        <Text className="answer-model" textStyle="xs" color="fg.muted" fontFamily="mono" truncate>
          {model}
        </Text>
      )}
      {thought !== "" && (
        <details className="thoughts">
          <summary>{t("thoughts")}</summary>
          <p dir="auto">{thought}</p>
        </details>
      )}
      {text !== "" && <Markdown text={text} />}
      {state === "loading" && text === "" && <Mark kind="underway" label={t("thinking")} />}
      {state === "incomplete" && <Mark kind="caution" label={t("incomplete")} title={t("incompleteBody")} />}
      {failure && <FailureCard failure={failure} onAgain={onAgain} />}
      {state !== "loading" && (
        <Foot
          text={text}
          buttons={!failure && <Action icon="refresh" label={t("again")} isOff={isBusy} run={onAgain} />}
        >
          <Measures answer={answer} />
        </Foot>
      )}
    </Box>
  );
}

/** A question and its answers, side by side if several models were asked. */
export function RoundView(props: {
  readonly round: Round;
  readonly columns: number;
  readonly conversation: Conversation;
}) {
  const t = useTexts();
  const { round, columns, conversation } = props;
  const { isBusy } = conversation;
  return (
    <>
      <Flex direction="column" align="flex-end">
        <Box className="question" aria-label={t("you")} role="group" dir="auto">
          {round.question}
        </Box>
        <Foot
          text={round.question}
          buttons={
            <>
              <Action icon="edit" label={t("edit")} isOff={isBusy} run={() => conversation.takeBack(round.id)} />
              <Action icon="trash" label={t("remove")} isOff={isBusy} run={() => conversation.remove(round.id)} />
            </>
          }
        />
      </Flex>
      <div className="answers">
        {round.answers.map((answer, column) => (
          <AnswerView
            key={answer.id}
            answer={answer}
            isCompared={columns > 1 || round.answers.length > 1}
            isBusy={isBusy}
            onAgain={() => conversation.again(round.id, column)}
          />
        ))}
      </div>
    </>
  );
}
