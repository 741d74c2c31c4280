import { Button } from "@chakra-ui/react";
import type { UsageReport } from "@fairway/wire";
import { useState } from "react";
import { useUser } from "../../session/session.ts";
import { Icon } from "../../ui/display/icon.tsx";
import { toastProblem } from "../../ui/feedback/toaster.ts";
import { useActions } from "../../ui/menu/actions.ts";
import { useMenuButton } from "../../ui/menu/menu-button.tsx";
import type { Question } from "./api.ts";
import { FORMATS, saveReport, type Format } from "./download.ts";
import type { Reader } from "./reader.ts";
import { useTexts } from "./texts.ts";

const TEXTS = { csv: "downloadCsv", json: "downloadJson", parquet: "downloadParquet" } as const;

interface DownloadProps {
  readonly report: UsageReport;
  readonly question: Question;
  readonly reader: Reader;
}

/** Saves the report as a file, from the button or from the palette. */
export function DownloadButton({ report, question, reader }: DownloadProps) {
  const t = useTexts();
  const user = useUser();
  const [isSaving, setSaving] = useState(false);
  const run = (format: Format) => {
    setSaving(true);
    void saveReport(report, format, { question, reader, userId: user?.id ?? -1 })
      .catch(toastProblem)
      .finally(() => setSaving(false));
  };
  const entries = FORMATS.map((format) => ({ id: format, label: t(TEXTS[format]), run: () => run(format) }));
  useActions(
    "report",
    entries.map((entry) => ({ ...entry, icon: "download", label: `${t("download")}: ${entry.label}` })),
  );
  return (
    <Button variant="outline" loading={isSaving} {...useMenuButton({ label: t("download"), entries })}>
      <Icon name="download" size={14} />
      {t("download")}
    </Button>
  );
}
