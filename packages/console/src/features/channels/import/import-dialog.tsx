import { Box, Button, Field, Stack, Text } from "@chakra-ui/react";
import { litellmImport } from "@fairway/wire";
import { useState } from "react";
import { call } from "../../../lib/http.ts";
import { Modal } from "../../../ui/feedback/modal.tsx";
import { problemText, toast } from "../../../ui/feedback/toaster.ts";
import { AreaField, SwitchField, TextField } from "../../../ui/form/field.tsx";
import { refreshChannels } from "../api.ts";
import { buildImport, EMPTY_IMPORT, type ImportForm } from "./import-form.ts";
import { useTexts } from "./texts.ts";

/** As long as the gateway accepts. */
const MAX_FILE_BYTES = 8 * 1024 * 1024;

/** The report of the last run, and its form. */
interface Report {
  readonly of: ImportForm;
  readonly isDry: boolean;
  readonly lines: readonly string[];
}

function FileField(props: { onText(text: string): void; onTooLong(): void }) {
  const t = useTexts();
  const read = (file: File | undefined) => {
    if (!file) return;
    if (file.size > MAX_FILE_BYTES) return props.onTooLong();
    void file.text().then(props.onText);
  };
  return (
    <Field.Root>
      <Field.Label>{t("file")}</Field.Label>
      <Field.Context>
        {({ ids }) => (
          <input
            id={ids.control}
            type="file"
            accept=".yaml,.yml,.json,.txt"
            onChange={(event) => read(event.target.files?.[0])}
          />
        )}
      </Field.Context>
    </Field.Root>
  );
}

function ReportLines({ report }: { readonly report: Report }) {
  const t = useTexts();
  return (
    <Box role="region" aria-label={t(report.isDry ? "wouldDo" : "done")}>
      <Text fontWeight="medium" mb="1" role="status">
        {t(report.isDry ? "wouldDo" : "done")}
      </Text>
      <Box as="ul" className="bulk-preview" tabIndex={0} aria-label={t(report.isDry ? "wouldDo" : "done")}>
        {report.lines.map((line) => (
          <Box as="li" key={line} overflowWrap="anywhere">
            {line.replace(/^- /, "")}
          </Box>
        ))}
      </Box>
    </Box>
  );
}

function useImport() {
  const t = useTexts();
  const [form, setForm] = useState(EMPTY_IMPORT);
  const [fault, setFault] = useState<string>();
  const [report, setReport] = useState<Report>();
  const [isRunning, setRunning] = useState(false);
  const change = (more: Partial<ImportForm>) => {
    setForm((current) => ({ ...current, ...more }));
    setFault(undefined);
  };
  const run = async (isDry: boolean) => {
    const body = buildImport(form, isDry);
    if (typeof body === "string") return setFault(t(body === "config" ? "empty" : "badVariable"));
    setRunning(true);
    try {
      setReport({ of: form, isDry, lines: await call(litellmImport, { body }) });
      if (isDry) return;
      toast("success", t("imported"));
      await refreshChannels();
    } catch (problem) {
      setReport(undefined);
      setFault(problemText(problem));
    } finally {
      setRunning(false);
    }
  };
  return { form, change, fault, setFault, report, isRunning, run };
}

/** Imports a configuration of another gateway: first a dry run with everything that would be lost, then the import. */
export function ImportDialog({ onClose }: { onClose(): void }) {
  const t = useTexts();
  const { form, change, fault, setFault, report, isRunning, run } = useImport();
  const isTried = report?.of === form && report.isDry;
  return (
    <Modal
      title={t("title")}
      lead={t("help")}
      size="lg"
      hasCross
      scrollBehavior="inside"
      closeOnInteractOutside={false}
      onClose={onClose}
      footer={
        <>
          <Button variant="outline" loading={isRunning} onClick={() => void run(true)}>
            {t("dryRun")}
          </Button>
          <Button disabled={!isTried} loading={isRunning} onClick={() => void run(false)}>
            {t("run")}
          </Button>
        </>
      }
    >
      <Stack gap="4">
        <FileField onText={(config) => change({ config })} onTooLong={() => setFault(t("tooLong"))} />
        <AreaField label={t("config")} isMono rows={6} value={form.config} onChange={(config) => change({ config })} />
        <AreaField
          label={t("variables")}
          help={t("variablesHelp")}
          isMono
          rows={2}
          value={form.variables}
          onChange={(variables) => change({ variables })}
        />
        <SwitchField
          label={t("fromUpstream")}
          isOn={form.isPricedByUpstream}
          onChange={(isPricedByUpstream) => change({ isPricedByUpstream })}
        />
        <TextField
          label={t("former")}
          help={t("formerHelp")}
          placeholder="https://litellm.example.com"
          value={form.former}
          onChange={(former) => change({ former })}
        />
        {fault !== undefined && (
          <Text role="alert" color="fg.error">
            {fault}
          </Text>
        )}
        {report && <ReportLines report={report} />}
      </Stack>
    </Modal>
  );
}
