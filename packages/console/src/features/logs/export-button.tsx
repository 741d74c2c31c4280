import { LOG_TOTAL_CAP } from "@fairway/wire";
import { Box, Button, Flex, Text } from "@chakra-ui/react";
import { useEffect, useRef, useState } from "react";
import { useStatus } from "../../session/status.ts";
import { formatCount } from "../../lib/format.ts";
import { useLanguage } from "../../lib/i18n.ts";
import { Icon } from "../../ui/display/icon.tsx";
import { IconButton } from "../../ui/display/icon-button.tsx";
import { toast, toastProblem } from "../../ui/feedback/toaster.ts";
import type { LogFilter } from "./api.ts";
import type { Progress } from "./save-csv.ts";
import { useTexts } from "./texts.ts";

interface ExportProps {
  readonly filter: LogFilter;
  readonly isAdmin: boolean;
}

/** Saves all rows of the filter as a file, page by page, with progress and a cancel button. */
export function ExportButton({ filter, isAdmin }: ExportProps) {
  const t = useTexts();
  const language = useLanguage();
  const { quota_per_unit: quotaPerUnit } = useStatus();
  const [progress, setProgress] = useState<Progress>();
  const running = useRef<AbortController>(undefined);
  useEffect(() => () => running.current?.abort(), []);

  async function run(): Promise<void> {
    const abort = new AbortController();
    running.current = abort;
    setProgress({ done: 0, total: 0 });
    try {
      const { saveCsv } = await import("./save-csv.ts");
      const done = await saveCsv({ filter, isAdmin, quotaPerUnit }, abort.signal, setProgress);
      toast("success", t("exported", { count: formatCount(done, language) }));
    } catch (problem) {
      if (!abort.signal.aborted) toastProblem(problem);
    } finally {
      setProgress(undefined);
    }
  }

  if (!progress) {
    return (
      <Button variant="outline" aria-label={t("export")} title={t("exportHelp")} onClick={() => void run()}>
        <Icon name="download" size={14} />
        <Box as="span" display={{ base: "none", sm: "inline" }}>
          {t("export")}
        </Box>
      </Button>
    );
  }
  const { done, total } = progress;
  const numbers = { done: formatCount(done, language), total: formatCount(total, language) };
  return (
    <Flex align="center" gap="2">
      <Text role="status" textStyle="sm" color="fg.muted" whiteSpace="nowrap">
        {t(total >= LOG_TOTAL_CAP ? "exportingMany" : "exporting", numbers)}
      </Text>
      <IconButton variant="outline" label={t("cancelExport")} onClick={() => running.current?.abort()}>
        <Icon name="close" />
      </IconButton>
    </Flex>
  );
}
