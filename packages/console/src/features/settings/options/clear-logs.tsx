import { logClear } from "@fairway/wire";
import { Button, Flex } from "@chakra-ui/react";
import { useState } from "react";
import { formatCount, formatExactTime, fromLocalInput, toLocalInput } from "../../../lib/format.ts";
import { call } from "../../../lib/http.ts";
import { useLanguage } from "../../../lib/i18n.ts";
import { nowSeconds } from "../../../lib/now.ts";
import { queryKeys } from "../../../lib/query-keys.ts";
import { queryClient } from "../../../lib/query.ts";
import { ask } from "../../../ui/feedback/ask.ts";
import { TextField } from "../../../ui/form/field.tsx";
import { toast, toastProblem } from "../../../ui/feedback/toaster.ts";
import { useTexts } from "../texts.ts";

const A_MONTH = 30 * 86_400;

/** Deletes the log up to a time. */
export function ClearLogs() {
  const t = useTexts();
  const language = useLanguage();
  const [until, setUntil] = useState(() => toLocalInput(nowSeconds() - A_MONTH));
  const [error, setError] = useState<string>();
  const [isSending, setSending] = useState(false);
  const clear = async () => {
    const time = fromLocalInput(until);
    if (time === undefined) return setError(t("clearTimeMissing"));
    const title = t("clearLogsTitle", { time: formatExactTime(time, language) });
    if (!(await ask({ title, body: t("clearLogsBody"), confirm: t("clearLogs"), isDangerous: true }))) return;
    setSending(true);
    try {
      const count = await call(logClear, { query: { target_timestamp: time } });
      toast("success", t("logsCleared", { count: formatCount(count, language) }));
      await queryClient.invalidateQueries({ queryKey: queryKeys.logs.all });
    } catch (problem) {
      toastProblem(problem);
    } finally {
      setSending(false);
    }
  };
  return (
    <Flex gap="3" align="flex-end" wrap="wrap" borderTopWidth="1px" pt="4">
      <Flex flex="1" minW="200px" maxW="320px">
        <TextField
          label={t("clearUntil")}
          type="datetime-local"
          value={until}
          error={error}
          onChange={(text) => {
            setUntil(text);
            setError(undefined);
          }}
        />
      </Flex>
      <Button size="sm" variant="outline" color="fg.error" loading={isSending} onClick={() => void clear()}>
        {t("clearLogs")}
      </Button>
    </Flex>
  );
}
