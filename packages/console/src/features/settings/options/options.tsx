import type { OptionKey } from "@fairway/wire";
import { Button, Flex, Text } from "@chakra-ui/react";
import { useQuery } from "@tanstack/react-query";
import { useState, type FormEvent } from "react";
import { Link } from "react-router";
import { ruleText, serverMessage } from "../../../lib/server/server-messages.ts";
import { ask } from "../../../ui/feedback/ask.ts";
import { EmptyTeach, LoadFailed, Loading } from "../../../ui/feedback/empty.tsx";
import { FormSection } from "../../../ui/form/form-drawer.tsx";
import { toast, toastProblem } from "../../../ui/feedback/toaster.ts";
import { useStatus } from "../../../session/status.ts";
import { optionsQuery, resetRatios, saveOptions } from "../api.ts";
import { CallbackNote } from "../personal/callback-note.tsx";
import { useTexts } from "../texts.ts";
import { ClearLogs } from "./clear-logs.tsx";
import {
  collectChanges,
  findFault,
  ofKeys,
  typed,
  withoutKeys,
  withoutSaved,
  withPublicTexts,
  type Draft,
} from "./draft.ts";
import { Fields, type Drafting, type SectionProps } from "./fields.tsx";
import { GroupFields } from "./group-fields.tsx";
import { OptionHistory } from "./option-history.tsx";
import { Preview } from "./preview.tsx";
import { mayStopPasswords } from "./password-login.ts";
import type { Section } from "./sections.ts";

/** Options of the gateway, section by section; each saves its changes together. */
export function Options(props: Drafting & { readonly sections: readonly Section[] }) {
  const t = useTexts();
  const status = useStatus();
  const [looking, setLooking] = useState<OptionKey>();
  const { data, error, refetch } = useQuery(optionsQuery);
  if (error && !data) return <LoadFailed problem={error} onRetry={() => void refetch()} />;
  if (!data) return <Loading />;
  const stored = withPublicTexts(data, status);
  if (props.sections.length === 0) return <EmptyTeach icon="filter" title={t("nothingFound")} body={t("findHint")} />;
  return (
    <Flex direction="column" gap="5">
      {props.sections.map((section) => (
        <OptionSection
          key={section.id}
          section={section}
          stored={stored}
          draft={props.draft}
          onDraft={props.onDraft}
          onHistory={setLooking}
        />
      ))}
      {looking !== undefined && (
        <OptionHistory
          name={looking}
          onClose={() => setLooking(undefined)}
          onPutBack={(text) => props.onDraft((current) => collectChanges(typed(current, looking, text), stored))}
        />
      )}
    </Flex>
  );
}

function useErrors(changes: Draft): ReadonlyMap<OptionKey, string> {
  const t = useTexts();
  return new Map(
    (Object.entries(changes) as [OptionKey, string][]).flatMap(([key, text]) => {
      const fault = findFault(key, text);
      if (!fault) return [];
      const said =
        "rule" in fault ? t("mustBe", { rule: ruleText(fault.rule) }) : serverMessage(fault.key, fault.message);
      return [[key, said] as const];
    }),
  );
}

function OptionSection(props: SectionProps) {
  const t = useTexts();
  const { section, stored, draft, onDraft } = props;
  const [isSaving, setSaving] = useState(false);
  const changes = ofKeys(draft, section.keys);
  const count = Object.keys(changes).length;
  const errors = useErrors(changes);

  async function save(event: FormEvent): Promise<void> {
    event.preventDefault();
    if (count === 0) return toast("info", t("nothingChanged"));
    if (errors.size > 0) return toast("error", t("checkInput"));
    if (changes.PasswordLoginEnabled === "false" && !(await mayStopPasswords())) return;
    setSaving(true);
    try {
      await saveOptions(changes as Record<string, string>);
      onDraft((current) => withoutSaved(current, changes));
      toast("success", t("saved"));
    } catch (problem) {
      toastProblem(problem);
    } finally {
      setSaving(false);
    }
  }

  return (
    <form noValidate autoComplete="off" onSubmit={(event) => void save(event)}>
      <FormSection
        title={t(section.title)}
        aside={
          count > 0 && (
            <Text textStyle="xs" color="fg.muted">
              {t("unsavedCount", { count })}
            </Text>
          )
        }
      >
        <CallbackNote group={section.id} />
        {section.id === "groups" ? <GroupFields {...props} errors={errors} /> : <Fields {...props} errors={errors} />}
        {count > 0 && errors.size === 0 && <Preview changes={changes} stored={stored} />}
        <Flex gap="2" wrap="wrap">
          <Button type="submit" size="sm" variant={count === 0 ? "outline" : "solid"} loading={isSaving}>
            {t("saveCard")}
          </Button>
          {count > 0 && (
            <Button
              size="sm"
              variant="outline"
              onClick={() => onDraft((current) => withoutKeys(current, section.keys))}
            >
              {t("discardCard")}
            </Button>
          )}
          {section.id === "prices" && (
            <>
              <Button asChild size="sm" variant="outline" ms="auto">
                <Link to="/setting?tab=prices">{t("editPrices")}</Link>
              </Button>
              <ResetRatios />
            </>
          )}
        </Flex>
        {section.id === "logs" && <ClearLogs />}
      </FormSection>
    </form>
  );
}

function ResetRatios() {
  const t = useTexts();
  async function reset(): Promise<void> {
    const question = { title: t("resetTitle"), body: t("resetBody"), confirm: t("resetRatios"), isDangerous: true };
    if (!(await ask(question))) return;
    await resetRatios().then(() => toast("success", t("resetDone")), toastProblem);
  }
  return (
    <Button size="sm" variant="outline" onClick={() => void reset()}>
      {t("resetRatios")}
    </Button>
  );
}
