import { Box, Button, Flex, Text } from "@chakra-ui/react";
import { useId, type FormEvent, type ReactNode } from "react";
import { formatCount } from "../../lib/format.ts";
import { useLanguage } from "../../lib/i18n.ts";
import { Modal } from "../feedback/modal.tsx";
import { useTexts as useUiTexts } from "../texts.ts";
import type { Chosen } from "./bulk.ts";
import "./change-dialog.css";
import { useTexts } from "./texts.ts";

const MAX_SHOWN = 50;

/** One member of a row: its label, and its text before and after. */
export interface ShownChange {
  readonly label: string;
  readonly before: ReactNode;
  readonly after: ReactNode;
}

interface ChangeDialogProps<Change> {
  readonly title: string;
  /** The text of the button, instead of the number of rows that change. */
  readonly submitLabel?: string;
  readonly plan: readonly Change[];
  toChosenRow(change: Change): Chosen;
  listShownChanges(change: Change): readonly ShownChange[];
  /** Returns how many rows change; not called if none does. */
  summary(count: string): string;
  readonly isGood: boolean;
  /** Called if the form is valid and changes something, or to show its errors. */
  onSubmit(): void;
  onClose(): void;
  /** The fields. */
  readonly children?: ReactNode;
}

/** Changes many rows at once, after a preview of each one's changes. */
export function ChangeDialog<Change>(props: ChangeDialogProps<Change>) {
  const { title, plan, isGood, onSubmit, onClose, children } = props;
  const t = useTexts();
  const ui = useUiTexts();
  const id = useId();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onSubmit();
  };
  return (
    <Modal
      title={title}
      size="lg"
      scrollBehavior="inside"
      onClose={onClose}
      footer={
        <>
          <Button variant="outline" onClick={onClose}>
            {ui("cancel")}
          </Button>
          <Button type="submit" form={id} disabled={isGood && plan.length === 0}>
            {props.submitLabel ?? t("changeNow", { count: plan.length })}
          </Button>
        </>
      }
    >
      <form id={id} noValidate onSubmit={submit}>
        {children}
      </form>
      <Preview {...props} hasForm={children !== undefined} />
    </Modal>
  );
}

function Preview<Change>(props: ChangeDialogProps<Change> & { readonly hasForm: boolean }) {
  const t = useTexts();
  const language = useLanguage();
  const { plan, toChosenRow, listShownChanges, summary, hasForm } = props;
  const rest = plan.length - MAX_SHOWN;
  return (
    <Box mt={hasForm ? "5" : "0"} role="region" aria-label={t("preview")}>
      <Text fontWeight="medium" mb="2" role="status">
        {plan.length === 0 ? t("previewNone") : summary(formatCount(plan.length, language))}
      </Text>
      {plan.length > 0 && (
        <Box as="ul" className="bulk-preview" tabIndex={0} aria-label={t("preview")}>
          {plan.slice(0, MAX_SHOWN).map((change) => (
            <PreviewLine
              key={toChosenRow(change).id}
              name={toChosenRow(change).name}
              members={listShownChanges(change)}
            />
          ))}
          {rest > 0 && <li className="soft">{t("previewMore", { count: formatCount(rest, language) })}</li>}
        </Box>
      )}
    </Box>
  );
}

function PreviewLine({ name, members }: { readonly name: string; readonly members: readonly ShownChange[] }) {
  return (
    <li>
      <bdi className="strong">{name}</bdi>
      <Flex gap="1" columnGap="4" wrap="wrap">
        {members.map(({ label, before, after }) => (
          <span key={label}>
            <span className="soft">{label}</span> <s>{before}</s> → <span className="strong">{after}</span>
          </span>
        ))}
      </Flex>
    </li>
  );
}
