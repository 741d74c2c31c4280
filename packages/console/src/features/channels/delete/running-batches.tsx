import { Box, Flex, Text } from "@chakra-ui/react";
import { useQuery } from "@tanstack/react-query";
import { Link } from "react-router";
import { formatCount, formatStamp } from "../../../lib/format.ts";
import { useLanguage } from "../../../lib/i18n.ts";
import { pendingQuestion } from "../../../ui/feedback/ask.ts";
import { useTexts } from "../texts.ts";
import { runningBatchesQuery } from "./api.ts";

const SHOWN = 5;

/** What runs at a channel that cannot be deleted yet, and what becomes of it. */
export function RunningBatches(props: { readonly reason: string; readonly channel: number | undefined }) {
  const t = useTexts();
  const language = useLanguage();
  const { channel } = props;
  const { data = [] } = useQuery({ ...runningBatchesQuery(channel ?? 0), enabled: channel !== undefined });
  return (
    <Flex direction="column" gap="3">
      <Text>{props.reason}</Text>
      {data.length > 0 && (
        <Box as="ul" listStyleType="none" textStyle="sm" aria-label={t("runningBatches")}>
          {data.slice(0, SHOWN).map((batch) => (
            <Flex as="li" key={batch.id} gap="3" justify="space-between" py="0.5">
              <Box as="span" className="cut mono">
                {Object.keys(batch.models).join(", ") || batch.id}
              </Box>
              <Box as="span" color="fg.muted" flex="none">
                {t("batchRequests", {
                  count: formatCount(batch.total, language),
                  since: formatStamp(batch.created_at),
                })}
              </Box>
            </Flex>
          ))}
        </Box>
      )}
      <Text color="fg.muted">{t("disableInstead")}</Text>
      <Link
        className="link"
        to={channel === undefined ? "/batch" : `/batch?channel=${channel}`}
        onClick={() => pendingQuestion.read()?.answer(false)}
      >
        {t("allBatches")}
      </Link>
    </Flex>
  );
}
