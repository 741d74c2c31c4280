import { LOG_TOTAL_CAP } from "@fairway/wire";
import { Box, Button, Flex, Text } from "@chakra-ui/react";
import { useEffect, useRef, useState } from "react";
import { useStatus } from "../../session/status.ts";
import { formatCount } from "../../lib/format.ts";
import { useLanguage } from "../../lib/i18n.ts";
import { Icon } from "../../ui/display/icon.tsx";
import { IconButton } from "../../ui/display/icon-button.tsx";
import { toast, toastProblem } from "../../ui/feedback/toaster.ts";
import { logPages, type LogFilter } from "./api.ts";
import { csvWriter } from "./csv.ts";
import { useTexts } from "./texts.ts";

interface ExportProps {
  readonly filter: LogFilter;
  readonly isAdmin: boolean;
}

interface Progress {
  readonly done: number;
  readonly total: number;
}

/** How long the browser may take to begin saving. */
const SAVE_MS = 60_000;

function save(parts: readonly string[]): void {
  const address = URL.createObjectURL(new Blob([...parts], { type: "text/csv;charset=utf-8" }));
  const link = document.createElement("a");
  link.href = address;
  link.download = `log-${new Date().toISOString().slice(0, 19).replaceAll(":", "")}.csv`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), SAVE_MS);
}

/** Saves all rows of the filter as a file, page by page, with progress and a way to call it off. */
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
    const csv = csvWriter({ isAdmin, quotaPerUnit });
    const parts = [csv.head];
    let done = 0;
    try {
      for await (const { items, total } of logPages(filter, isAdmin, abort.signal)) {
        parts.push(csv.rows(items));
        done += items.length;
        setProgress({ done, total });
      }
      save(parts);
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
