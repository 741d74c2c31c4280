import { OPTIONS, type OptionKey } from "@fairway/wire";
import { Button, Flex, Spinner, Text } from "@chakra-ui/react";
import { useQuery } from "@tanstack/react-query";
import { useState, type FormEvent } from "react";
import { ask } from "../../ui/ask.ts";
import { EmptyTeach, LoadFailed } from "../../ui/empty.tsx";
import { FormSection } from "../../ui/form-drawer.tsx";
import { toast, toastProblem } from "../../ui/toaster.ts";
import { useStatus } from "../../app/session/status.ts";
import { optionsQuery, resetRatios, saveOptions } from "./api.ts";
import {
  cardsOf,
  changesOf,
  typed,
  withPublicTexts,
  type Card,
  type Draft,
  type OptionTexts,
  type Tab,
} from "./groups.ts";
import { OptionField } from "./option-field.tsx";
import { useTexts } from "./texts.ts";

/** The options of the gateway as cards; each saves its changes together. */
export function Options(props: { readonly tab: Tab; readonly find: string }) {
  const t = useTexts();
  const status = useStatus();
  const { data, error, refetch } = useQuery(optionsQuery);
  if (error && !data) return <LoadFailed problem={error} onRetry={() => void refetch()} />;
  if (!data) return <Spinner />;
  const stored = withPublicTexts(data, status);
  const cards = cardsOf(props.tab, props.find);
  if (cards.length === 0) return <EmptyTeach icon="filter" title={t("nothingFound")} body={t("findHint")} />;
  return (
    <Flex direction="column" gap="5">
      {cards.map((card) => (
        <OptionCard key={card.group} card={card} stored={stored} />
      ))}
    </Flex>
  );
}

function ruleBroken(key: OptionKey, text: string): string | undefined {
  const reading = OPTIONS[key].type.read(text);
  return reading.isValid ? undefined : (reading.rule ?? reading.code);
}

function OptionCard({ card, stored }: { readonly card: Card; readonly stored: OptionTexts }) {
  const t = useTexts();
  const [draft, setDraft] = useState<Draft>({});
  const [isSaving, setSaving] = useState(false);
  const changes = changesOf(draft, stored);
  const count = Object.keys(changes).length;
  const errors = new Map(
    (Object.entries(changes) as [OptionKey, string][]).flatMap(([key, text]) => {
      const rule = ruleBroken(key, text);
      return rule === undefined ? [] : [[key, t("mustBe", { rule })] as const];
    }),
  );

  async function save(event: FormEvent): Promise<void> {
    event.preventDefault();
    if (count === 0 || errors.size > 0) return;
    setSaving(true);
    try {
      await saveOptions(changes as Record<string, string>);
      setDraft({});
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
        title={t(card.title)}
        aside={
          count > 0 && (
            <Text textStyle="xs" color="fg.muted">
              {t("unsavedCount", { count })}
            </Text>
          )
        }
      >
        {card.keys.map((key) => (
          <OptionField
            key={key}
            name={key}
            value={draft[key] ?? stored[key] ?? ""}
            error={errors.get(key)}
            isEmptied={draft[key] === ""}
            onChange={(text) => setDraft((current) => typed(current, key, text))}
            onEmpty={(isEmptied) =>
              setDraft((current) => (isEmptied ? { ...current, [key]: "" } : typed(current, key, "")))
            }
          />
        ))}
        <Flex gap="2" wrap="wrap">
          <Button type="submit" size="sm" disabled={count === 0 || errors.size > 0} loading={isSaving}>
            {t("saveCard")}
          </Button>
          {count > 0 && (
            <Button size="sm" variant="outline" onClick={() => setDraft({})}>
              {t("discardCard")}
            </Button>
          )}
          {card.group === "prices" && <ResetRatios />}
        </Flex>
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
    <Button size="sm" variant="outline" ms="auto" onClick={() => void reset()}>
      {t("resetRatios")}
    </Button>
  );
}
