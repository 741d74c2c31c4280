import { OPTIONS, type OptionKey } from "@fairway/wire";
import { Button, Flex, Text } from "@chakra-ui/react";
import { useQuery } from "@tanstack/react-query";
import { useState, type FormEvent } from "react";
import { Link } from "react-router";
import { ask } from "../../../ui/feedback/ask.ts";
import { EmptyTeach, LoadFailed, Loading } from "../../../ui/feedback/empty.tsx";
import { FormSection } from "../../../ui/form/form-drawer.tsx";
import { toast, toastProblem } from "../../../ui/feedback/toaster.ts";
import { useStatus } from "../../../session/status.ts";
import { optionsQuery, resetRatios, saveOptions } from "../api.ts";
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
import { CallbackNote } from "../personal/callback-note.tsx";
import { ClearLogs } from "./clear-logs.tsx";
import { OptionField } from "./option-field.tsx";
import { OptionHistory } from "./option-history.tsx";
import { useTexts } from "../texts.ts";

interface Drafting {
  /** What differs from what is stored, of all cards: it survives a switch to another tab. */
  readonly draft: Draft;
  onDraft(change: (current: Draft) => Draft): void;
}

interface OptionsProps extends Drafting {
  readonly tab: Tab;
  readonly find: string;
}

/** The options of the gateway as cards; each saves its changes together. */
export function Options(props: OptionsProps) {
  const t = useTexts();
  const status = useStatus();
  const [looking, setLooking] = useState<OptionKey>();
  const { data, error, refetch } = useQuery(optionsQuery);
  if (error && !data) return <LoadFailed problem={error} onRetry={() => void refetch()} />;
  if (!data) return <Loading />;
  const stored = withPublicTexts(data, status);
  const cards = cardsOf(props.tab, props.find);
  if (cards.length === 0) return <EmptyTeach icon="filter" title={t("nothingFound")} body={t("findHint")} />;
  return (
    <Flex direction="column" gap="5">
      {cards.map((card) => (
        <OptionCard
          key={card.group}
          card={card}
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
          onPutBack={(text) => props.onDraft((current) => changesOf(typed(current, looking, text), stored))}
        />
      )}
    </Flex>
  );
}

function ofCard(draft: Draft, { keys }: Card): Draft {
  return Object.fromEntries(Object.entries(draft).filter(([key]) => keys.includes(key as OptionKey)));
}

/** What was typed while the rest was being saved stays. */
function withoutSaved(draft: Draft, saved: Draft): Draft {
  return Object.fromEntries(Object.entries(draft).filter(([key, text]) => saved[key as OptionKey] !== text));
}

function withoutCard(draft: Draft, { keys }: Card): Draft {
  return Object.fromEntries(Object.entries(draft).filter(([key]) => !keys.includes(key as OptionKey)));
}

function ruleBroken(key: OptionKey, text: string): string | undefined {
  const reading = OPTIONS[key].type.read(text);
  return reading.isValid ? undefined : (reading.rule ?? reading.messageKey);
}

interface OptionCardProps extends Drafting {
  readonly card: Card;
  readonly stored: OptionTexts;
  onHistory(name: OptionKey): void;
}

function OptionCard({ card, stored, draft, onDraft, onHistory }: OptionCardProps) {
  const t = useTexts();
  const [isSaving, setSaving] = useState(false);
  const changes = ofCard(draft, card);
  const count = Object.keys(changes).length;
  const errors = new Map(
    (Object.entries(changes) as [OptionKey, string][]).flatMap(([key, text]) => {
      const rule = ruleBroken(key, text);
      return rule === undefined ? [] : [[key, t("mustBe", { rule })] as const];
    }),
  );

  const discard = () => onDraft((current) => withoutCard(current, card));

  async function save(event: FormEvent): Promise<void> {
    event.preventDefault();
    if (count === 0 || errors.size > 0) return;
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
        title={t(card.title)}
        aside={
          count > 0 && (
            <Text textStyle="xs" color="fg.muted">
              {t("unsavedCount", { count })}
            </Text>
          )
        }
      >
        <CallbackNote group={card.group} />
        {card.keys.map((key) => (
          <OptionField
            key={key}
            name={key}
            value={draft[key] ?? stored[key] ?? ""}
            error={errors.get(key)}
            isEmptied={draft[key] === ""}
            onHistory={() => onHistory(key)}
            onChange={(text) => onDraft((current) => changesOf(typed(current, key, text), stored))}
            onEmpty={(isEmptied) =>
              onDraft((current) => (isEmptied ? { ...current, [key]: "" } : typed(current, key, "")))
            }
          />
        ))}
        <Flex gap="2" wrap="wrap">
          <Button type="submit" size="sm" disabled={count === 0 || errors.size > 0} loading={isSaving}>
            {t("saveCard")}
          </Button>
          {count > 0 && (
            <Button size="sm" variant="outline" onClick={discard}>
              {t("discardCard")}
            </Button>
          )}
          {card.group === "prices" && (
            <>
              <Button asChild size="sm" variant="outline" ms="auto">
                <Link to="/setting?tab=prices">{t("editPrices")}</Link>
              </Button>
              <ResetRatios />
            </>
          )}
        </Flex>
        {card.group === "logs" && <ClearLogs />}
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
