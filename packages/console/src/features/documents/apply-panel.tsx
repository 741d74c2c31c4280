import { Box, Button, Flex, Heading, Text } from "@chakra-ui/react";
import type { DeclarativeChange } from "@fairway/wire";
import { useState } from "react";
import { ask } from "../../ui/feedback/ask.ts";
import { problemText, toast } from "../../ui/feedback/toaster.ts";
import { AreaField, SwitchField, TextField } from "../../ui/form/field.tsx";
import { useUnsavedGuard } from "../../ui/feedback/unsaved-guard.ts";
import { applyDocuments, planDocuments, type Wanted } from "./api.ts";
import { Changes } from "./changes.tsx";
import { readDocuments, TextProblem } from "./read-documents.ts";
import { useTexts } from "./texts.ts";

interface Draft {
  readonly text: string;
  readonly manager: string;
  readonly prune: boolean;
  readonly force: boolean;
}

const EMPTY: Draft = { text: "", manager: "console", prune: false, force: false };

/** The last plan or apply, and its draft. */
interface Shown {
  readonly of: Draft;
  readonly isApplied: boolean;
  readonly changes: readonly DeclarativeChange[];
}

const isDoing = ({ action }: DeclarativeChange) => action !== "unchanged" && action !== "conflict";

/** The user pastes documents, reads their plan, and then applies them. */
export function ApplyPanel() {
  const t = useTexts();
  const [draft, setDraft] = useState(EMPTY);
  const [shown, setShown] = useState<Shown>();
  const [fault, setFault] = useState<string>();
  const [busy, setBusy] = useState<"plan" | "apply">();
  const set = (change: Partial<Draft>) => {
    setDraft((current) => ({ ...current, ...change }));
    setFault(undefined);
  };
  const isPlanned = shown?.of === draft && !shown.isApplied;
  useUnsavedGuard(draft.text !== "" && !(shown?.of === draft && shown.isApplied));

  async function run(kind: "plan" | "apply"): Promise<void> {
    setBusy(kind);
    try {
      const { text, ...rest } = draft;
      const wanted: Wanted = { ...rest, manager: rest.manager.trim(), documents: await readDocuments(text) };
      const changes = await (kind === "plan" ? planDocuments(wanted) : applyDocuments(wanted));
      setShown({ of: draft, isApplied: kind === "apply", changes });
      if (kind === "apply") toast("success", t("applied"));
    } catch (problem) {
      setShown(undefined);
      setFault(problem instanceof TextProblem ? problem.message : problemText(problem));
    } finally {
      setBusy(undefined);
    }
  }

  async function apply(): Promise<void> {
    const doing = shown?.changes.filter(isDoing) ?? [];
    const deleted = doing.filter(({ action }) => action === "delete").length;
    const question = {
      title: t("applyTitle"),
      body: t(deleted > 0 ? "applyDeletes" : "applyBody", { count: doing.length, deleted }),
      confirm: t("apply"),
      isDangerous: deleted > 0 || draft.force,
    };
    if (await ask(question)) await run("apply");
  }

  return (
    <Box as="section" bg="bg.panel" borderWidth="1px" borderRadius="l3" p="4" mb="3">
      <Heading as="h2" textStyle="md" fontWeight="semibold" mb="1">
        {t("applyHeading")}
      </Heading>
      <Text color="fg.muted" mb="3">
        {t("applyHelp")}
      </Text>
      <AreaField
        isMono
        rows={10}
        label={t("text")}
        value={draft.text}
        error={fault}
        placeholder={
          "apiVersion: fairway.dev/v1alpha1\nkind: Channel\nmetadata:\n  name: openai-main\nspec:\n  type: openai"
        }
        onChange={(text) => set({ text })}
      />
      <Flex gap="4" wrap="wrap" align="center" my="3">
        <Box width={{ base: "full", sm: "56" }}>
          <TextField
            label={t("manager")}
            help={t("managerHelp")}
            value={draft.manager}
            onChange={(manager) => set({ manager })}
          />
        </Box>
        <SwitchField label={t("prune")} isOn={draft.prune} onChange={(prune) => set({ prune })} />
        <SwitchField label={t("force")} isOn={draft.force} onChange={(force) => set({ force })} />
      </Flex>
      <Flex gap="2" wrap="wrap" mb={shown ? "3" : "0"}>
        <Button
          variant={isPlanned ? "outline" : "solid"}
          loading={busy === "plan"}
          disabled={draft.text.trim() === "" || draft.manager.trim() === ""}
          onClick={() => void run("plan")}
        >
          {t("plan")}
        </Button>
        <Button
          loading={busy === "apply"}
          disabled={!isPlanned || !shown.changes.some(isDoing)}
          onClick={() => void apply()}
        >
          {t("apply")}
        </Button>
      </Flex>
      {shown?.of === draft && (
        <Changes title={t(shown.isApplied ? "appliedTitle" : "planTitle")} changes={shown.changes} />
      )}
    </Box>
  );
}
