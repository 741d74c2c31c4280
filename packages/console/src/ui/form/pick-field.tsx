import type { ReactNode } from "react";
import { FieldFrame } from "./field.tsx";
import { PickInput, type PickInputProps } from "./pick-input.tsx";

interface PickFieldProps extends PickInputProps {
  readonly label: string;
  readonly help?: ReactNode;
  readonly error?: string | undefined;
  readonly isRequired?: boolean;
}

/** A field of a form that finds an entity by its name. */
export function PickField({ label, help, error, isRequired, ...input }: PickFieldProps) {
  return (
    <FieldFrame label={label} help={help} error={error} {...(isRequired && { isRequired })}>
      <PickInput {...input} />
    </FieldFrame>
  );
}
