import { Button, Stack, Text } from "@chakra-ui/react";
import { JOB_STATUS, ROLE, type ImportRun } from "@fairway/wire";
import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { Navigate } from "react-router";
import { getRole, useUser } from "../../../session/session.ts";
import { Modal } from "../../../ui/feedback/modal.tsx";
import { problemText } from "../../../ui/feedback/toaster.ts";
import { SelectField } from "../../../ui/form/field.tsx";
import { useCloseTo } from "../../../ui/form/use-close-to.ts";
import { refreshChannels } from "../api.ts";
import { isRunning, runsQuery, startImport } from "./import-calls.ts";
import { EMPTY_IMPORT, type ImportForm, type ImportSource } from "./import-form.ts";
import { RunReport } from "./run-report.tsx";
import { ConfigFields, DatabaseFields, ServerFields, type FieldsProps } from "./source-fields.tsx";
import { useTexts } from "./texts.ts";

/** The run that this dialog has started, and its form. */
interface Started {
  readonly id: number;
  readonly of: ImportForm;
}

/** A run of before the dialog was opened is shown for so long, such as after the page was loaded again. */
const SHOWN_SECONDS = 3_600;

function findShown(runs: readonly ImportRun[] | undefined, started: Started | undefined): ImportRun | undefined {
  if (started) return runs?.find(({ id }) => id === started.id);
  const [latest] = runs ?? [];
  if (!latest) return undefined;
  const isRecent = Date.now() / 1000 - latest.created_at < SHOWN_SECONDS;
  return isRunning(latest) || isRecent ? latest : undefined;
}

function useImport() {
  const t = useTexts();
  const [form, setForm] = useState(EMPTY_IMPORT);
  const [fault, setFault] = useState<string>();
  const [started, setStarted] = useState<Started>();
  const [isSending, setSending] = useState(false);
  const { data } = useQuery(runsQuery);
  const run = findShown(data, started);
  const isOver = run !== undefined && !isRunning(run) && !run.dry_run;
  useEffect(() => {
    if (isOver) void refreshChannels();
  }, [isOver]);
  const change = (more: Partial<ImportForm>) => {
    setForm((current) => ({ ...current, ...more }));
    setFault(undefined);
  };
  const start = async (isDry: boolean) => {
    setSending(true);
    try {
      const id = await startImport(form, isDry);
      if (typeof id === "string") setFault(t(id));
      else setStarted({ id, of: form });
    } catch (problem) {
      setFault(problemText(problem));
    } finally {
      setSending(false);
    }
  };
  const isTried = started?.of === form && run?.dry_run === true && run.status === JOB_STATUS.done;
  const isBusy = isSending || (run !== undefined && isRunning(run));
  return { form, change, fault, setFault, run, isEarlier: !started, isTried, isBusy, start };
}

function Fields(props: FieldsProps) {
  switch (props.form.source) {
    case "config":
      return <ConfigFields {...props} />;
    case "database":
      return <DatabaseFields {...props} />;
    default:
      return <ServerFields {...props} />;
  }
}

/**
 * Imports from another gateway: first a trial with everything that would be lost, then the import. Both continue without
 * the page, which shows them again when it is opened again.
 */
export function ImportDialog() {
  const t = useTexts();
  const close = useCloseTo("/channel");
  const isRoot = getRole(useUser()) === ROLE.root;
  return isRoot ? <RootDialog onClose={close} title={t("title")} /> : <Navigate to="/channel" replace />;
}

function RootDialog({ title, onClose }: { readonly title: string; onClose(): void }) {
  const t = useTexts();
  const { form, change, fault, setFault, run, isEarlier, isTried, isBusy, start } = useImport();
  const sources: readonly { value: ImportSource; label: string }[] = [
    { value: "config", label: t("ofConfig") },
    { value: "database", label: t("ofDatabase") },
    { value: "new-api", label: t("ofServer", { name: t("newApi") }) },
    { value: "one-api", label: t("ofServer", { name: t("oneApi") }) },
    { value: "one-hub", label: t("ofServer", { name: t("oneHub") }) },
    { value: "litellm", label: t("ofServer", { name: t("litellm") }) },
  ];
  return (
    <Modal
      title={title}
      lead={t("help")}
      size="lg"
      hasCross
      scrollBehavior="inside"
      closeOnInteractOutside={false}
      onClose={onClose}
      footer={
        <>
          <Button variant="outline" loading={isBusy} onClick={() => void start(true)}>
            {t("dryRun")}
          </Button>
          <Button disabled={!isTried} loading={isBusy} onClick={() => void start(false)}>
            {t("run")}
          </Button>
        </>
      }
    >
      <Stack gap="4">
        <SelectField
          label={t("source")}
          value={form.source}
          choices={sources}
          onChange={(source) => change({ source: source as ImportSource })}
        />
        <Fields form={form} onChange={change} onFault={setFault} />
        {fault !== undefined && (
          <Text role="alert" color="fg.error">
            {fault}
          </Text>
        )}
        {run && <RunReport run={run} isEarlier={isEarlier} />}
      </Stack>
    </Modal>
  );
}
