import type { OptionChange, OptionKey } from "@fairway/wire";
import { Box, Button, Flex, Text } from "@chakra-ui/react";
import { useQuery } from "@tanstack/react-query";
import { EmptyTeach, LoadFailed, Loading } from "../../../ui/feedback/empty.tsx";
import { When } from "../../../ui/display/when.tsx";
import { historyQuery, HISTORY_ROWS } from "../api.ts";
import { memberChanges } from "./history.ts";
import { useTexts } from "../texts.ts";
import { useOptionWords } from "./words.ts";
import { Modal } from "../../../ui/feedback/modal.tsx";

/** Longer texts may scroll in their box, which must then be reachable by keyboard. */
const SCROLLED = 200;

interface HistoryProps {
  readonly name: OptionKey;
  onClose(): void;
  /** Puts an earlier text into the form, where it waits to be saved. */
  onPutBack(text: string): void;
}

/** Shows earlier values of an option: who changed it, when, and how. */
export function OptionHistory(props: HistoryProps) {
  const t = useTexts();
  const { label } = useOptionWords();
  const { data, error, refetch } = useQuery(historyQuery(props.name));
  const putBack = (text: string) => {
    props.onPutBack(text);
    props.onClose();
  };
  return (
    <Modal
      title={t("historyOf", { name: label(props.name) })}
      size="lg"
      body={{ maxH: "60dvh", overflowY: "auto", tabIndex: 0 }}
      onClose={props.onClose}
      footer={<Button onClick={props.onClose}>{t("closeHistory")}</Button>}
    >
      {error && !data ? (
        <LoadFailed problem={error} onRetry={() => void refetch()} />
      ) : data ? (
        <Changes changes={data.changes} total={data.total} onPutBack={putBack} />
      ) : (
        <Loading />
      )}
    </Modal>
  );
}

interface ChangesProps {
  readonly changes: readonly OptionChange[];
  readonly total: number;
  onPutBack(text: string): void;
}

function Changes({ changes, total, onPutBack }: ChangesProps) {
  const t = useTexts();
  if (changes.length === 0) return <EmptyTeach icon="clock" title={t("noHistory")} body={t("noHistoryBody")} />;
  return (
    <Flex as="ol" direction="column" gap="4" listStyleType="none">
      {changes.map((change) => (
        <Box as="li" key={change.id} borderBottomWidth="1px" pb="4" _last={{ borderBottomWidth: "0", pb: "0" }}>
          <Flex align="center" gap="2" mb="2" textStyle="sm">
            <Text fontWeight="semibold">{change.username || `#${change.user_id}`}</Text>
            <Box color="fg.muted">
              <When at={change.created_at} />
            </Box>
            {change.old_value !== null && (
              <Button size="xs" variant="outline" ms="auto" onClick={() => onPutBack(change.old_value ?? "")}>
                {t("putBack")}
              </Button>
            )}
          </Flex>
          <Change change={change} />
        </Box>
      ))}
      {total > HISTORY_ROWS && (
        <Text textStyle="xs" color="fg.muted">
          {t("olderHistory", { count: total - HISTORY_ROWS })}
        </Text>
      )}
    </Flex>
  );
}

function Change({ change }: { readonly change: OptionChange }) {
  const t = useTexts();
  const { old_value: before, new_value: after } = change;
  const members = memberChanges(before, after);
  const lines = members ?? [{ name: "", before, after }];
  return (
    <Flex as="ul" direction="column" gap="1" listStyleType="none" textStyle="sm" fontFamily="mono">
      {lines.map((line) => (
        <Flex as="li" key={line.name} gap="2" wrap="wrap" overflowWrap="anywhere">
          {line.name !== "" && <Text fontWeight="semibold">{line.name}</Text>}
          <Value text={line.before} absent={t(members ? "absentMember" : "defaultValue")} isOld />
          <Text aria-hidden="true">→</Text>
          <Value text={line.after} absent={t(members ? "absentMember" : "defaultValue")} />
        </Flex>
      ))}
    </Flex>
  );
}

function Value(props: { readonly text: string | null; readonly absent: string; readonly isOld?: boolean }) {
  const t = useTexts();
  if (props.text === null || props.text === "") {
    return (
      <Text fontFamily="body" color="fg.muted">
        {props.text === null ? props.absent : t("emptyValue")}
      </Text>
    );
  }
  return (
    <Text
      maxH="32"
      overflow="auto"
      tabIndex={props.text.length > SCROLLED ? 0 : undefined}
      whiteSpace="pre-wrap"
      {...(props.isOld ? { color: "fg.muted", textDecoration: "line-through" } : {})}
    >
      {props.text}
    </Text>
  );
}
