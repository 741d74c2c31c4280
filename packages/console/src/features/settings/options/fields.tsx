import type { OptionKey } from "@fairway/wire";
import { collectChanges, typed, type Draft, type OptionTexts } from "./draft.ts";
import { OptionField } from "./option-field.tsx";
import type { Section } from "./sections.ts";

export interface Drafting {
  /** Unsaved edits of all sections; they survive a switch to another section. */
  readonly draft: Draft;
  onDraft(change: (current: Draft) => Draft): void;
}

export interface SectionProps extends Drafting {
  readonly section: Section;
  readonly stored: OptionTexts;
  onHistory(name: OptionKey): void;
}

export interface FieldsProps extends SectionProps {
  readonly errors: ReadonlyMap<OptionKey, string>;
}

/** The fields of a section, or some of them. */
export function Fields(props: FieldsProps & { readonly only?: readonly OptionKey[] }) {
  const { section, stored, draft, onDraft, errors } = props;
  return (props.only ?? section.keys).map((key) => (
    <OptionField
      key={key}
      name={key}
      value={draft[key] ?? stored[key] ?? ""}
      error={errors.get(key)}
      isEmptied={draft[key] === ""}
      onHistory={() => props.onHistory(key)}
      onChange={(text) => onDraft((current) => collectChanges(typed(current, key, text), stored))}
      onEmpty={(isEmptied) => onDraft((current) => (isEmptied ? { ...current, [key]: "" } : typed(current, key, "")))}
    />
  ));
}
