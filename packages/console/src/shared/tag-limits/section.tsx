import { Text } from "@chakra-ui/react";
import { FormSection } from "../../ui/form/form-drawer.tsx";
import { RowsField, useFieldRows } from "../../ui/form/rows/rows-field.tsx";
import { findTagLimitFaults, hasWrongTagLimits, printTagLimitRows, toTagLimitRows } from "./rows.ts";
import { useTexts } from "./texts.ts";

export interface TagLimitsSectionProps {
  /** JSON: the limits; "" = none. */
  readonly value: string;
  readonly isDisabled?: boolean;
  onChange(text: string): void;
}

/** Limits of calls by values of tags and end users, a row each. */
export function TagLimitsSection({ value, isDisabled = false, onChange }: TagLimitsSectionProps) {
  const t = useTexts();
  const { rows = [], change } = useFieldRows({
    text: value,
    parse: toTagLimitRows,
    print: printTagLimitRows,
    onChange,
  });
  return (
    <FormSection title={t("section")}>
      <Text textStyle="xs" color="fg.muted">
        {t("help")}
      </Text>
      <fieldset disabled={isDisabled}>
        <RowsField
          label={t("section")}
          columns={[
            { id: "key", label: t("key"), placeholder: "end_user" },
            { id: "value", label: t("value"), placeholder: "*" },
            { id: "rpm", label: t("rpm"), kind: "number" },
            { id: "tpm", label: t("tpm"), kind: "number" },
            { id: "concurrency", label: t("concurrency"), kind: "number" },
            { id: "blocked", label: t("blocked"), kind: "flag" },
          ]}
          rows={rows}
          onChange={change}
          addLabel={t("add")}
          findFaults={findTagLimitFaults}
        />
      </fieldset>
      {hasWrongTagLimits(value) && (
        <Text role="alert" textStyle="xs" color="fg.error">
          {t("fault")}
        </Text>
      )}
    </FormSection>
  );
}
